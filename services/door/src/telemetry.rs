//! How the door does, for whoever runs it: numbers at `/metrics`, spans to a collector.
//!
//! Both are off unless asked for, and neither ever holds a value of a call: what is told is which
//! tool, which server, which line of the policy, and how long it took. Nothing here decides
//! anything, and a call never waits for it. What is told stands in `docs/METRICS.md`.

mod denials;
mod metrics;
mod open;
mod otlp;
mod send;
mod spans;
mod trace_context;

use std::sync::LazyLock;
use std::time::Instant;

use countersign_identity::TokenError;

use crate::screen::Counts;

pub use open::{TelemetryArgs, open, open_at};
pub use spans::{Span, plain_method};
pub use trace_context::Parent;

pub use denials::Denial;
use denials::Denials;
use metrics::{Metrics, Tokens};
use send::Queue;
use spans::Ended;

/// What a decision is told as.
pub struct Decision<'a> {
    /// `allowed`, `denied` or `held`.
    pub outcome: &'static str,
    /// The published reason.
    pub reason: &'a str,
    /// The server it is about.
    pub server: &'a str,
    /// When the message was taken in.
    pub since: Option<Instant>,
}

/// What tells how the door does. Nothing of it where it was not asked for.
#[derive(Debug, Default)]
pub struct Telemetry {
    metrics: Option<Metrics>,
    spans: Option<Queue>,
    denials: Denials,
}

/// Tokens that were refused before there was anybody to record. Counted for the whole process: where they are read, no
/// door is known.
static TOKENS: LazyLock<Tokens> = LazyLock::new(Tokens::default);

/// A message came with a token that is none, and is not on record.
pub fn token_refused(reason: &TokenError) {
    TOKENS.refused(reason);
}

impl Telemetry {
    /// Whether anything is told, so that times are worth taking.
    pub const fn is_on(&self) -> bool {
        self.metrics.is_some() || self.spans.is_some()
    }

    /// Whether spans are told.
    pub const fn tells_spans(&self) -> bool {
        self.spans.is_some()
    }

    /// A decision stands in the record.
    pub fn decided(&self, decision: &Decision<'_>) {
        if let Some(metrics) = &self.metrics {
            metrics.decided(decision);
        }
    }

    /// A message was denied or held, under this receipt.
    pub fn denied(&self, denial: Denial) {
        if self.metrics.is_some() {
            self.denials.put(denial);
        }
    }

    /// A line of the record could not be written.
    pub fn record_failed(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.record_failures.inc();
        }
    }

    /// A forwarded call begins.
    pub fn begun(&self, server: &str) {
        if let Some(metrics) = &self.metrics {
            metrics.begun(server);
        }
    }

    /// A call that had begun never went on.
    pub fn never_went_on(&self, server: &str) {
        if let Some(metrics) = &self.metrics {
            metrics.ended(server);
        }
    }

    /// A forwarded call ended in this way.
    pub fn ended(&self, server: &str, event: &'static str, since: Instant, span: Option<Span>) {
        if let Some(metrics) = &self.metrics {
            metrics.ended(server);
            metrics.took(server, event, since.elapsed().as_secs_f64());
        }
        self.tell(span, event);
    }

    /// A span ends now, in this way.
    pub fn tell(&self, span: Option<Span>, outcome: &'static str) {
        if let Some((queue, span)) = self.spans.as_ref().zip(span) {
            let is_taken = queue.put(Ended::now(span, outcome));
            if let Some(metrics) = self.metrics.as_ref().filter(|_| !is_taken) {
                metrics.spans_dropped.inc();
            }
        }
    }

    /// Screening found something in what a server said or was told.
    pub fn screened(&self, server: &str, what: &'static str, counts: &Counts) {
        let Some(metrics) = &self.metrics else { return };
        for (rule, hits) in &counts.redacted {
            metrics.screened((server, what, "redacted", rule), *hits);
        }
        for (rule, hits) in &counts.flagged {
            metrics.screened((server, what, "flagged", rule), *hits);
        }
    }

    /// Sends what still waits, for a moment at most.
    pub fn close(&self) {
        if let Some(queue) = &self.spans {
            queue.close();
        }
    }
}
