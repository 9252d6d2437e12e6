//! What this process counted, as Prometheus reads it, on a loopback port of its own. Off unless asked for. No customer,
//! conversation or text is a label.

use std::time::Duration;

use countersign_serve::numbers::{Counts, Seconds};

/// Replies by their ending.
pub const REPLIES: &str = "countersign_intake_replies_total";
/// How often which kind of thing was noticed in replies.
pub const NOTICED: &str = "countersign_intake_noticed_total";
/// Time from a turn's begin to its reply's end, summed.
pub const REPLY_SECONDS: &str = "countersign_intake_reply_seconds";

/// Kinds that are shown from the start, so that an alert on a first one has a nothing to compare with.
const KINDS: [&str; 9] = [
    "canary_alarm",
    "secret_asked",
    "injection_flagged",
    "masked",
    "foreign_contact",
    "guardrail_hit",
    "claim_corrected",
    "agent_misreport",
    "scam_advice",
];
/// Endings of a reply.
const ENDINGS: [&str; 3] = ["complete", "stopped", "failed"];

/// The counters of one process.
#[derive(Debug)]
pub struct Metrics {
    noticed: Counts,
    endings: Counts,
    took: Seconds,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            noticed: Counts::of(&KINDS),
            endings: Counts::of(&ENDINGS),
            took: Seconds::default(),
        }
    }
}

impl Metrics {
    /// Counts a reply with its ending, its time, and what was noticed in it.
    pub fn replied(
        &self,
        ending: &'static str,
        took: Duration,
        noticed: impl IntoIterator<Item = (&'static str, u32)>,
    ) {
        self.endings.add(ending, 1);
        self.took.add(took);
        for (kind, number) in noticed {
            self.noticed.add(kind, number.into());
        }
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let endings = self
            .endings
            .write(&mut text, REPLIES, "Replies, by ending", "ending");
        let kind = "What was noticed in replies, by kind";
        self.noticed.write(&mut text, NOTICED, kind, "kind");
        let help = "From a turn's begin to its reply's end";
        self.took.write(&mut text, REPLY_SECONDS, help, endings);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALERTS: &str = include_str!("../../../docs/alerts.yaml");

    #[test]
    fn a_reply_is_counted_with_what_was_noticed() {
        let metrics = Metrics::default();
        metrics.replied(
            "complete",
            Duration::from_millis(1500),
            [("canary_alarm", 2)],
        );
        metrics.replied("failed", Duration::from_millis(500), []);
        let text = metrics.text();
        for line in [
            "countersign_intake_replies_total{ending=\"complete\"} 1",
            "countersign_intake_replies_total{ending=\"stopped\"} 0",
            "countersign_intake_noticed_total{kind=\"canary_alarm\"} 2",
            "countersign_intake_noticed_total{kind=\"secret_asked\"} 0",
            "countersign_intake_reply_seconds_sum 2",
            "countersign_intake_reply_seconds_count 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    /// Every name and every label's value of an alert is one that is printed: by this process, or by the door as its
    /// documentation has it.
    #[test]
    fn every_alert_asks_for_numbers_that_are_printed() {
        let printed = Metrics::default().text();
        let door = include_str!("../../../docs/METRICS.md");
        let mut expressions = 0;
        for line in ALERTS.lines() {
            let Some(expression) = line.trim().strip_prefix("expr: ") else {
                continue;
            };
            expressions += 1;
            let opened = expression.matches(['(', '{', '[']).count();
            assert_eq!(
                opened,
                expression.matches([')', '}', ']']).count(),
                "{expression}"
            );
            let names = expression
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .filter(|word| word.starts_with("countersign_"));
            let mut found = 0;
            for name in names {
                found += 1;
                let own = printed.lines().any(|line| {
                    line.strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with(['{', ' ']))
                });
                assert!(
                    own || door.contains(&format!("| `{name}` |")),
                    "nobody prints {name}"
                );
            }
            assert!(found > 0, "{expression}");
            for part in expression.split("kind=\"").skip(1) {
                let kind = part.split('"').next().unwrap_or_default();
                assert!(printed.contains(&format!("kind=\"{kind}\"")), "{kind}");
            }
        }
        assert!(expressions >= 8, "{expressions}");
    }

    /// The shape that Prometheus takes: groups of rules, each with a name, an expression, a severity and a summary.
    #[test]
    fn the_alerts_have_the_shape_of_a_rule_file() {
        let count = |what: &str| {
            ALERTS
                .lines()
                .filter(|line| line.trim_start().starts_with(what))
                .count()
        };
        assert!(ALERTS.contains("\ngroups:\n  - name: "));
        let alerts = count("- alert: ");
        assert!(alerts >= 8, "{alerts}");
        for member in ["expr: ", "severity: ", "summary: "] {
            assert_eq!(count(member), alerts, "{member}");
        }
        assert!(!ALERTS.contains('\t'));
    }
}
