//! The door: an allowlist proxy before an MCP server.
//!
//! It reads every message strictly, decides by a policy whose only default is deny, records the
//! decision before it takes effect, and forwards the original bytes with a token of its own for
//! this one call. It holds the policy, the pins and the keys that sign records and request tokens;
//! it holds no database and knows nothing of banks.

mod approval;
mod bearer;
mod caller;
mod clock;
mod commands;
mod config;
mod demo;
mod door;
mod fleet;
mod http;
mod judge;
mod log;
mod pipes;
mod record;
mod reload;
mod screen;
mod session;
mod several;
mod telemetry;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{
    completion, configured, decide, explain, export, forward, init, keys, lint, pin, report, run,
    serve, verify, witness,
};
use crate::pipes::keeper;

/// An allowlist proxy before MCP servers: what the policy does not allow is refused, and every
/// decision is recorded before it takes effect.
///
/// A supervisor starts it with `--config-stdin` or `--config FILE` instead of a command.
#[derive(Debug, Parser)]
#[command(name = "countersign-door", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Lint(lint::Args),
    Decide(decide::Args),
    Explain(explain::Args),
    Screen(commands::screen::Args),
    Pin(pin::Args),
    Report(report::Args),
    Run(run::Args),
    Serve(serve::Args),
    Keys(keys::Args),
    Witness(witness::Args),
    Demo(commands::demo::Args),
    Export(export::Args),
    Forward(forward::Args),
    Completion(completion::Args),
    Verify(verify::Args),
}

fn main() -> ExitCode {
    match answer() {
        Ok(code) => code,
        Err(error) => {
            // What a person did is told in words; where in this program it was noticed helps nobody here.
            eprintln!("{}", commands::told(&error));
            ExitCode::FAILURE
        }
    }
}

fn answer() -> anyhow::Result<ExitCode> {
    if keeper::is_asked_for() {
        return keeper::run();
    }
    if configured::is_asked_for() {
        return configured::run();
    }
    match CommandLine::parse().command {
        Command::Init(args) => init::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Decide(args) => decide::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Screen(args) => commands::screen::run(&args),
        Command::Pin(args) => pin::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Run(args) => run::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Keys(args) => keys::run(&args),
        Command::Witness(args) => witness::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Forward(args) => forward::run(args),
        Command::Completion(args) => completion::run(&args),
        Command::Verify(args) => verify::run(&args),
    }
}
