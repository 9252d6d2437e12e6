//! The dashboard: where an operator sees what was asked for, what became of it, and why words did not count.
//!
//! It reads states, kinds and times with a login that can write nothing of a customer's, under an operator's own
//! session. What customers typed it reads only for a reason, and the reason is on record before the text is answered.
//! It names neither the rooms that write requests nor the one that acts.

mod app;
mod assets;
mod config;
mod conversation;
mod cookie;
mod csv;
mod door;
mod explain;
mod metrics;
mod page;
mod router;
mod routes;
mod series;
mod session;
mod sign_in;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use sqlx::postgres::PgPoolOptions;

use crate::{app::App, config::Config};

/// Connections of the one role.
const CONNECTIONS_MAX: u32 = 8;
/// How long a request waits for a connection.
const ACQUIRE_TIME_OUT: Duration = Duration::from_secs(4);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    countersign_serve::init_logging("dashboard");
    let config: Config = countersign_serve::read_config()?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIME_OUT)
        .connect_lazy(config.database_url.expose())
        .context("the database address is not understood")?;
    // One provider for all TLS that this process speaks: the identity provider's.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let login = sign_in::provider(&config)?;
    let metrics: Arc<metrics::Metrics> = Arc::default();
    let told = Arc::clone(&metrics);
    countersign_serve::numbers::serve(config.metrics.open().await?, move || told.text())?;
    let router = router::router(
        App {
            pool,
            door: config.door.map(Arc::new),
        },
        &config.dashboard_origin,
        login,
    )
    .layer(axum::middleware::from_fn_with_state(
        metrics,
        metrics::count,
    ));
    let listeners = countersign_serve::open(&config.listen).await?;
    countersign_serve::run("dashboard", listeners, router).await
}
