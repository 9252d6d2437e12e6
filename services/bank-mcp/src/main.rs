//! `countersign-bank-mcp`: serves the bank's tools to the door, or prints their definitions.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use countersign_bank_mcp::{Bank, app::app, config::Config, gate::Gate, metrics::Metrics, router};
use countersign_domain::ActionId;
use countersign_keys::Verifier;
use countersign_serve::guard::Allowed;
use sqlx::postgres::PgPoolOptions;

/// Connections to the database. Each call holds one for a few milliseconds.
const CONNECTIONS_MAX: u32 = 16;
/// Longest a call waits for a connection before it answers that the bank cannot answer.
const CONNECTION_WAIT_MAX: Duration = Duration::from_secs(3);

fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("definitions") {
        return print_definitions();
    }
    serve()
}

/// Prints the tool definitions exactly as `tools/list` serves them, one JSON array, for the door's pins.
fn print_definitions() -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(&router::definitions())?);
    Ok(())
}

#[tokio::main]
async fn serve() -> anyhow::Result<()> {
    countersign_serve::init_logging("bank-mcp");
    let config: Config = countersign_serve::read_config()?;
    let keys = Verifier::open(config.request_keys, unix_seconds())
        .context("read the door's public keys")?;
    ensure!(
        keys.keys(unix_seconds()).is_some(),
        "every key of the door was revoked, so nothing could be answered"
    );
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(CONNECTION_WAIT_MAX)
        .connect(config.database_url.expose())
        .await
        .context("connect to the database as bank_mcp")?;
    let allowed = Allowed {
        hosts: config.hosts,
        origins: config.origins,
    };
    let metrics: Arc<Metrics> = Arc::default();
    let told = Arc::clone(&metrics);
    countersign_serve::numbers::serve(config.metrics.open().await?, move || told.text())?;
    let gate = Gate {
        keys,
        metrics,
        bank: Bank {
            pool,
            new_action_id: || ActionId::from_uuid(uuid::Uuid::now_v7()),
        },
        now: unix_seconds,
    };
    let listeners = countersign_serve::open(&config.listen).await?;
    countersign_serve::run("bank-mcp", listeners, app(allowed, gate)).await
}

/// The one place that reads the machine's clock: for the times in tokens. Money's clock is the database's.
fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
