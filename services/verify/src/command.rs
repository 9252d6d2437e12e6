//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Checks records and receipts offline.
///
/// Exit codes: 0 it holds; 1 a signature does not hold; 2 not this key's; 3 malformed;
/// 4 not canonical, or another hash; 11 a line was changed, moved or taken out; 12 the end was cut
/// off; 13 another past than the one signed for; 64 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "countersign-verify", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// What to check.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// A log: every line follows from the one before, and all of it from a signed head.
    Log(LogArguments),
    /// A receipt: its event is in the log that the key signs for.
    Receipt(ReceiptArguments),
}

/// What a log is checked with.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// The log: one canonical JSON object a line.
    pub file: PathBuf,
    /// A signed head of it. The one to trust is the one that was saved elsewhere, earlier.
    #[arg(long)]
    pub checkpoint: PathBuf,
    /// The log's public key: the JSON file or the one-line form.
    #[arg(long)]
    pub key: PathBuf,
}

/// What a receipt is checked with.
#[derive(Debug, Args)]
pub struct ReceiptArguments {
    /// The receipt's JSON file.
    pub file: PathBuf,
    /// The log's public key: the JSON file or the one-line form.
    #[arg(long)]
    pub key: PathBuf,
}
