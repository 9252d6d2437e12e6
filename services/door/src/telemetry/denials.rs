//! The newest messages that were not let through, each with its receipt, for whoever looks at a number and wants to know
//! what is behind it. The record has all of them; this has the newest since the door began.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// How many are kept.
const KEPT_MAX: usize = 500;

/// One message that was denied or held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// Unix seconds.
    pub at: u64,
    /// `denied` or `held`.
    pub outcome: &'static str,
    /// The published reason.
    pub reason: String,
    /// The line of the policy.
    pub rule: String,
    /// The server it was for.
    pub server: String,
    /// The tool of a call, where it has a plain name.
    pub tool: Option<String>,
    /// The leaf of its line in the record, in hexadecimal.
    pub receipt: String,
}

/// The newest, the newest last.
#[derive(Debug, Default)]
pub struct Denials(Mutex<VecDeque<Denial>>);

impl Denials {
    /// Keeps one more; the oldest goes where there are too many.
    pub fn put(&self, denial: Denial) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(denial);
    }

    /// All that are kept, the newest first.
    pub fn newest_first(&self) -> Vec<Denial> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stand_first_and_the_oldest_go() {
        let denials = Denials::default();
        for at in 0..KEPT_MAX as u64 + 2 {
            denials.put(Denial {
                at,
                outcome: "denied",
                reason: "argument".into(),
                rule: "allow[0]".into(),
                server: "bank".into(),
                tool: None,
                receipt: "0a".into(),
            });
        }
        let kept = denials.newest_first();
        assert_eq!(kept.len(), KEPT_MAX);
        assert_eq!(
            (kept[0].at, kept[KEPT_MAX - 1].at),
            (KEPT_MAX as u64 + 1, 2)
        );
    }
}
