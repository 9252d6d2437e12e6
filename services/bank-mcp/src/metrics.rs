//! What this process counted. No customer, conversation or value is a label.

use std::time::Duration;

use countersign_serve::numbers::{Counts, Seconds};

use crate::call::{ANSWERED, Away, WITHHELD};

/// Calls by how they ended.
pub const CALLS: &str = "countersign_bank_mcp_calls_total";
/// Messages that reached no tool.
pub const TURNED_AWAY: &str = "countersign_bank_mcp_turned_away_total";
/// Time of calls, summed.
pub const CALL_SECONDS: &str = "countersign_bank_mcp_call_seconds";

/// The counters of one process.
#[derive(Debug)]
pub struct Metrics {
    calls: Counts,
    turned_away: Counts,
    took: Seconds,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            calls: Counts::of(&[
                ANSWERED,
                "refused",
                WITHHELD,
                Away::TurnEnded.text(),
                Away::UsedBefore.text(),
            ]),
            turned_away: Counts::of(&["unauthorized", "malformed", "unavailable"]),
            took: Seconds::default(),
        }
    }
}

impl Metrics {
    /// Counts a call with how it ended.
    pub fn called(&self, outcome: &'static str, took: Duration) {
        self.calls.add(outcome, 1);
        self.took.add(took);
    }

    /// Counts a message that reached no tool.
    pub fn turned_away(&self, reason: &'static str) {
        self.turned_away.add(reason, 1);
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let help = "Calls of tools, by how they ended";
        let calls = self.calls.write(&mut text, CALLS, help, "outcome");
        let help = "Messages that reached no tool, by why";
        self.turned_away
            .write(&mut text, TURNED_AWAY, help, "reason");
        let help = "From a call's begin to its end";
        self.took.write(&mut text, CALL_SECONDS, help, calls);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_and_the_documentation_has_every_name() {
        let metrics = Metrics::default();
        metrics.called("answered", Duration::from_millis(1500));
        metrics.turned_away("unauthorized");
        let text = metrics.text();
        for line in [
            "countersign_bank_mcp_calls_total{outcome=\"answered\"} 1",
            "countersign_bank_mcp_calls_total{outcome=\"turn_ended\"} 0",
            "countersign_bank_mcp_turned_away_total{reason=\"unauthorized\"} 1",
            "countersign_bank_mcp_call_seconds_sum 1.5",
            "countersign_bank_mcp_call_seconds_count 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let documented = include_str!("../../../docs/METRICS.md");
        for name in [CALLS, TURNED_AWAY, CALL_SECONDS] {
            assert!(documented.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
