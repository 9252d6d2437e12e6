//! `cargo xtask`: sets the bank up, runs it, tests it.
//!
//! It depends on no crate whose queries are checked against committed metadata, since one of its jobs is to
//! make that metadata anew.

mod cargo;
mod commands;
mod signals;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Sets the bank up, runs it, tests it",
    version
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a throw-away PostgreSQL with the demo bank in it, and print its addresses
    Db,
    /// Check every query against a fresh database and write the metadata that builds use (.sqlx)
    Prepare {
        /// Only these folders of `services`, adding to the metadata that is there
        only: Vec<String>,
    },
}

// One thread: children must be forked and waited for in one place, and nothing here is busy.
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Db => commands::db::run().await,
        Command::Prepare { only } => commands::prepare::run(only).await,
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
