//! The agent's process in an attacker's hands.
//!
//! A test starts this program exactly as the agent is started, in its place. It takes turns as the agent
//! does, then tries what it is told to try and reports what it got. It knows no more than the agent knows;
//! the test hands it addresses, paths and process ids that a real attacker would first have to guess, so
//! that nothing rests on guessing. It sends nothing to addresses outside of this machine.

mod attack;
mod binds;
mod calls;
mod escapes;
mod files;
mod held;
mod outcome;
mod processes;
mod raw;
mod requests;
mod routes;
mod unix_sockets;

use std::sync::Arc;

use anyhow::Context;
use serde_json::Value;

fn main() -> anyhow::Result<()> {
    // Before a runtime opens descriptors of its own.
    let descriptors = held::descriptors();
    countersign_serve::init_logging("agent");
    let config: Value = countersign_serve::read_config()?;
    let held = held::Held::of_this_process(config, descriptors);
    tokio::runtime::Runtime::new()
        .context("start the runtime")?
        .block_on(serve(held))
}

async fn serve(held: held::Held) -> anyhow::Result<()> {
    let listen = serde_json::from_value(held.config["listen"].clone())?;
    let listeners = countersign_serve::open(&listen).await?;
    let place = Arc::new(routes::Place::new(held));
    countersign_serve::run("agent", listeners, routes::router(place)).await
}
