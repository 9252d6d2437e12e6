//! What may fail or differ, each with its reason, from a committed file.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;
use serde::Deserialize;

/// The committed file.
const FILE: &str = "fixtures/conformance/allowed.json";

/// What may fail or differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Checks of the bank's own server that may fail.
    pub bank: Vec<Line>,
    /// Checks that may be made differently through the door.
    pub door: Vec<Line>,
    /// The same where the door stands before the server's program, which it speaks to over pipes.
    pub door_before_a_program: Vec<Line>,
}

/// One reason, which a person reads, and what it is a reason for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Why.
    pub reason: String,
    /// Scenarios all of whose checks are meant, or `SCENARIO:CHECK` for one check.
    of: Vec<String>,
}

impl Allowed {
    /// Reads the committed file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read() -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(checkout::root().join(FILE)).context("read what may differ")?;
        let allowed: Self = serde_json::from_str(&text).with_context(|| format!("read {FILE}"))?;
        let lines = allowed.bank.iter().chain(&allowed.door);
        let lines = lines.chain(&allowed.door_before_a_program);
        ensure!(
            lines
                .clone()
                .all(|line| line.reason.len() > 20 && !line.of.is_empty()),
            "{FILE}: every line needs a reason that can be read, and something it is one for"
        );
        Ok(allowed)
    }
}

/// Holds found checks against what is allowed, and finds lines that allow nothing any more.
#[derive(Debug)]
pub struct Ledger<'a> {
    allowed: BTreeSet<&'a str>,
    used: BTreeSet<&'a str>,
}

impl<'a> Ledger<'a> {
    /// A ledger of these lines.
    #[must_use]
    pub fn new(lines: &'a [Line]) -> Self {
        Self {
            allowed: lines
                .iter()
                .flat_map(|line| &line.of)
                .map(String::as_str)
                .collect(),
            used: BTreeSet::new(),
        }
    }

    /// Takes in a check that failed or differed. Returns whether a line allows it.
    pub fn take(&mut self, scenario: &str, check: &str) -> bool {
        let name = format!("{scenario}:{check}");
        let lines = [name.as_str(), scenario];
        let line = lines.into_iter().find_map(|line| self.allowed.get(line));
        self.used.extend(line);
        line.is_some()
    }

    /// Lines that allowed nothing.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        self.allowed.difference(&self.used).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_allows_one_check_or_a_whole_scenario_and_must_be_needed() {
        let lines: Vec<Line> =
            serde_json::from_str(r#"[{"reason": "r", "of": ["a", "b:one", "c"]}]"#).unwrap();
        let mut ledger = Ledger::new(&lines);
        assert!(ledger.take("a", "anything"));
        assert!(ledger.take("b", "one"));
        assert!(!ledger.take("b", "two"));
        assert_eq!(ledger.unused().collect::<Vec<_>>(), ["c"]);
        assert!(serde_json::from_str::<Line>(r#"{"of": ["a"]}"#).is_err());
    }

    #[test]
    fn the_committed_file_reads() {
        Allowed::read().unwrap();
    }
}
