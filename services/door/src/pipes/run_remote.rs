//! A client on the door's own pipes and a server that is reached over HTTP.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

use super::attend::{attend, local_caller};
use super::front::StandardOutput;
use crate::approval;
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
    watch: Watch,
    approvals: Option<approval::Open>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("start the connections")?;
    let remote = Remote::start(Arc::new(upstream), runtime.handle());
    let front = Arc::new(StandardOutput::new().context("open standard output")?);
    let session = Session::new(
        Arc::clone(door),
        local_caller()?,
        0,
        Arc::clone(&front) as _,
        Arc::clone(&remote) as _,
    );
    remote.serve(&session);
    attend(door, &session, &front, watch, approvals.as_ref(), || {
        session.tick();
    })?;
    runtime.block_on(async {
        let _ = tokio::time::timeout(LAST_ANSWERS_TIME, remote.end()).await;
    });
    session.flush();
    door.close().context("close the record")?;
    // The thread that reads the client may wait for it for ever.
    std::process::exit(0);
}
