//! Runs work on a stack of its own, so large that recursion over a stranger's input cannot leave it.
//!
//! The template interpreter walks syntax trees and values recursively. How deep they can get is bounded by the length
//! of the source and by the fuel; the caller turns that into bytes of stack. Only touched pages cost memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::allocation_budget::{self, Budget};
use crate::failure::{fail, Code, Failure, Outcome};

const STACK_BYTES_BASE: usize = 4 << 20;

pub fn run<T: Send>(stack_bytes: usize, work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(stack_bytes.saturating_add(STACK_BYTES_BASE))
            .spawn_scoped(scope, work)
            .map_err(no_thread)?;
        thread.join().unwrap_or_else(|_| fail(Code::Internal, "the template interpreter failed"))
    })
}

pub struct Bounds {
    pub stack_bytes: usize,
    pub budget: Budget,
    pub limit: Duration,
}

/// Why `run_for` does not wait any longer.
pub enum GaveUp {
    OutOfTime,
    OutOfBudget,
}

// How often the waiting thread looks whether the other one has stopped over its budget. A result wakes it at once.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// As `run`, within bounds that the interpreter's fuel does not see. Where it gives up, the thread is left behind: it
/// sleeps (budget) or works on without getting more memory than its budget has (time).
pub fn run_for<T: Send + 'static>(
    bounds: &Bounds,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Result<Outcome<T>, GaveUp> {
    let stopped = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let (budget, stopped_there) = (bounds.budget, stopped.clone());
    let spawned = std::thread::Builder::new().stack_size(bounds.stack_bytes.saturating_add(STACK_BYTES_BASE)).spawn(
        move || {
            let outcome = allocation_budget::run_within(budget, stopped_there, work);
            // Nobody listens any more where the limit has passed.
            let _ = sender.send(outcome);
        },
    );
    let thread = match spawned {
        Ok(thread) => thread,
        Err(error) => return Ok(Err(no_thread(error))),
    };
    let started = Instant::now();
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(outcome) => {
                // It only has to end. Without waiting for that, threads of a busy caller would pile up at their exits.
                let _ = thread.join();
                return Ok(outcome);
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(fail(Code::Internal, "the template interpreter failed")),
            Err(RecvTimeoutError::Timeout) if stopped.load(Ordering::Acquire) => return Err(GaveUp::OutOfBudget),
            Err(RecvTimeoutError::Timeout) if started.elapsed() >= bounds.limit => return Err(GaveUp::OutOfTime),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn no_thread(error: std::io::Error) -> Failure {
    Failure { code: Code::Capacity, message: format!("no thread for the chat template: {error}") }
}
