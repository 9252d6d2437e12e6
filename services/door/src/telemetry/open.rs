//! What is asked for on the command line, and the listener for numbers.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Weak};

use anyhow::Context as _;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Router, middleware};
use countersign_serve::guard::{Allowed, check_host_and_origin};
use http::{StatusCode, header};

use super::metrics::Metrics;
use super::{Telemetry, send};
use crate::door::Door;

/// The content type of the numbers.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How the door tells how it does, as the command line says it.
#[derive(Clone, Debug, Default, clap::Args, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetryArgs {
    /// Serve numbers for Prometheus at http://127.0.0.1:PORT/metrics; 0 takes any free port.
    #[arg(long, value_name = "PORT")]
    #[serde(default)]
    metrics_port: Option<u16>,
    /// Send a span for every message to this collector, as OTLP over HTTP in JSON.
    #[arg(
        long,
        value_name = "URL",
        env = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        hide_env_values = true
    )]
    #[serde(default)]
    traces: Option<String>,
}

struct Told {
    telemetry: Arc<Telemetry>,
    door: Weak<Door>,
}

/// Begins to tell what was asked for.
///
/// # Errors
/// When the port is taken or the collector's address is none.
pub fn open(door: &Arc<Door>, arguments: &TelemetryArgs) -> anyhow::Result<()> {
    open_at(door, arguments, Vec::new())
}

/// The same, with listeners for the numbers that a supervisor opened.
///
/// # Errors
/// As [`open`].
pub fn open_at(
    door: &Arc<Door>,
    arguments: &TelemetryArgs,
    mut listeners: Vec<TcpListener>,
) -> anyhow::Result<()> {
    if let Some(port) = arguments.metrics_port {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .with_context(|| format!("open 127.0.0.1:{port} for metrics"))?;
        listener.set_nonblocking(true)?;
        listeners.push(listener);
    }
    let spans = arguments.traces.as_deref().map(send::start).transpose()?;
    let metrics = (!listeners.is_empty()).then(Metrics::new);
    let telemetry = Arc::new(Telemetry {
        metrics,
        spans,
        ..Telemetry::default()
    });
    if !telemetry.is_on() {
        return Ok(());
    }
    door.tell(Arc::clone(&telemetry));
    for listener in listeners {
        let address = listener.local_addr()?;
        let told = Told {
            telemetry: Arc::clone(&telemetry),
            door: Arc::downgrade(door),
        };
        serve(listener, router(told, address))?;
        tracing::info!(
            metrics = %format_args!("http://{address}/metrics"),
            "Numbers are at http://{address}/metrics"
        );
    }
    Ok(())
}

fn router(told: Told, address: SocketAddr) -> Router {
    let allowed = Allowed {
        hosts: vec![address.to_string(), format!("localhost:{}", address.port())],
        origins: Vec::new(),
    };
    Router::new()
        .route("/metrics", get(show))
        .route("/denials", get(show_denials))
        .with_state(Arc::new(told))
        .layer(middleware::from_fn_with_state(
            Arc::new(allowed),
            check_host_and_origin,
        ))
}

async fn show(State(told): State<Arc<Told>>) -> Response {
    let text = told
        .telemetry
        .metrics
        .as_ref()
        .map(|metrics| metrics.text(&told.door));
    match text {
        Some(Ok(text)) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The newest messages that were denied or held, each with its receipt.
async fn show_denials(State(told): State<Arc<Told>>) -> Response {
    axum::Json(told.telemetry.denials.newest_first()).into_response()
}

/// Serves on a thread of its own, whatever the door's fronts run on.
fn serve(listener: TcpListener, router: Router) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start serving metrics")?;
    let serve = async move {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => {
                let never = std::future::pending();
                countersign_serve::serve_until(vec![listener], router, never).await;
            }
            Err(error) => tracing::error!(%error, "Metrics cannot be served"),
        }
    };
    std::thread::Builder::new()
        .name("metrics".into())
        .spawn(move || runtime.block_on(serve))
        .context("start serving metrics")?;
    Ok(())
}
