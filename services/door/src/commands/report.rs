//! `countersign-door report`: what the demonstration shows, as a document.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use crate::demo;

/// Runs the attacks of `demo` and prints what each got without the door and with it, the fake money counted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The form of the report.
    #[arg(long, value_enum, default_value = "markdown")]
    format: Format,
    /// The misbehaving server's program; the one beside this program when not given.
    #[arg(long, value_name = "PROGRAM")]
    server: Option<PathBuf>,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people.
    Markdown,
    /// For programs.
    Json,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let report = demo::run(arguments.server.as_deref())?;
    match arguments.format {
        Format::Markdown => print!("{}", report.markdown()),
        Format::Json => println!("{}", report.json()?),
    }
    Ok(report.exit_code())
}
