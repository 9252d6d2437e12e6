//! One run of the official conformance suite, and the checks it made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::peers::Peers;

/// The requirement sets that are run.
pub const REQUIREMENTS: [&str; 2] = ["2026-07-28", "2025-11-25"];

/// Members of a check that differ between two runs of the same program, and headers that belong to one
/// connection (RFC 9110 section 7.6.1).
const VOLATILE: [&str; 6] = [
    "timestamp",
    "date",
    "transfer-encoding",
    "content-length",
    "connection",
    "keep-alive",
];

/// Digits of a clock in milliseconds, and of nothing else in a check.
const CLOCK_DIGITS_MIN: usize = 13;

/// Everything one run checked: each check as text, with how often it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks(BTreeMap<Check, usize>);

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Check {
    /// The scenario it belongs to.
    pub scenario: String,
    /// Its name in the suite.
    pub id: String,
    /// `SUCCESS`, `FAILURE`, `WARNING`, `SKIPPED` or `INFO`.
    pub status: String,
    /// The whole check, without what differs from run to run.
    pub whole: String,
}

impl Checks {
    /// Runs a requirement set against a server, with a session token in every request where there is one.
    ///
    /// # Errors
    /// When the suite does not run or leaves no checks.
    pub fn run(
        peers: &Peers,
        requirements: &str,
        address: &str,
        session: Option<&str>,
    ) -> anyhow::Result<Self> {
        let folder = peers.folder().join("results");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let mut suite = Command::new(peers.node());
        if let Some(session) = session {
            suite
                .arg("--import")
                .arg(peers.folder().join("session.mjs"));
            suite.env("COUNTERSIGN_SESSION", session);
            suite.env("COUNTERSIGN_ADDRESS", address);
        }
        suite
            .arg(peers.file("@modelcontextprotocol/conformance/dist/index.js"))
            .args(["server", "--url", &format!("http://{address}/mcp")])
            .args(["--requirements", requirements, "-o"])
            .arg(&folder);
        let output = suite.output().context("start the conformance suite")?;
        // It ends with an error when a check fails; what failed stands in the files.
        let checks = Self::read(&folder, address).with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            format!("read what the conformance suite left: {said}")
        })?;
        ensure!(
            !checks.0.is_empty(),
            "the conformance suite checked nothing"
        );
        Ok(checks)
    }

    fn read(folder: &Path, address: &str) -> anyhow::Result<Self> {
        let mut checks = Self::default();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let scenario = scenario(&name).with_context(|| format!("{name} names no scenario"))?;
            let text = fs::read_to_string(path.join("checks.json"))?;
            // The port is another in every run.
            let port = address.rsplit(':').next().unwrap_or_default();
            let text = text
                .replace(address, "SERVER")
                .replace(&format!(":{port}"), ":PORT");
            let list: Vec<Value> = serde_json::from_str(&text)?;
            for mut check in list {
                settle(&mut check);
                let text_of = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
                let check = Check {
                    scenario: scenario.to_owned(),
                    id: text_of("id"),
                    status: text_of("status"),
                    whole: check.to_string(),
                };
                *checks.0.entry(check).or_default() += 1;
            }
        }
        Ok(checks)
    }

    /// What was checked and what came of it, without how it was said: what two servers with other transports
    /// have in common. Remarks are no verdicts.
    #[must_use]
    pub fn verdicts(&self) -> Self {
        let mut verdicts = BTreeMap::new();
        for (check, count) in self.0.iter().filter(|(check, _)| check.status != "INFO") {
            let whole: Value = serde_json::from_str(&check.whole).unwrap_or_default();
            let description = whole["description"].as_str().unwrap_or_default();
            let verdict = Check {
                whole: format!("{} {}: {description}", check.id, check.status),
                ..check.clone()
            };
            *verdicts.entry(verdict).or_default() += count;
        }
        Self(verdicts)
    }

    /// The checks that are not in the other run, or not as often; each as often as it is missing there.
    pub fn beyond<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Check> {
        self.0.iter().flat_map(|(check, count)| {
            let there = other.0.get(check).copied().unwrap_or_default();
            std::iter::repeat_n(check, count.saturating_sub(there))
        })
    }

    /// The checks that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.0.keys().filter(|check| check.status == "FAILURE")
    }

    /// How many checks passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        let passed = self.0.iter().filter(|(check, _)| check.status == "SUCCESS");
        passed.map(|(_, count)| count).sum()
    }

    /// How many checks were made.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().sum()
    }
}

