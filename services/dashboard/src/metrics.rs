//! What this process counted. No operator, customer or text is a label.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use countersign_serve::numbers::{Counts, Seconds};
use tokio::time::Instant;

/// Answers by the first digit of their status.
const ANSWERS: &str = "countersign_dashboard_answers_total";
/// Time of answers, summed.
const ANSWER_SECONDS: &str = "countersign_dashboard_answer_seconds";

/// The counters of one process.
#[derive(Debug)]
pub struct Metrics {
    answers: Counts,
    took: Seconds,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            answers: Counts::of(&["2xx", "3xx", "4xx", "5xx"]),
            took: Seconds::default(),
        }
    }
}

impl Metrics {
    fn answered(&self, status: u16, took: Duration) {
        let first = match status / 100 {
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        self.answers.add(first, 1);
        self.took.add(took);
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let help = "Answers, by the first digit of their status";
        let answers = self.answers.write(&mut text, ANSWERS, help, "status");
        let help = "From a request to its answer";
        self.took.write(&mut text, ANSWER_SECONDS, help, answers);
        text
    }
}

/// Counts what goes through.
pub async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let answer = next.run(request).await;
    metrics.answered(answer.status().as_u16(), began.elapsed());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_and_the_documentation_has_every_name() {
        let metrics = Metrics::default();
        metrics.answered(404, Duration::from_millis(500));
        let text = metrics.text();
        for line in [
            "countersign_dashboard_answers_total{status=\"4xx\"} 1",
            "countersign_dashboard_answers_total{status=\"5xx\"} 0",
            "countersign_dashboard_answer_seconds_sum 0.5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let documented = include_str!("../../../docs/METRICS.md");
        for name in [ANSWERS, ANSWER_SECONDS] {
            assert!(documented.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
