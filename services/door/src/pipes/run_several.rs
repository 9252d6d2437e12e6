//! A client on the door's own pipes and several servers.

use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use super::front::StandardOutput;
use super::run::{LOOK_TIME, TICK, read_client};
use crate::approval;
use crate::caller::Caller;
use crate::clock;
use crate::door::Door;
use crate::fleet::{Fleet, Plan, Way};
use crate::reload::Watch;
use crate::session::LAST_ANSWERS_TIME;

/// Passes messages on until the client is gone or the door is told to end. `ways` are in the order of
/// the door's servers.
///
/// # Errors
/// When a thread or a stream cannot be had, or the record cannot be closed.
pub fn run_several(
    door: &Arc<Door>,
    ways: Vec<Way>,
    mut watch: Watch,
    approvals: Option<approval::Open>,
) -> anyhow::Result<ExitCode> {
    let connects = ways.iter().any(|way| matches!(way, Way::Http(_)));
    let runtime = connects.then(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
    });
    let runtime = runtime.transpose().context("start the connections")?;
    let plan = Plan::new(
        ways,
        runtime.as_ref().map(|runtime| runtime.handle().clone()),
    )?;
    let front = Arc::new(StandardOutput::new().context("open standard output")?);
    let name = clock::random_id()
        .map(hex::encode)
        .map_err(|error| anyhow::anyhow!("no random bytes: {error}"))?;
    let fleet = Fleet::start(&plan, door, &Caller::local(&name), Arc::clone(&front) as _)?;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let (ended, end) = std::sync::mpsc::sync_channel(2);
    let (client, signalled) = (ended.clone(), ended);
    let (reading, writing) = (Arc::clone(&fleet.several), Arc::clone(&front));
    std::thread::Builder::new()
        .name("client".into())
        .spawn(move || {
            read_client(&*reading, &writing, input.into());
            let _ = client.send(true);
        })
        .context("start a thread")?;
    let mut signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
    ])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                let _ = signalled.send(false);
            }
        })
        .context("start a thread")?;
    let in_peace = loop {
        if let Ok(in_peace) = end.recv_timeout(TICK) {
            break in_peace;
        }
        if let Err(error) = door.log.sign_head() {
            tracing::error!(%error, "Could not sign the head of the record");
        }
        fleet.tick();
        watch.look(door);
    };
    fleet.several.client_is_gone();
    if let Some(approvals) = &approvals {
        approvals.close();
    }
    let since = Instant::now();
    while in_peace && !fleet.several.is_quiet() && since.elapsed() < LAST_ANSWERS_TIME {
        std::thread::sleep(LOOK_TIME);
    }
    fleet.end();
    fleet.several.flush();
    door.close().context("close the record")?;
    // The thread that reads the client may wait for it for ever.
    std::process::exit(0);
}
