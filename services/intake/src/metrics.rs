//! What this process counted, as Prometheus reads it, on a loopback port of its own. Off unless asked for. No customer,
//! conversation or text is a label.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

/// Replies by their ending.
pub const REPLIES: &str = "countersign_intake_replies_total";
/// How often which kind of thing was noticed in replies.
pub const NOTICED: &str = "countersign_intake_noticed_total";
/// Time from a turn's begin to its reply's end, summed.
pub const REPLY_SECONDS: &str = "countersign_intake_reply_seconds";

/// Kinds that are shown from the start, so that an alert on a first one has a nothing to compare with.
const KINDS: [&str; 7] = [
    "canary_alarm",
    "secret_asked",
    "injection_flagged",
    "masked",
    "foreign_contact",
    "guardrail_hit",
    "claim_corrected",
];
/// Endings of a reply.
const ENDINGS: [&str; 3] = ["complete", "stopped", "failed"];

/// The counters of one process.
#[derive(Debug)]
pub struct Metrics {
    noticed: Mutex<BTreeMap<&'static str, u64>>,
    endings: Mutex<BTreeMap<&'static str, u64>>,
    micros: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            noticed: Mutex::new(KINDS.map(|kind| (kind, 0)).into()),
            endings: Mutex::new(ENDINGS.map(|ending| (ending, 0)).into()),
            micros: AtomicU64::new(0),
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
        add(&self.endings, ending, 1);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        for (kind, number) in noticed {
            add(&self.noticed, kind, number.into());
        }
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let endings = labelled(
            &mut text,
            REPLIES,
            "Replies, by ending",
            "ending",
            &self.endings,
        );
        let kind = "What was noticed in replies, by kind";
        labelled(&mut text, NOTICED, kind, "kind", &self.noticed);
        let seconds = Duration::from_micros(self.micros.load(Ordering::Relaxed)).as_secs_f64();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP {REPLY_SECONDS} From a turn's begin to its reply's end\n# TYPE {REPLY_SECONDS} summary\n\
             {REPLY_SECONDS}_sum {seconds}\n{REPLY_SECONDS}_count {endings}"
        );
        text
    }
}

type Counts = Mutex<BTreeMap<&'static str, u64>>;

fn add(counts: &Counts, name: &'static str, number: u64) {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    *counts.entry(name).or_default() += number;
}

/// Writes a counter with one label; answers its total.
fn labelled(text: &mut String, name: &str, help: &str, label: &str, counts: &Counts) -> u64 {
    let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
    for (value, count) in counts.iter() {
        let _ = writeln!(text, "{name}{{{label}=\"{value}\"}} {count}");
    }
    counts.values().sum()
}

/// Serves the numbers at `http://127.0.0.1:PORT/metrics` until the process ends.
///
/// # Errors
/// When the port is taken.
pub async fn serve(port: u16, metrics: Arc<Metrics>) -> anyhow::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .with_context(|| format!("open the metrics port {port}"))?;
    let address = listener.local_addr().context("read the metrics port")?;
    let router = Router::new()
        .route("/metrics", get(answer))
        .with_state((address, metrics));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "The metrics port closed");
        }
    });
    Ok(address)
}

/// A page in a browser that was made to think that its own name is this port's is answered nothing.
async fn answer(
    State((address, metrics)): State<(SocketAddr, Arc<Metrics>)>,
    headers: HeaderMap,
) -> Response {
    let host = headers.get(header::HOST).map(|host| host.as_bytes());
    if host != Some(address.to_string().as_bytes()) {
        return StatusCode::MISDIRECTED_REQUEST.into_response();
    }
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics.text()).into_response()
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

    #[tokio::test]
    async fn the_port_answers_under_its_own_name_alone() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let address = serve(0, Arc::new(Metrics::default())).await.expect("port");
        for (host, wanted) in [
            (address.to_string(), "HTTP/1.1 200"),
            ("evil.example".to_owned(), "HTTP/1.1 421"),
        ] {
            let mut connection = tokio::net::TcpStream::connect(address)
                .await
                .expect("connection");
            let request =
                format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            connection
                .write_all(request.as_bytes())
                .await
                .expect("sent");
            let mut text = String::new();
            connection.read_to_string(&mut text).await.expect("answer");
            assert!(text.starts_with(wanted), "{text}");
        }
    }
}
