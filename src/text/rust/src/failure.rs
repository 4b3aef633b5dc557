//! The codes of samebit_text.h and the one error type of this crate.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Code {
    Ok = 0,
    Malformed = 1,
    Unsupported = 2,
    TooLarge = 3,
    InvalidArgument = 4,
    Internal = 5,
    Capacity = 6,
}

#[derive(Debug, Clone)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

pub type Outcome<T> = Result<T, Failure>;

pub fn fail<T>(code: Code, message: impl Into<String>) -> Outcome<T> {
    Err(Failure { code, message: message.into() })
}

pub fn malformed(message: impl Into<String>) -> Failure {
    Failure { code: Code::Malformed, message: message.into() }
}

/// A piece as it may stand in a message: escaped, and cut so that a hostile file cannot flood a log.
pub fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        out.push_str("...");
    }
    out
}
