//! A client on the door's own pipes and a server that is reached over HTTP.

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
use crate::http::behind::Remote;
use crate::http::upstream::Upstream;
use crate::reload::Watch;
use crate::session::{LAST_ANSWERS_TIME, Session};

/// Passes messages on until the client is gone or the door is told to end.
///
/// # Errors
/// When a thread or a stream cannot be had, or the record cannot be closed.
pub fn run_remote(
    door: &Arc<Door>,
    upstream: Upstream,
    mut watch: Watch,
    approvals: Option<approval::Open>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("start the connections")?;
    let remote = Remote::start(Arc::new(upstream), runtime.handle());
    let front = Arc::new(StandardOutput::new().context("open standard output")?);
    let name = clock::random_id()
        .map(hex::encode)
        .map_err(|error| anyhow::anyhow!("no random bytes: {error}"))?;
    let session = Session::new(
        Arc::clone(door),
        Caller::local(&name),
        0,
        Arc::clone(&front) as _,
        Arc::clone(&remote) as _,
    );
    remote.serve(&session);
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let (ended, end) = std::sync::mpsc::sync_channel(2);
    let (client, signalled) = (ended.clone(), ended);
    let (reading, writing) = (Arc::clone(&session), Arc::clone(&front));
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
        session.tick();
        watch.look(door);
    };
    session.client_is_gone();
    if let Some(approvals) = &approvals {
        approvals.close();
    }
    let since = Instant::now();
    while in_peace && !session.is_quiet() && since.elapsed() < LAST_ANSWERS_TIME {
        std::thread::sleep(LOOK_TIME);
    }
    runtime.block_on(async {
        let _ = tokio::time::timeout(LAST_ANSWERS_TIME, remote.end()).await;
    });
    session.flush();
    door.close().context("close the record")?;
    // The thread that reads the client may wait for it for ever.
    std::process::exit(0);
}
