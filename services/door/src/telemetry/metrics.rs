//! The numbers, under stable names, in OpenMetrics text.

use std::sync::Weak;
use std::sync::atomic::AtomicU64;

use countersign_identity::TokenError;
use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Decision;
use crate::door::Door;

/// Upper bounds of the time that a decision takes, in seconds: from microseconds to a slow disk.
const DECISION_SECONDS: [f64; 12] = [
    0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.025, 0.1,
    1.0,
];
/// Upper bounds of the time that a forwarded call takes, in seconds.
const CALL_SECONDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0,
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Decided {
    outcome: &'static str,
    reason: String,
    server: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct AtServer {
    server: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Ended {
    outcome: &'static str,
    server: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Hit {
    server: String,
    text: &'static str,
    action: &'static str,
    rule: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PolicyLabels {
    id: String,
    sha256: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TokenRefused {
    reason: &'static str,
}

/// Tokens that were refused.
#[derive(Clone, Debug, Default)]
pub struct Tokens(Family<TokenRefused, Counter>);

impl Tokens {
    /// Counts one.
    pub fn refused(&self, error: &TokenError) {
        let reason = match error {
            TokenError::Missing => "missing",
            TokenError::MoreThanOne => "more_than_one",
            TokenError::Algorithm | TokenError::Type | TokenError::Header => "other_kind",
            TokenError::Key => "unknown_key",
            TokenError::Signature => "signature",
            TokenError::Audience => "audience",
            TokenError::Time | TokenError::Lifetime => "time",
            _ => "form",
        };
        self.0.get_or_create(&TokenRefused { reason }).inc();
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

/// What is counted.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    decisions: Family<Decided, Counter>,
    decision_seconds: Histogram,
    calls_in_flight: Family<AtServer, Gauge>,
    call_seconds: Family<Ended, Histogram, fn() -> Histogram>,
    server_up: Family<AtServer, Gauge>,
    holds_open: Gauge,
    screening_hits: Family<Hit, Counter>,
    policy: Family<PolicyLabels, Gauge>,
    /// Lines of the record that could not be written.
    pub record_failures: Counter,
    /// Spans that nobody got.
    pub spans_dropped: Counter<u64, AtomicU64>,
}

impl Metrics {
    /// Everything at nothing.
    pub fn new() -> Self {
        let call_seconds: fn() -> Histogram = || Histogram::new(CALL_SECONDS);
        let mut metrics = Self {
            registry: Registry::with_prefix("countersign_door"),
            decisions: Family::default(),
            decision_seconds: Histogram::new(DECISION_SECONDS),
            calls_in_flight: Family::default(),
            call_seconds: Family::new_with_constructor(call_seconds),
            server_up: Family::default(),
            holds_open: Gauge::default(),
            screening_hits: Family::default(),
            policy: Family::default(),
            record_failures: Counter::default(),
            spans_dropped: Counter::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "decisions",
            "Decisions that stand in the record, by outcome (allowed, denied, held), published reason and server",
            self.decisions.clone(),
        );
        registry.register(
            "decision_seconds",
            "From a message taken in to its line handed to the record",
            self.decision_seconds.clone(),
        );
        registry.register(
            "calls_in_flight",
            "Forwarded messages whose answer is not there yet, by server",
            self.calls_in_flight.clone(),
        );
        registry.register(
            "call_seconds",
            "From the decision to the end of the answer, by outcome (answered, cancelled, failed) and server",
            self.call_seconds.clone(),
        );
        registry.register(
            "server_up",
            "1 when the last call that ended was answered, 0 when it failed, by server",
            self.server_up.clone(),
        );
        registry.register(
            "holds_open",
            "Calls that wait for a person now",
            self.holds_open.clone(),
        );
        registry.register(
            "screening_hits",
            "What screening found, by server, text (result, definitions, message, arguments), action (redacted, flagged) and rule",
            self.screening_hits.clone(),
        );
        registry.register(
            "record_failures",
            "Lines of the record that could not be written or settled; their calls were refused",
            self.record_failures.clone(),
        );
        registry.register(
            "tokens_refused",
            "Messages turned away because their token is none; there is nobody to record, so they stand in no record",
            super::TOKENS.0.clone(),
        );
        registry.register(
            "spans_dropped",
            "Spans that could not be sent to the collector",
            self.spans_dropped.clone(),
        );
        registry.register(
            "policy_info",
            "The policy that decides now: always 1",
            self.policy.clone(),
        );
        let build = Family::<Build, Gauge>::default();
        let version = env!("CARGO_PKG_VERSION");
        build.get_or_create(&Build { version }).set(1);
        registry.register("build_info", "The door's version: always 1", build);
    }

    /// Counts a decision.
    pub fn decided(&self, decision: &Decision<'_>) {
        let labels = Decided {
            outcome: decision.outcome,
            reason: decision.reason.to_owned(),
            server: decision.server.to_owned(),
        };
        self.decisions.get_or_create(&labels).inc();
        if let Some(since) = decision.since {
            self.decision_seconds.observe(since.elapsed().as_secs_f64());
        }
    }

    /// Counts a call that is in flight from now on.
    pub fn begun(&self, server: &str) {
        self.calls_in_flight.get_or_create(&at(server)).inc();
    }

    /// Counts a call that is in flight no more.
    pub fn ended(&self, server: &str) {
        self.calls_in_flight.get_or_create(&at(server)).dec();
    }

    /// Notes how long a call took that ended this way.
    pub fn took(&self, server: &str, outcome: &'static str, seconds: f64) {
        let labels = Ended {
            outcome,
            server: server.to_owned(),
        };
        self.call_seconds.get_or_create(&labels).observe(seconds);
        match outcome {
            "answered" => self.server_up.get_or_create(&at(server)).set(1),
            "failed" => self.server_up.get_or_create(&at(server)).set(0),
            // Whoever waited went away: that says nothing of the server.
            _ => 0,
        };
    }

    /// Counts what a rule of screening found.
    pub fn screened(
        &self,
        (server, text, action, rule): (&str, &'static str, &'static str, &str),
        hits: u32,
    ) {
        let labels = Hit {
            server: server.to_owned(),
            text,
            action,
            rule: rule.to_owned(),
        };
        self.screening_hits
            .get_or_create(&labels)
            .inc_by(hits.into());
    }

    /// All of it as text.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn text(&self, door: &Weak<Door>) -> Result<String, std::fmt::Error> {
        if let Some(door) = door.upgrade() {
            let rules = door.rules();
            let labels = PolicyLabels {
                id: rules.mark.id().to_owned(),
                sha256: rules.mark.sha256().to_owned(),
            };
            self.policy.clear();
            self.policy.get_or_create(&labels).set(1);
            let held = door.holds().map_or(0, |holds| holds.held_in_all());
            self.holds_open.set(i64::try_from(held).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn at(server: &str) -> AtServer {
    AtServer {
        server: server.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_every_name_and_no_other() {
        let metrics = Metrics::new();
        metrics.decided(&Decision {
            outcome: "allowed",
            reason: "allowed",
            server: "toy",
            since: None,
        });
        crate::telemetry::token_refused(&TokenError::Missing);
        metrics.begun("toy");
        metrics.took("toy", "answered", 0.1);
        metrics.screened(("toy", "result", "redacted", "iban"), 1);
        let labels = PolicyLabels {
            id: "p".into(),
            sha256: "0".into(),
        };
        metrics.policy.get_or_create(&labels).set(1);
        let text = metrics.text(&Weak::new()).unwrap();
        let told: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .collect();
        assert!(told.len() >= 12, "{text}");
        let document = include_str!("../../../../docs/METRICS.md");
        let documented: Vec<&str> = document
            .lines()
            .filter_map(|line| line.strip_prefix("| `countersign_door_"))
            .map(|rest| rest.split('`').next().unwrap_or_default())
            .collect();
        let mut names = Vec::new();
        for line in told {
            let (name, kind) = line.split_once(' ').unwrap();
            // OpenMetrics names a counter's family without the ending its samples have.
            let ending = if kind == "counter" { "_total" } else { "" };
            let name = name.strip_prefix("countersign_door_").unwrap();
            names.push(format!("{name}{ending}"));
            assert!(
                document.contains(&format!("| `countersign_door_{name}{ending}` | {kind} |")),
                "docs/METRICS.md says of {name}{ending} that it is a {kind}"
            );
        }
        assert_eq!(names, documented);
    }
}
