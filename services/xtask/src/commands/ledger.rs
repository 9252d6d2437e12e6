//! `cargo xtask ledger`: the export that an auditor takes away.

use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use countersign_testkit::ledger;
use sqlx::{Connection, PgConnection};

/// What `ledger` reads and writes.
#[derive(Args, Debug)]
pub struct LedgerArguments {
    /// The bank's database, as a login that may read all of it
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database: String,
    /// The file to write; it is never written over
    #[arg(long)]
    out: PathBuf,
}

/// Writes the export and says what is in it.
///
/// # Errors
/// When the file is there already, or the database does not answer.
pub async fn run(arguments: &LedgerArguments) -> anyhow::Result<()> {
    let mut database = PgConnection::connect(&arguments.database)
        .await
        .context("reach the bank's database")?;
    let shown = arguments.out.display();
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&arguments.out)
        .with_context(|| format!("make {shown}"))?;
    let exported = ledger::export(&mut database, &mut BufWriter::new(file)).await?;
    println!(
        "{} entries of {} transfers and {} events are in {shown}.",
        exported.entries, exported.transfers, exported.events
    );
    println!("Check it: countersign-verify ledger {shown} --key keys.json");
    Ok(())
}
