//! `cargo xtask nightly`: runs that take too long for every change.

use anyhow::Context;
use clap::{Args, Subcommand};

/// What `nightly` runs.
#[derive(Args, Debug)]
pub struct NightlyArguments {
    #[command(subcommand)]
    run: Run,
}

/// One long run.
#[derive(Subcommand, Debug)]
enum Run {
    /// What must hold in generated chats of eight languages: more doubt never grounds more
    Provenance {
        /// How many chats
        #[arg(long, default_value_t = 1_000_000)]
        chats: u64,
        /// The seed, to make the same chats again; a new one when left out
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Random sequences of everything that can happen to a request, on a real database, against a model
    Sequences {
        /// How many sequences
        #[arg(long, default_value_t = 100_000)]
        count: u64,
        /// The first one's seed; each next one has the next number
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Databases at once
        #[arg(long, default_value_t = 3)]
        workers: u64,
    },
    /// Guards taken out of a scratch copy, one at a time: the conversations must go red
    Mutants {
        /// Only these, by the patch's name
        #[arg(long = "only", value_name = "NAME")]
        only: Vec<String>,
    },
    /// Guards of the chat origin taken out of a scratch copy, one at a time: their own tests must go red
    Guards {
        /// Only these, by their names in the list
        #[arg(long = "only", value_name = "NAME")]
        only: Vec<String>,
    },
    /// A small real model behind the OpenAI-compatible wire, the whole bank in front of it
    RealModel,
    /// libFuzzer over the readers of strangers' bytes: the targets of `fuzz/`
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
    /// Ends of the panel, of PostgreSQL and of the connection at every step of a Confirm, and of the bank server at every step of a request
    Crash {
        /// How many seeds every step and victim is tried with
        #[arg(long, default_value_t = 3)]
        seeds: u64,
    },
    /// Mutants of the execution path's SQL against the tests that use a database: none may survive
    SqlMutants(crate::sql_mutants::MutantArguments),
}

/// Runs it in a release build; the run prints its seed, its progress and its figures.
///
/// # Errors
/// When something did not hold, or the run could not be started.
pub async fn run(arguments: &NightlyArguments) -> anyhow::Result<()> {
    let (chats, seed) = match &arguments.run {
        Run::Mutants { only } => return crate::mutants::run(only),
        Run::RealModel => return crate::real_model::run(),
        Run::Guards { only } => return crate::guards::run(only),
        Run::Provenance { chats, seed } => (*chats, *seed),
        Run::Fuzz { seconds } => return crate::fuzz::run(*seconds),
        Run::Sequences {
            count,
            seed,
            workers,
        } => return sequences(*count, *seed, *workers),
        Run::Crash { seeds } => return crashes(*seeds),
        Run::SqlMutants(arguments) => return crate::sql_mutants::run(arguments).await,
    };
    let mut command = crate::cargo::cargo();
    command
        .args([
            "run",
            "--release",
            "--quiet",
            "--package",
            "countersign-provenance",
            "--",
        ])
        .args(["chats", &chats.to_string()])
        .args(seed.map(|seed| seed.to_string()));
    crate::cargo::run(&mut command)
        .context("the run found what must not be; its seed makes the same chats again")
}

/// The panel's own runner of sequences, in a release build; a failure prints the seed of its sequence.
fn sequences(count: u64, seed: u64, workers: u64) -> anyhow::Result<()> {
    let mut command = crate::cargo::cargo();
    command
        .args(["test", "--release", "--quiet"])
        .args([
            "--package",
            "countersign-panel",
            "--test",
            "sequences",
            "--",
        ])
        .args(["--count", &count.to_string()])
        .args(["--seed", &seed.to_string()])
        .args(["--workers", &workers.to_string()]);
    crate::cargo::run(&mut command).context("a sequence broke; its seed plays it again")
}

/// The panel's and the bank server's own tests of ends, with every victim at every step.
fn crashes(seeds: u64) -> anyhow::Result<()> {
    for (package, test, broken) in [
        ("countersign-panel", "panel", "an end left something behind"),
        (
            "countersign-bank-mcp",
            "bank",
            "an end of the bank server left something behind",
        ),
    ] {
        let mut command = crate::cargo::cargo();
        command
            .args(["test", "--package", package, "--test", test])
            .args(["--", "crash::wherever", "--nocapture"])
            .env("COUNTERSIGN_CRASH_SEEDS", seeds.to_string());
        crate::cargo::run(&mut command).context(broken)?;
    }
    Ok(())
}
