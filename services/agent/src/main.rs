//! Starts the agent.

use std::sync::Arc;

use anyhow::Context;
use tokio::sync::Semaphore;

use countersign_agent::{
    clock, config::Config, door::Door, guard, limits, router, routes::post_turn::Turns, turn::Agent,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    countersign_serve::init_logging("agent");
    let config: Config = countersign_serve::read_config()?;
    // The HTTP client panics without a provider, also for plain http.
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("choose the TLS cryptography: one was chosen before"))?;
    let agent = Agent {
        model: config.model.open().context("start the agent")?,
        door: Door::new(&config.door_url).context("make the HTTP client")?,
        guards: guard::open(config.guardrails).context("start the agent")?,
        tokens_per_turn_max: config.tokens_per_turn_max,
        today: clock::today,
    };
    tracing::info!(
        model = agent.model.name(),
        "Answering with model {}",
        agent.model.name()
    );
    let listeners = countersign_serve::open(&config.listen).await?;
    let turns = Arc::new(Turns {
        agent: Arc::new(agent),
        room: Arc::new(Semaphore::new(limits::TURNS_MAX)),
    });
    let hosts = if config.hosts.is_empty() {
        own_hosts(&listeners)?
    } else {
        config.hosts
    };
    countersign_serve::run("agent", listeners, router::router(turns, hosts)).await
}

/// The names under which the agent's own listeners are called.
fn own_hosts(listeners: &[countersign_serve::Listener]) -> anyhow::Result<Vec<String>> {
    listeners
        .iter()
        .map(|listener| {
            Ok(listener
                .local_addr()
                .context("read the address of a listener")?
                .to_string())
        })
        .collect()
}
