//! Runs work on a stack of its own, so large that recursion over a stranger's input cannot leave it.
//!
//! The template interpreter walks syntax trees and values recursively. How deep they can get is bounded by the length
//! of the source and by the fuel; the caller turns that into bytes of stack. Only touched pages cost memory.

use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::Duration;

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

/// As `run`, and gives up waiting after `limit`: some operations of the interpreter take time that its fuel does not
/// see. The thread is then left behind, for a process that is told of the failure and should soon end.
pub fn run_for<T: Send + 'static>(
    limit: Duration,
    stack_bytes: usize,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let (sender, receiver) = channel();
    std::thread::Builder::new()
        .stack_size(stack_bytes.saturating_add(STACK_BYTES_BASE))
        .spawn(move || {
            // Nobody listens any more where the limit has passed.
            let _ = sender.send(work());
        })
        .map_err(no_thread)?;
    match receiver.recv_timeout(limit) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => {
            fail(Code::TooLarge, format!("chat template: it did not end in {} seconds", limit.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => fail(Code::Internal, "the template interpreter failed"),
    }
}

fn no_thread(error: std::io::Error) -> Failure {
    Failure { code: Code::Capacity, message: format!("no thread for the chat template: {error}") }
}
