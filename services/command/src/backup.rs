//! `countersign backup`: one moment of the whole bank in a folder, with what is true of it.

use std::fs::{DirBuilder, File};
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::check::{State, begin_moment, read_keys, state_of};
use crate::database::Database;

/// The form of the folder.
pub const FORM: u32 = 1;

/// What is copied, and where to.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    database: Database,
    /// The public keys of the bank's log (keys.json)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The folder to make
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// What is true of a copy, beside it in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The folder's form.
    pub form: u32,
    /// When it was taken, RFC 3339.
    pub taken_at: String,
    /// SHA-256 of the dump, in hexadecimal.
    pub dump_sha256: String,
    /// What stands in it.
    pub state: State,
}

/// The dump in a folder.
#[must_use]
pub fn dump_file(folder: &Path) -> PathBuf {
    folder.join("bank.dump")
}

/// The manifest in a folder.
#[must_use]
pub fn manifest_file(folder: &Path) -> PathBuf {
    folder.join("manifest.json")
}

/// Hashes a file of any length.
///
/// # Errors
/// When it cannot be read.
pub fn digest(path: &Path) -> anyhow::Result<String> {
    let mut file = File::open(path).with_context(|| format!("read {}", path.display()))?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex::encode(hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}

/// Copies the bank. A bank that does not agree with itself is not copied over the last good copy's name.
///
/// # Errors
/// When the folder is there already, the bank does not agree with itself, or a program fails.
pub async fn run(arguments: &Args) -> anyhow::Result<()> {
    let keys = read_keys(&arguments.key)?;
    let mut database = arguments.database.connect().await?;
    begin_moment(&mut database).await?;
    let state = state_of(&mut database, &keys).await?;
    // pg_dump sees exactly the moment that was checked.
    let snapshot: String = sqlx::query_scalar("SELECT pg_export_snapshot()")
        .fetch_one(&mut database)
        .await?;
    let out = &arguments.out;
    DirBuilder::new()
        .mode(0o700)
        .create(out)
        .with_context(|| format!("make the folder {}", out.display()))?;
    let dump = dump_file(out);
    let file = format!("--file={}", dump.display());
    let snapshot = format!("--snapshot={snapshot}");
    arguments.database.run(
        "pg_dump",
        out,
        &["--format=custom", "--no-password", &snapshot, &file],
    )?;
    std::fs::set_permissions(&dump, std::fs::Permissions::from_mode(0o600))?;
    let manifest = Manifest {
        form: FORM,
        taken_at: OffsetDateTime::now_utc().format(&Rfc3339)?,
        dump_sha256: digest(&dump)?,
        state,
    };
    // Written last: a folder without it is no copy.
    std::fs::write(
        manifest_file(out),
        serde_json::to_string_pretty(&manifest)? + "\n",
    )?;
    println!("{}", manifest.state);
    println!(
        "The copy is in {}. It holds customers' data: keep it as the database is kept.",
        out.display()
    );
    Ok(())
}
