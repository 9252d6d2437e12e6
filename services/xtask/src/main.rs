//! `cargo xtask`: sets the bank up, runs it, tests it.
//!
//! It depends on no crate whose queries are checked against committed metadata, since one of its jobs is to
//! make that metadata anew.

mod attack_lines;
mod cargo;
mod clients;
mod commands;
mod conformance;
mod control;
mod counts;
mod deny;
mod doors;
mod fuzz;
mod guards;
mod misbehaving;
mod mutants;
mod operator;
mod peers;
mod processes;
mod real_clients;
mod real_model;
mod real_servers;
mod schemas;
mod signals;
mod speaker;
mod sql_mutants;
mod state;
mod tools;
mod web;

use clap::{Parser, Subcommand};

use control::Question;
use state::Place;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Sets the bank up, runs it, tests it",
    version
)]
struct Arguments {
    /// The bank's own folder; .countersign in the checkout when left out
    #[arg(long, global = true, value_name = "FOLDER")]
    folder: Option<std::path::PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the whole bank on this machine and print the one address to open
    Up(commands::up::UpArguments),
    /// Print a fresh one-use address of the running bank
    Open {
        /// A demo customer's name; the first one's when left out
        #[arg(long = "as", value_name = "NAME")]
        customer: Option<String>,
        /// Of the operators' dashboard instead, for an operator of this name
        #[arg(long, value_name = "NAME", conflicts_with = "customer")]
        operator: Option<String>,
    },
    /// Print a session token for the running bank's door, good for two minutes (demo only)
    Token {
        /// A demo customer's name
        name: String,
    },
    /// List what waits for a person of the bank, or decide about one of it
    Operator {
        /// A held payment (act_…) to let go, a customer (rec_…) to let back in, or an older copy of the database (gap_…) to accept, as the list shows it
        #[arg(value_name = "ID", requires = "operator")]
        allow: Option<String>,
        /// The operator's name, which stands beside the decision in the customer's record
        #[arg(long = "as", value_name = "NAME")]
        operator: Option<String>,
    },
    /// Prove everything: checks, Rust tests, pages, a real browser, real clients
    Test(commands::test::TestArguments),
    /// Play attacks and ordinary conversations against the real bank, and write the report
    Eval(commands::eval::EvalArguments),
    /// The long runs: what must hold over very many cases
    Nightly(commands::nightly::NightlyArguments),
    /// Write the bank's ledger and its signed log to a file that `countersign-verify ledger` checks without a network
    Ledger(commands::ledger::LedgerArguments),
    /// Start a throw-away bank for browser tests, driven by lines on standard input
    Bank(commands::bank::BankArguments),
    /// Build the released programs with digests and bill of materials, or build twice and compare
    Release(commands::release::ReleaseArguments),
    /// Make what a deployment elsewhere needs: secrets, configs, the schema in a database
    #[command(subcommand)]
    Deploy(commands::deploy::DeployCommand),
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
    match run(Arguments::parse()).await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let place = Place::new(arguments.folder)?;
    match arguments.command {
        Command::Up(arguments) => commands::up::run(place, arguments).await,
        Command::Open {
            operator: Some(name),
            ..
        } => ask(&place, Question::Operate(name)).await,
        Command::Open { customer, .. } => ask(&place, Question::Open(customer)).await,
        Command::Token { name } => ask(&place, Question::Token(name)).await,
        Command::Operator { allow, operator } => {
            let decision = match (allow, operator) {
                (Some(which), Some(operator)) => operator::Decision::Allow { operator, which },
                _ => operator::Decision::List,
            };
            ask(&place, Question::Decide(decision)).await
        }
        Command::Test(arguments) => commands::test::run(arguments).await,
        Command::Eval(arguments) => commands::eval::run(&arguments),
        Command::Nightly(arguments) => commands::nightly::run(&arguments).await,
        Command::Ledger(arguments) => commands::ledger::run(&arguments).await,
        Command::Bank(arguments) => commands::bank::run(&arguments).await,
        Command::Release(arguments) => commands::release::run(&arguments),
        Command::Deploy(command) => commands::deploy::run(command).await,
        Command::Db => commands::db::run().await,
        Command::Prepare { only } => commands::prepare::run(only).await,
    }
}

async fn ask(place: &Place, question: Question) -> anyhow::Result<()> {
    println!("{}", control::ask(place, question).await?);
    Ok(())
}
