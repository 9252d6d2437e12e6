//! `countersign-door verify`: the verifier, for whoever looks for it here.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;

/// The program that checks offline. It is one of its own so that nothing of a door has a part in a check.
const PROGRAM: &str = "countersign-verify";

/// Checks records, receipts and approvals offline: starts `countersign-verify` with these arguments.
///
/// `countersign-door verify log --help`, `countersign-door verify gate --help` and so on. The exit codes are those of
/// `countersign-verify`.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// What `countersign-verify` is asked.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    arguments: Vec<OsString>,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    // What stands beside this program came with it.
    let beside = std::env::current_exe().ok();
    let beside = beside.and_then(|own| Some(own.parent()?.join(PROGRAM)));
    let program = beside
        .filter(|program| program.is_file())
        .unwrap_or_else(|| PathBuf::from(PROGRAM));
    let error = Command::new(program).args(&arguments.arguments).exec();
    Err(error).with_context(|| {
        format!("start {PROGRAM}: it stands beside this program where both were installed; it needs nothing else")
    })
}
