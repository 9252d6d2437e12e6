//! A log as a text file: one canonical payload a line, each naming the leaf before it.
//!
//! A line is exactly the payload that is hashed into the leaf. Its member `previous` is the leaf
//! hash of the line before, its member `sequence` counts from zero, so that a line taken out,
//! changed or moved shows at the next one even before any head is looked at.

use serde::Serialize;

use crate::payload::check_canonical;
use crate::{Frontier, Hash, MemoryTree, PayloadError, canonical, leaf_hash};

/// Longest line, in bytes.
pub const LOG_LINE_BYTES_MAX: usize = 64 << 10;

/// What every line holds besides its event: its place and the leaf before it.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry<E: Serialize> {
    /// The event's own members.
    #[serde(flatten)]
    pub event: E,
    /// The leaf hash of the line before; absent in the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Hash>,
    /// The line's place, from zero.
    pub sequence: u64,
}

impl<E: Serialize> LogEntry<E> {
    /// The line without its end, which is also the leaf's payload.
    ///
    /// # Errors
    /// [`PayloadError`] when the event has no canonical form.
    pub fn line(&self) -> Result<Vec<u8>, PayloadError> {
        canonical(self)
    }
}

/// Where a log file stops being one.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ChainError {
    /// Counted from one.
    pub line: u64,
    /// What is wrong there.
    pub problem: &'static str,
}

/// Reads a log line by line and checks that each follows from the one before.
///
/// It keeps the log's right edge only, so that a log of any length costs it the same.
#[derive(Clone, Debug, Default)]
pub struct Follower {
    frontier: Frontier,
}

impl Follower {
    /// Before a log's first line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Behind the last line of a frontier, which somebody must have signed for.
    #[must_use]
    pub const fn from_frontier(frontier: Frontier) -> Self {
        Self { frontier }
    }

    /// Takes the next line, without its end, and returns its leaf hash.
    ///
    /// # Errors
    /// [`ChainError`] when the line is not canonical or does not follow from the one before.
    pub fn push(&mut self, line: &[u8]) -> Result<(Hash, serde_json::Value), ChainError> {
        let number = self.frontier.size() + 1;
        let refuse = |problem| ChainError {
            line: number,
            problem,
        };
        if line.len() > LOG_LINE_BYTES_MAX {
            return Err(refuse("the line is too long"));
        }
        let payload = check_canonical(line).map_err(|error| {
            refuse(match error {
                PayloadError::NotCanonical => "the line is not canonical JSON",
                _ => "the line is not a JSON object",
            })
        })?;
        let previous = payload.get("previous").and_then(serde_json::Value::as_str);
        let expected = self.frontier.last().map(|hash| hash.to_string());
        if previous != expected.as_deref() {
            return Err(refuse("the line does not name the line before it"));
        }
        if payload.get("sequence").and_then(serde_json::Value::as_u64) != Some(number - 1) {
            return Err(refuse("the line's place is not its number"));
        }
        let leaf = leaf_hash(line);
        self.frontier.append(leaf);
        Ok((leaf, payload))
    }

    /// Where the log stands after the lines so far.
    #[must_use]
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// The same, when nothing is left to read.
    #[must_use]
    pub fn into_frontier(self) -> Frontier {
        self.frontier
    }
}

/// A log file read and checked line by line, with its whole tree kept for proofs.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    follower: Follower,
    tree: MemoryTree,
}

impl Chain {
    /// A log without lines.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line, without its end, and returns its leaf hash.
    ///
    /// # Errors
    /// [`ChainError`] when the line is not canonical or does not follow from the one before.
    pub fn push(&mut self, line: &[u8]) -> Result<(Hash, serde_json::Value), ChainError> {
        let (leaf, payload) = self.follower.push(line)?;
        self.tree.append_leaf(leaf);
        Ok((leaf, payload))
    }

    /// The tree over the lines so far.
    #[must_use]
    pub const fn tree(&self) -> &MemoryTree {
        &self.tree
    }

    /// The leaf hash of the last line.
    #[must_use]
    pub const fn last(&self) -> Option<Hash> {
        self.follower.frontier().last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Vec<Vec<u8>> {
        let mut previous = None;
        (0..count)
            .map(|sequence| {
                let entry = LogEntry {
                    event: serde_json::json!({"event": "allowed", "tool": format!("t{sequence}")}),
                    previous,
                    sequence,
                };
                let line = entry.line().unwrap();
                previous = Some(leaf_hash(&line));
                line
            })
            .collect()
    }

    fn broken_at(lines: &[Vec<u8>]) -> Option<u64> {
        let mut chain = Chain::new();
        lines
            .iter()
            .find_map(|line| chain.push(line).err())
            .map(|error| error.line)
    }

    #[test]
    fn an_untouched_log_holds() {
        assert_eq!(broken_at(&lines(9)), None);
    }

    #[test]
    fn a_line_taken_out_changed_or_moved_shows() {
        let whole = lines(9);
        let mut taken = whole.clone();
        taken.remove(4);
        assert_eq!(broken_at(&taken), Some(5));
        let mut first_taken = whole.clone();
        first_taken.remove(0);
        assert_eq!(broken_at(&first_taken), Some(1));
        let mut changed = whole.clone();
        let text = String::from_utf8(changed[4].clone()).unwrap();
        changed[4] = text.replace("t4", "t5").into_bytes();
        assert_eq!(broken_at(&changed), Some(6));
        let mut moved = whole.clone();
        moved.swap(2, 3);
        assert_eq!(broken_at(&moved), Some(3));
        let mut spaced = whole;
        spaced[8].push(b' ');
        assert_eq!(broken_at(&spaced), Some(9));
    }

    #[test]
    fn a_line_that_miscounts_or_is_too_long_is_refused() {
        let entry = |event: serde_json::Value, sequence| LogEntry {
            event,
            previous: None,
            sequence,
        };
        let miscounted = entry(serde_json::json!({}), 1).line().unwrap();
        assert_eq!(broken_at(&[miscounted]), Some(1));
        let long = serde_json::json!({"x": "x".repeat(LOG_LINE_BYTES_MAX)});
        assert_eq!(broken_at(&[entry(long, 0).line().unwrap()]), Some(1));
    }
}