/// What only the door's own answers hold: its problems, its refusals with a receipt, its sentence.
const OWN_ANSWERS: [&str; 5] = [
    "urn:countersign:problem:",
    "\"receipt\":\"",
    "The door's policy refuses this call",
    "got -32001",
    "\"observedCode\":-32001",
];

impl Check {
    /// Whether the two checks come to the same, and differ only in that the door answered one of them itself.
    #[must_use]
    pub fn is_the_doors_own(&self, direct: &Self) -> bool {
        let verdict = |check: &Self| {
            (
                check.scenario.clone(),
                check.id.clone(),
                check.status.clone(),
            )
        };
        let own = OWN_ANSWERS.iter().any(|mark| self.whole.contains(mark));
        own && verdict(self) == verdict(direct)
    }
}

/// The scenario in a folder's name: `server-NAME-2026-11-30T07-53-01-233Z`.
fn scenario(folder: &str) -> Option<&str> {
    let rest = folder.strip_prefix("server-")?;
    let (name, time) = rest.split_at_checked(rest.len().checked_sub(25)?)?;
    time.ends_with('Z').then_some(name)
}

/// Takes out what differs between two runs of the same program.
fn settle(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in VOLATILE {
                members.remove(name);
            }
            // A server-sent event's id says which stream came first.
            if members.contains_key("data") && members.contains_key("id") {
                members.remove("id");
            }
            for (name, member) in members.iter_mut() {
                if name
                    .to_ascii_lowercase()
                    .replace('-', "")
                    .contains("sessionid")
                {
                    *member = Value::from("SESSION");
                }
                settle(member);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(settle),
        // The suite takes the time for an id.
        Value::Number(number) if number.to_string().len() >= CLOCK_DIGITS_MIN => {
            *value = Value::from("CLOCK");
        }
        Value::String(text) => *text = without_clocks(text),
        _ => {}
    }
}

/// A text without numbers that can only be the time.
fn without_clocks(text: &str) -> String {
    let mut settled = String::with_capacity(text.len());
    let mut digits = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        if digits.len() >= CLOCK_DIGITS_MIN {
            settled.push_str("CLOCK");
        } else {
            settled.push_str(&digits);
        }
        digits.clear();
        settled.push(character);
    }
    settled.pop();
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_is_missing_or_comes_once_less_is_a_difference() {
        let check = |id: &str| Check {
            scenario: "s".into(),
            id: id.into(),
            status: "SUCCESS".into(),
            whole: "{}".into(),
        };
        let direct = Checks([(check("a"), 2), (check("b"), 1)].into());
        let door = Checks([(check("a"), 1)].into());
        let beyond: Vec<_> = direct
            .beyond(&door)
            .map(|check| check.id.as_str())
            .collect();
        assert_eq!(beyond, ["a", "b"], "one of the two, and the other one");
        assert_eq!(door.beyond(&direct).count(), 0);
    }

    #[test]
    fn clocks_are_taken_out() {
        assert_eq!(without_clocks("id 1796025518909, 12"), "id CLOCK, 12");
        assert_eq!(without_clocks("1796025518909"), "CLOCK");
    }

    #[test]
    fn the_scenario_is_in_the_folders_name() {
        assert_eq!(
            scenario("server-tools-list-2026-11-30T07-53-01-233Z"),
            Some("tools-list")
        );
        assert_eq!(scenario("server-x"), None);
    }
}
