//! A bound on what one thread allocates: bytes that it holds, and how often it asks for some.
//!
//! The interpreter's fuel pays for a value after it was made, and for a comparison by the length of the outermost list.
//! A list that holds itself many times over (`[x, x]`, forty times) makes a text of any length, and compares for ever,
//! in one step. Both allocate: text grows, and a comparison makes an iterator for every list that it enters. So the
//! allocator of this crate counts for each thread. A thread over its budget cannot be made to fail there (an allocator
//! may not unwind, and null aborts the process): it raises a flag for whoever waits for it and sleeps for ever, with no
//! more memory than it was given. Threads without a budget, which is all but the template interpreter's, only count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    // Constant and without a destructor, so that no access to them allocates.
    static BYTES_LEFT: Cell<isize> = const { Cell::new(isize::MAX) };
    static TIMES_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static STOPPED: Cell<*const AtomicBool> = const { Cell::new(null()) };
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// What must hold: that of the system's allocator, to which every call goes unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        System.alloc(layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        System.alloc_zeroed(layout)
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks exist while the system copies from one to the other.
        take(size);
        let moved = System.realloc(block, layout, size);
        give(layout.size());
        moved
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        give(layout.size());
        System.dealloc(block, layout);
    }
}

// Sizes of layouts stay under isize::MAX.
fn take(bytes: usize) {
    let (bytes_left, times_left) = (BYTES_LEFT.get().saturating_sub(bytes as isize), TIMES_LEFT.get());
    if bytes_left < 0 || times_left == 0 {
        stop_here();
    }
    BYTES_LEFT.set(bytes_left);
    TIMES_LEFT.set(times_left - 1);
}

fn give(bytes: usize) {
    BYTES_LEFT.set(BYTES_LEFT.get().saturating_add(bytes as isize));
}

#[cold]
fn stop_here() -> ! {
    let stopped = STOPPED.get();
    if !stopped.is_null() {
        // Within `run_within`, whose flag lives as long as this stack.
        unsafe { (*stopped).store(true, Ordering::Release) };
    }
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

#[derive(Clone, Copy)]
pub struct Budget {
    pub bytes: usize, // more than the thread holds now
    pub times: u64,
}

/// Runs work within a budget. Over it the work never returns, and `stopped` is true. What the work returns may be freed
/// on any thread.
pub fn run_within<T>(budget: Budget, stopped: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    STOPPED.set(Arc::as_ptr(&stopped));
    BYTES_LEFT.set(isize::try_from(budget.bytes).unwrap_or(isize::MAX));
    TIMES_LEFT.set(budget.times);
    let result = work();
    BYTES_LEFT.set(isize::MAX);
    TIMES_LEFT.set(u64::MAX);
    STOPPED.set(null());
    result
}
