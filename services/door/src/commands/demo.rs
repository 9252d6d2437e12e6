//! `countersign-door demo`: a misbehaving server, without a door and behind one.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::demo;

/// Attacks a fake account through a misbehaving server, once directly and once through a door, and shows what each
/// attack got. Nothing but fake money moves.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The misbehaving server's program; the one beside this program when not given.
    #[arg(long, value_name = "PROGRAM")]
    server: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let report = demo::run(arguments.server.as_deref())?;
    print!("{}", report.text());
    Ok(report.exit_code())
}
