//! `countersign-door run`: a client on the door's own pipes, a server behind it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use countersign_policy::Policy;

use super::place::{self, Place};
use super::serve::{self, Behind};
use crate::approval::{self, ApprovalArgs};
use crate::door::{Door, Rules};
use crate::pipes::child::Program;
use crate::pipes::run::{Started, run as run_pipes};
use crate::pipes::run_remote::run_remote;
use crate::pipes::run_several::run_several;
use crate::reload::Watch;
use crate::telemetry::{self, TelemetryArgs};

/// Wraps MCP servers: start this in the place of a server, and let it start the server, or reach it
/// over HTTP where the policy has its `url`.
///
/// The servers of a policy that names several stand behind it together, and their tools are called
/// `server__tool`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy file.
    #[arg(long)]
    policy: PathBuf,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    approvals: ApprovalArgs,
    #[command(flatten)]
    telemetry: TelemetryArgs,
    /// The one server of the policy to start, when it names several.
    #[arg(long)]
    server: Option<String>,
    /// The server's program and its arguments; those of the policy when not given.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Runs the command.
pub fn run(arguments: Args) -> anyhow::Result<ExitCode> {
    countersign_serve::init_logging("door");
    arguments.place.set_look();
    let watch = Watch::new(arguments.policy.clone());
    let policy = place::read_policy(&arguments.policy)?;
    if arguments.server.is_none() && policy.servers().count() > 1 {
        return run_all(arguments, policy, watch);
    }
    let (name, behind) = behind(&policy, arguments.server.as_deref(), arguments.command)?;
    let record = arguments.place.record(policy.id())?;
    let behind = match behind {
        // It comes up while the record is opened.
        Behind::Program(program) => Ok(Started::new(program)?),
        Behind::Http(upstream) => Err(upstream),
    };
    let directory = record.directory.clone();
    let door = Arc::new(Door::open(Rules::new(policy)?, &[&name], record)?);
    telemetry::open(&door, &arguments.telemetry)?;
    let approvals = approval::open(&door, &arguments.approvals, &directory)?;
    match behind {
        Ok(started) => run_pipes(door, started, watch, approvals),
        Err(upstream) => run_remote(&door, *upstream, watch, approvals),
    }
}

/// All of the policy's servers together.
fn run_all(arguments: Args, policy: Policy, watch: Watch) -> anyhow::Result<ExitCode> {
    ensure!(
        arguments.command.is_empty(),
        "the policy names several servers: say which one the command is with --server ({})",
        names(&policy).join(", ")
    );
    let (names, ways) = serve::ways(&policy)?;
    let record = arguments.place.record(policy.id())?;
    let directory = record.directory.clone();
    let servers: Vec<_> = names.iter().map(|name| &**name).collect();
    let door = Arc::new(Door::open(Rules::new(policy)?, &servers, record)?);
    telemetry::open(&door, &arguments.telemetry)?;
    let approvals = approval::open(&door, &arguments.approvals, &directory)?;
    run_several(&door, ways, watch, approvals)
}

fn names(policy: &Policy) -> Vec<&str> {
    let mut names: Vec<_> = policy.servers().map(|(name, _)| name).collect();
    names.sort_unstable();
    names
}

/// What to start or to ask, under which of the policy's names.
fn behind(
    policy: &Policy,
    asked: Option<&str>,
    command: Vec<OsString>,
) -> anyhow::Result<(Box<str>, Behind)> {
    let names = names(policy);
    let name = match (asked, &names[..]) {
        (Some(asked), _) if names.contains(&asked) => asked,
        (Some(asked), _) => bail!(
            "the policy names no server {asked}; it has: {}",
            names.join(", ")
        ),
        (None, [only]) => only,
        (None, _) => bail!("the policy names no server: add one under `servers`"),
    };
    let server = policy.server(name).context("a server of the policy")?;
    if server.needs_request_tokens() {
        bail!("the server {name} wants request tokens, which a door on pipes cannot give");
    }
    let behind = match command.is_empty() {
        true if server.connection().is_none() => {
            bail!(
                "the policy says neither `command` nor `url` of {name}: give a command after `--`"
            )
        }
        true => Behind::of(name, server)?,
        false => Behind::Program(Program::of(name, server, command)?),
    };
    Ok((name.into(), behind))
}
