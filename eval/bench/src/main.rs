//! What the door costs, beside floors and a known proxy, all in one run on one machine.
//!
//! It starts programs and reads their figures; it links nothing of the door's. Compare the ratios of one run; the
//! microseconds belong to the machine.

#![expect(
    clippy::float_arithmetic,
    reason = "durations and ratios; no money here"
)]

mod bars;
mod figures;
mod floors;
mod http;
mod screening;
mod stdio;
mod token;
mod workshop;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "countersign-bench",
    about = "Measures what the door costs",
    version
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The door over pipes and over HTTP, beside no door, a relay of bytes and nginx
    Door {
        /// How often every target is started and measured
        #[arg(long, default_value_t = 5)]
        rounds: u32,
        /// Only the targets whose names begin so
        #[arg(long)]
        only: Option<String>,
        /// Fail when a figure misses its bar
        #[arg(long)]
        check: bool,
    },
    /// Print the header of a fresh session token, for the load client
    #[command(hide = true)]
    Token {
        /// The signing key's file
        key: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Door {
            rounds,
            only,
            check,
        } => door(rounds, only.as_deref(), check),
        Command::Token { key } => token::print_header(&key),
    }
}

fn door(rounds: u32, only: Option<&str>, check: bool) -> anyhow::Result<()> {
    let workshop = workshop::Workshop::set_up()?;
    let floors = floors::measure(workshop.folder())?;
    println!(
        "Floors of this run: fdatasync {:.0} µs, Ed25519 signature {:.1} µs, verification {:.1} µs",
        floors.flush, floors.signature, floors.verification
    );
    let mut targets = stdio::targets(&workshop)?;
    targets.extend(http::targets(&workshop)?);
    targets.retain(|target| {
        let name = target["name"].as_str().unwrap_or_default();
        only.is_none_or(|only| name.starts_with(only) || name.ends_with("direct"))
    });
    let figures = figures::measure(&workshop, &targets, rounds)?;
    figures.print();
    let screened = screening::measure(&workshop)?;
    let missed = bars::print(&figures, &floors, screened);
    anyhow::ensure!(!check || missed == 0, "{missed} bars are missed");
    Ok(())
}
