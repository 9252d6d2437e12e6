//! A client on the door's own pipes and several servers.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

use super::attend::{attend, local_caller};
use super::front::StandardOutput;
use crate::approval;
use crate::door::Door;
use crate::fleet::{Fleet, Plan, Way};
use crate::reload::Watch;

/// Passes messages on until the client is gone or the door is told to end. `ways` are in the order of
/// the door's servers.
///
/// # Errors
/// When a thread or a stream cannot be had, or the record cannot be closed.
pub fn run_several(
    door: &Arc<Door>,
    ways: Vec<Way>,
    watch: Watch,
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
    let fleet = Fleet::start(&plan, door, &local_caller()?, Arc::clone(&front) as _)?;
    attend(
        door,
        &fleet.several,
        &front,
        watch,
        approvals.as_ref(),
        || fleet.tick(),
    )?;
    fleet.end();
    fleet.several.flush();
    door.close().context("close the record")?;
    // The thread that reads the client may wait for it for ever.
    std::process::exit(0);
}
