//! What came of an attempt.

use std::io;

use serde::Serialize;

/// One attempt, as it is reported.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// What was tried.
    pub attempt: String,
    /// Whether the system let it happen.
    pub won: bool,
    /// What was got, or the system's refusal.
    pub detail: String,
}

impl Outcome {
    /// The outcome of an attempt that the system answered.
    pub fn of(attempt: impl Into<String>, result: io::Result<impl ToString>) -> Self {
        let (won, detail) = match result {
            Ok(got) => (true, got.to_string()),
            Err(error) => (false, error.to_string()),
        };
        Self {
            attempt: attempt.into(),
            won,
            detail,
        }
    }
}
