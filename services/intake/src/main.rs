//! `countersign-intake`, the chat origin: records what the customer types before anything else sees it, lends the
//! agent an identity for one turn, and relays the reply.
//!
//! It may write `utterance`, `conversation`, `reply` and the turn's `session_grant`, each for the customer whose
//! bearer it was shown. It reaches no request, no card and no execution, never sees the panel's cookie and ignores
//! cookies altogether. Nothing calls it on the agent's behalf: a reply belongs to the connection that asked for it.

mod agent;
mod ambient;
mod app;
mod budget;
mod config;
mod message;
mod metrics;
mod page;
mod rate;
mod relay;
mod router;
mod routes;
mod session;
mod store;
mod turn;

use anyhow::Context as _;

const SERVICE: &str = "countersign-intake";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    countersign_serve::init_logging(SERVICE);
    // The HTTP client asks for a TLS provider even where the agent is reached without TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config: config::Config = countersign_serve::read_config()?;
    let listeners = countersign_serve::open(&config.listen).await?;
    let app = app::App::new(&config).context("start the chat origin")?;
    let metrics = app.metrics.clone();
    countersign_serve::numbers::serve(config.metrics.open().await?, move || metrics.text())?;
    countersign_serve::run(SERVICE, listeners, router::router(app, &config)).await
}
