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
    /// libFuzzer over the readers of strangers' bytes: the targets of `fuzz/`
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
}

/// Runs it in a release build; the run prints its seed, its progress and its figures.
///
/// # Errors
/// When something did not hold, or the run could not be started.
pub fn run(arguments: &NightlyArguments) -> anyhow::Result<()> {
    let (chats, seed) = match arguments.run {
        Run::Provenance { chats, seed } => (chats, seed),
        Run::Fuzz { seconds } => return crate::fuzz::run(seconds),
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
