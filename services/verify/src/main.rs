//! Checks records and receipts offline: files and a public key in, a verdict and an exit code out.
//!
//! It opens no connection, holds no key of its own and changes nothing. Exit codes follow the ones
//! that verifiers of signed approvals use, with three of our own for logs and four for ledgers; see [`verdict::Verdict`]. The gate has codes of its own.

mod artifact;
mod clock;
mod command;
mod gate;
mod ledger;
mod log;
mod page;
mod policy;
mod receipt;
mod verdict;

use std::process::ExitCode;

use clap::Parser as _;

use crate::command::Command;

fn main() -> ExitCode {
    let command = match command::Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() {
                verdict::USAGE
            } else {
                0
            });
        }
    };
    let verdict = match &command {
        Command::Log(arguments) => log::verify(arguments),
        Command::Ledger(arguments) => ledger::verify(arguments),
        Command::Receipt(arguments) => receipt::verify(arguments),
        Command::Artifact(arguments) => artifact::verify(arguments),
        Command::Attestation(arguments) => artifact::verify_outcome(arguments),
        Command::Page(arguments) => {
            return match page::write(arguments.out.as_deref()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error:#}");
                    ExitCode::from(verdict::USAGE)
                }
            };
        }
        Command::Gate(arguments) => {
            let answer = gate::judge(arguments);
            println!("{answer}");
            return ExitCode::from(answer.exit_code());
        }
    };
    println!("{verdict}");
    ExitCode::from(verdict.exit_code())
}
