//! A process's own numbers, as Prometheus reads them, on listeners of their own. Off unless asked for. No customer,
//! conversation or text is ever a label.

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
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::listen::{Listen, Listener, open};

/// Where a process tells its numbers; nowhere when neither is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumbersAt {
    /// A port of 127.0.0.1 that the process binds.
    #[serde(default)]
    pub port: Option<u16>,
    /// Listeners that the supervisor opened: a process in a cage binds none itself.
    #[serde(default)]
    pub listen: Option<Listen>,
}

impl NumbersAt {
    /// Opens them; none where none was asked for.
    ///
    /// # Errors
    /// When a port is taken or a descriptor is no listening socket.
    pub async fn open(&self) -> anyhow::Result<Vec<Listener>> {
        let mut listeners = match &self.listen {
            Some(listen) => open(listen).await?,
            None => Vec::new(),
        };
        if let Some(port) = self.port {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
                .await
                .with_context(|| format!("open the metrics port {port}"))?;
            listeners.push(listener.into());
        }
        Ok(listeners)
    }
}

/// A counter with one label, whose values are of a fixed list.
#[derive(Debug, Default)]
pub struct Counts(Mutex<BTreeMap<&'static str, u64>>);

impl Counts {
    /// A counter whose values are shown from the start, so that an alert on a first one has a nothing to compare with.
    pub fn of(values: &[&'static str]) -> Self {
        Self(Mutex::new(values.iter().map(|value| (*value, 0)).collect()))
    }

    /// Adds to one of them.
    pub fn add(&self, value: &'static str, number: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(value).or_default() += number;
    }

    /// Writes the counter; answers its total.
    pub fn write(&self, text: &mut String, name: &str, help: &str, label: &str) -> u64 {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        for (value, count) in counts.iter() {
            let _ = writeln!(text, "{name}{{{label}=\"{value}\"}} {count}");
        }
        counts.values().sum()
    }
}

/// How long things took, summed; in microseconds inside.
#[derive(Debug, Default)]
pub struct Seconds(AtomicU64);

impl Seconds {
    /// Adds how long one of them took.
    pub fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(micros, Ordering::Relaxed);
    }

    /// Writes the sum, with how many things it is of.
    pub fn write(&self, text: &mut String, name: &str, help: &str, count: u64) {
        let seconds = Duration::from_micros(self.0.load(Ordering::Relaxed)).as_secs_f64();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} summary\n{name}_sum {seconds}\n{name}_count {count}"
        );
    }
}

type Text = Arc<dyn Fn() -> String + Send + Sync>;

/// Serves a text at `/metrics` of each listener until the process ends, and answers where.
///
/// # Errors
/// When a listener does not know its own address.
pub fn serve(
    listeners: Vec<Listener>,
    text: impl Fn() -> String + Send + Sync + 'static,
) -> anyhow::Result<Vec<SocketAddr>> {
    let text: Text = Arc::new(text);
    let mut addresses = Vec::new();
    for listener in listeners {
        let address = listener.local_addr().context("read the metrics port")?;
        let router = Router::new()
            .route("/metrics", get(answer))
            .with_state((address, Arc::clone(&text)));
        tokio::spawn(async move {
            crate::server::serve_until(vec![listener], router, std::future::pending()).await;
        });
        tracing::info!(%address, "Numbers are at http://{address}/metrics");
        addresses.push(address);
    }
    Ok(addresses)
}

/// A page in a browser that was made to think that its own name is this port's is answered nothing.
async fn answer(State((address, text)): State<(SocketAddr, Text)>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).map(|host| host.as_bytes());
    if host != Some(address.to_string().as_bytes()) {
        return StatusCode::MISDIRECTED_REQUEST.into_response();
    }
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_port_answers_under_its_own_name_alone() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let at = NumbersAt {
            port: Some(0),
            listen: None,
        };
        let counts = Counts::of(&["seen"]);
        counts.add("seen", 2);
        let text = move || {
            let mut text = String::new();
            counts.write(&mut text, "things_total", "Things", "kind");
            text
        };
        let listeners = at.open().await.expect("listener");
        let address = serve(listeners, text).expect("served")[0];
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
            let told = text.contains("things_total{kind=\"seen\"} 2");
            assert_eq!(told, wanted.ends_with("200"), "{text}");
        }
        assert!(NumbersAt::default().open().await.expect("none").is_empty());
    }
}
