//! `countersign restore`: a copy into an empty database, checked before and after.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::backup::{FORM, Manifest, digest, dump_file, manifest_file};
use crate::check::{begin_moment, read_keys, state_of};
use crate::database::Database;

/// What is restored, and where to.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// An empty database, as an administrator; the bank's roles must be there already
    #[command(flatten)]
    database: Database,
    /// The public keys of the bank's log (keys.json)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The folder that `countersign backup` made
    #[arg(long, value_name = "FOLDER")]
    from: PathBuf,
}

/// Restores a copy.
///
/// # Errors
/// When the copy was changed, the database is not empty, a program fails, or what was restored is not what was copied.
pub async fn run(arguments: &Args) -> anyhow::Result<()> {
    let keys = read_keys(&arguments.key)?;
    let path = manifest_file(&arguments.from);
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!(
            "read {}: a folder without it is no whole copy",
            path.display()
        )
    })?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
    ensure!(
        manifest.form == FORM,
        "the copy has form {}, and this program reads form {FORM}",
        manifest.form
    );
    let dump = dump_file(&arguments.from);
    ensure!(
        digest(&dump)? == manifest.dump_sha256,
        "{} is not the file that was copied: its bytes changed since",
        dump.display()
    );
    let mut database = arguments.database.connect().await?;
    let taken: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'bank')",
    )
    .fetch_one(&mut database)
    .await?;
    ensure!(
        !taken,
        "a bank is in this database already: give an empty one"
    );
    let file = dump.to_str().context("the folder's name is text")?;
    arguments.database.run(
        "pg_restore",
        &arguments.from,
        &[
            "--exit-on-error",
            "--single-transaction",
            "--no-password",
            file,
        ],
    )?;
    begin_moment(&mut database).await?;
    let state = state_of(&mut database, &keys).await?;
    ensure!(
        state == manifest.state,
        "what was restored is not what was copied: {state} Copied were: {}",
        manifest.state
    );
    println!("{state}");
    println!(
        "This is the bank of {}. A panel that remembers more than {} leaves of the log executes nothing until a person \
         of the bank accepts the gap.",
        manifest.taken_at, state.log_size
    );
    Ok(())
}
