//! `countersign`: what an operator does beside the running bank. Keys of tokens and logs, and copies of the database.
//!
//! It reads the database as a role that can write nothing, writes one only where a copy is put into an empty one, and
//! holds no key of its own: it makes key files and hands out their public halves.

mod backup;
mod check;
mod database;
mod keys;
mod restore;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "countersign",
    version,
    about = "What an operator does beside the running bank"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make, show, replace and revoke keys; services take the change without a restart
    #[command(subcommand)]
    Keys(keys::Action),
    /// Copy the whole bank at one moment into a folder, after checking that it agrees with itself
    Backup(backup::Args),
    /// Check that ledger, receipts and the log's signed head agree
    Check(check::Args),
    /// Put a copy into an empty database, and check it
    Restore(restore::Args),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Keys(action) => keys::run(&action),
        Command::Backup(arguments) => backup::run(&arguments).await,
        Command::Check(arguments) => check::run(&arguments).await,
        Command::Restore(arguments) => restore::run(&arguments).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
