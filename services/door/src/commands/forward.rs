//! `countersign-door forward`: sends the record's lines on to a collector, beside the door.
//!
//! It is a process of its own that reads what the door wrote, so nothing about it can hold up a
//! decision. The record is its spool: only the number of the next line is kept.

mod batch;
mod target;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use countersign_journal::replace_file;

use self::batch::Batch;
use self::target::{Sent, Target};

/// How long to wait when there is nothing new.
const IDLE: Duration = Duration::from_millis(500);
/// The first wait after a failure, and the longest.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// Sends the record's lines on to a collector as they are written.
///
/// Each POST holds whole lines, one JSON object a line, at most 256 KiB of them; the header
/// `Countersign-First` says the number of the first. A line counts as sent when the answer is of
/// the kind 2xx; otherwise it is sent again, later and later, so a collector may see a line twice and
/// tells it by its `sequence`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's folder.
    #[arg(long)]
    record: PathBuf,
    /// The collector: `http://` on this machine. Put a TLS client of your choice before one elsewhere;
    /// a bearer token does not go over the network in the clear.
    #[arg(long)]
    to: String,
    /// A file with the bearer token, readable for its owner alone.
    #[arg(long)]
    bearer_file: PathBuf,
    /// The file that keeps the number of the next line.
    #[arg(long)]
    state: PathBuf,
    /// End when everything that is written was sent, or when sending fails.
    #[arg(long)]
    once: bool,
}

/// Runs the command.
#[tokio::main(flavor = "current_thread")]
pub async fn run(arguments: Args) -> anyhow::Result<ExitCode> {
    countersign_serve::init_logging("door");
    let target = Target::new(&arguments.to, &arguments.bearer_file)?;
    let mut next = read_state(&arguments.state)?;
    let mut lines_max = batch::LINES_MAX;
    let mut wait = BACK_OFF.0;
    let mut reader = batch::Reader::new(&arguments.record);
    loop {
        let Batch { first, count, body } = reader.read(next, lines_max)?;
        if count == 0 {
            if arguments.once {
                return Ok(ExitCode::SUCCESS);
            }
            tokio::time::sleep(IDLE).await;
            continue;
        }
        if first > next {
            tracing::warn!(
                next,
                first,
                "Lines {next} to {first} are not in the record any more"
            );
        }
        match target.send(first, body).await {
            Ok(Sent::Taken) => {
                next = first + count;
                write_state(&arguments.state, next)?;
                wait = BACK_OFF.0;
                lines_max = batch::LINES_MAX;
                continue;
            }
            Ok(Sent::TooLarge) if count > 1 => {
                lines_max = count.div_ceil(2);
                continue;
            }
            Ok(Sent::TooLarge) => {
                tracing::error!(first, "Line {first} is too large for the collector")
            }
            Ok(Sent::Refused(status)) => {
                tracing::error!(status, first, "The collector answered {status}");
            }
            Err(error) => {
                tracing::error!(error = %format!("{error:#}"), "Could not reach the collector")
            }
        }
        if arguments.once {
            return Ok(ExitCode::FAILURE);
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(BACK_OFF.1);
    }
}

fn read_state(path: &Path) -> anyhow::Result<u64> {
    match std::fs::read_to_string(path) {
        Ok(text) => text
            .trim()
            .parse()
            .with_context(|| format!("{} is not the number of a line", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error).context("read the number of the next line"),
    }
}

fn write_state(path: &Path, next: u64) -> anyhow::Result<()> {
    replace_file(path, &format!("{next}\n")).context("keep the number of the next line")
}
