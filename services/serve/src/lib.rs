//! What every HTTP service of the bank needs and none should write twice.
//!
//! Config and secrets by pipe, listening sockets by inheritance, bounded reading of requests, exact
//! Host and Origin checks, problem+json refusals, page headers, logs as JSON lines. This crate holds no
//! route, no key and no database handle of its own, and it must never learn about money.
//!
//! The usual `main`:
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! countersign_serve::init_logging("panel");
//! let config: serde_json::Value = countersign_serve::read_config()?;
//! let listen = serde_json::from_value(config["listen"].clone())?;
//! let router = axum::Router::new().route("/health", axum::routing::get(countersign_serve::health));
//! countersign_serve::run("panel", countersign_serve::open(&listen).await?, router).await
//! # }
//! ```

pub mod assets;
mod body;
mod config;
mod connections;
pub mod cookie;
mod direct;
pub mod eager;
mod finish;
pub mod guard;
pub mod headers;
pub mod limits;
mod listen;
mod logging;
pub mod numbers;
mod patience;
mod plain;
mod problem;
mod process;
mod server;
mod tls;
mod workers;

pub use body::{Json, unread_body};
pub use config::read_config;
pub use direct::{Answering, Direct};
pub use finish::Verbatim;
pub use listen::{Listen, Listener, open};
pub use logging::init_logging;
pub use numbers::NumbersAt;
pub use patience::Patience;
pub use plain::{Answer, Whole};
pub use problem::Problem;
pub use server::{run, run_directly, serve_until, stopping};
pub use tls::{Tls, TlsError};
pub use workers::Workers;

/// Answers `GET /health`: the process is up and reads requests. It says nothing about its neighbours.
pub async fn health() -> axum::Json<serde_json::Value> {
    axum::Json(serde_json::json!({"status": "ok"}))
}
