//! Serving a router on every listener, bounded, until the process is asked to stop.

mod service;

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower_http::catch_panic::CatchPanicLayer;

use self::service::Service;
use crate::direct::Direct;
use crate::finish;
use crate::limits::{self, Limits};
use crate::listen::Listener;
use crate::workers::Workers;

static STOPPING: std::sync::LazyLock<watch::Sender<bool>> =
    std::sync::LazyLock::new(|| watch::Sender::new(false));

/// Serves `router` on every listener until SIGTERM or SIGINT, then lets requests in progress end.
///
/// Prints one line on standard output, `{"listening":["127.0.0.1:41234"]}`. Requests have the limits of
/// [`crate::limits`]; an unknown route, a wrong method, a panic and a library's own refusal answer as a
/// [`crate::Problem`]. Long answers should end at [`stopping`], or they are cut after the grace.
///
/// # Errors
/// When signals cannot be watched or a listener has no address.
pub async fn run(
    service: &'static str,
    listeners: Vec<Listener>,
    router: Router,
) -> anyhow::Result<()> {
    run_with(service, listeners, router, None).await
}

/// As [`run`], with one route that is answered directly on workers; the other routes run there, too, and
/// must not block either.
///
/// # Errors
/// As [`run`].
pub async fn run_directly(
    service: &'static str,
    listeners: Vec<Listener>,
    router: Router,
    direct: Direct,
    workers: Workers,
) -> anyhow::Result<()> {
    let fast = Fast {
        direct,
        workers: Arc::new(workers),
    };
    run_with(service, listeners, router, Some(fast)).await
}

/// Connections stay on workers, and one route is answered without the router.
pub(crate) struct Fast {
    pub(crate) direct: Direct,
    pub(crate) workers: Arc<Workers>,
}

async fn run_with(
    service: &'static str,
    listeners: Vec<Listener>,
    router: Router,
    fast: Option<Fast>,
) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("watch SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("watch SIGINT")?;
    let addresses = listeners
        .iter()
        .map(|listener| listener.local_addr().map(|address| address.to_string()))
        .collect::<Result<Vec<_>, _>>()
        .context("read the address of a listener")?;
    tracing::info!(?addresses, "Listening as {service}");
    // Whoever started this service may have closed the pipe; serving matters more than telling.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", serde_json::json!({"listening": addresses}));
    let _ = out.flush();
    drop(out);
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        STOPPING.send_replace(true);
        tracing::info!("Stopping {service}");
    };
    serve_within(Limits::STANDARD, listeners, router, fast, stop).await;
    Ok(())
}

/// Resolves once this process was asked to stop; for streams and loops that would not end by themselves.
pub async fn stopping() {
    until_true(&mut STOPPING.subscribe()).await;
}

/// Resolves once the value is true, or its sender is gone.
pub(crate) async fn until_true(value: &mut watch::Receiver<bool>) {
    let _ = value.wait_for(|value| *value).await;
}

/// As [`run`], but until `stop` resolves, without signals and without printing: for tests.
pub async fn serve_until(
    listeners: Vec<impl Into<Listener>>,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let listeners = listeners.into_iter().map(Into::into).collect();
    serve_within(Limits::STANDARD, listeners, router, None, stop).await;
}

pub(crate) async fn serve_within(
    limits: Limits,
    listeners: Vec<Listener>,
    router: Router,
    fast: Option<Fast>,
    stop: impl Future<Output = ()>,
) {
    let router = router
        .layer(CatchPanicLayer::custom(finish::after_panic))
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES_MAX))
        .layer(axum::middleware::from_fn_with_state(
            limits.body_read_time_out,
            finish::finish,
        ));
    let (stop_sender, stopped) = watch::channel(false);
    let service = Service::new(limits, router, fast.as_ref(), stopped);
    let mut loops = JoinSet::new();
    for listener in listeners {
        loops.spawn(service.clone().accept(listener));
    }
    drop(service);
    stop.await;
    stop_sender.send_replace(true);
    while loops.join_next().await.is_some() {}
    // Each connection holds a receiver; the channel closes when the last of them has ended.
    let _ = tokio::time::timeout(limits.shutdown_grace, stop_sender.closed()).await;
}

#[cfg(test)]
mod tests;
