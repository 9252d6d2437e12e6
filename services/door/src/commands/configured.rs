//! A door started by a supervisor: its whole configuration arrives as one JSON object.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use countersign_serve::guard::Allowed;

use crate::config::Config;
use crate::door::Door;
use crate::router;

/// How often the head of the record is signed when there is something new.
const HEAD_INTERVAL: Duration = Duration::from_millis(500);

/// Whether the process was started this way: `--config-stdin` or `--config FILE`.
pub fn is_asked_for() -> bool {
    let first = std::env::args_os().nth(1);
    first.is_some_and(|first| first == "--config-stdin" || first == "--config")
}

/// Serves until it is told to end.
#[tokio::main]
pub async fn run() -> anyhow::Result<ExitCode> {
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
    door.close().context("close the record")?;
    Ok(ExitCode::SUCCESS)
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
