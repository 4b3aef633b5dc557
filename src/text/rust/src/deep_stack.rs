//! Runs work on a stack of its own, so large that recursion over a stranger's input cannot leave it.
//!
//! The template interpreter walks syntax trees and values recursively. How deep they can get is bounded by the length
//! of the source and by the fuel; the caller turns that into bytes of stack. Only touched pages cost memory.

use crate::failure::{fail, Code, Failure, Outcome};

const STACK_BYTES_BASE: usize = 4 << 20;

pub fn run<T: Send>(stack_bytes: usize, work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(stack_bytes.saturating_add(STACK_BYTES_BASE))
            .spawn_scoped(scope, work)
            .map_err(|e| Failure { code: Code::Capacity, message: format!("no thread for the chat template: {e}") })?;
        thread.join().unwrap_or_else(|_| fail(Code::Internal, "the template interpreter failed"))
    })
}
