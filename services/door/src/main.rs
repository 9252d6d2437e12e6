//! The door: an allowlist proxy before an MCP server.
//!
//! It reads every message strictly, decides by a policy whose only default is deny, records the
//! decision before it takes effect, and forwards the original bytes with a token of its own for
//! this one call. It holds the policy, the pins and the keys that sign records and request tokens;
//! it holds no database and knows nothing of banks.

mod answer;
mod catalogue;
mod clock;
mod config;
mod door;
mod exchange;
mod lists;
mod log;
mod methods;
mod mirrored;
mod pin;
mod record;
mod refusal;
mod router;
mod session;
mod upstream;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use countersign_serve::guard::Allowed;

use crate::config::Config;
use crate::door::Door;

/// How often the head of the record is signed when there is something new.
const HEAD_INTERVAL: Duration = Duration::from_millis(500);

fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("pin") {
        return pin::run();
    }
    serve()
}

#[tokio::main]
async fn serve() -> anyhow::Result<()> {
    countersign_serve::init_logging("door");
    let config: Config = countersign_serve::read_config()?;
    let allowed = Allowed {
        hosts: config.hosts.clone(),
        origins: config.origins.clone(),
    };
    let listeners = countersign_serve::open(&config.listen).await?;
    let door = Arc::new(Door::open(config).context("open the door")?);
    let heads = tokio::spawn(sign_heads(Arc::clone(&door)));
    let router = router::router(Arc::clone(&door), allowed);
    countersign_serve::run("door", listeners, router).await?;
    heads.abort();
    door.close().context("close the record")
}

/// Signs the head of the record again and again. A failure shuts the door until one succeeds.
async fn sign_heads(door: Arc<Door>) {
    let mut ticks = tokio::time::interval(HEAD_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let log = Arc::clone(&door.log);
        // The disk may take its time; calls go on meanwhile.
        match tokio::task::spawn_blocking(move || log.sign_head()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "Could not sign the head of the record"),
            Err(error) => tracing::error!(%error, "The signing of heads ended"),
        }
    }
}
