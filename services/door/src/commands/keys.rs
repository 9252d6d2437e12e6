//! `countersign-door keys`: makes, shows, replaces and revokes the keys that sign the record.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use countersign_journal::keys::{self, KeyRing};
use countersign_receipts::permission::{KeyEntry, KeyStatus};
use countersign_receipts::{LogVerifier, is_demo_key};

use crate::clock;

/// Makes, shows, replaces and revokes the keys that sign the record.
///
/// A folder holds `keys.json`, which is for everybody, and the private keys, which are for their
/// owner alone. The door never makes a key by itself.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Makes the first key.
    Init {
        #[command(flatten)]
        place: Place,
        /// The record's name in its signed heads: a name of yours, without spaces or '+'; this computer's
        /// name and `/door` when not given.
        #[arg(long)]
        origin: Option<String>,
        /// A key for demonstrations: it says so in all it signs, and is refused elsewhere.
        #[arg(long)]
        demo: bool,
    },
    /// Shows the public keys.
    Show {
        #[command(flatten)]
        place: Place,
        /// Print keys.json as it is.
        #[arg(long, conflicts_with_all = ["line", "witness"])]
        json: bool,
        /// Print the active key in the one-line form that verifiers of signed notes read.
        #[arg(long, conflicts_with = "witness")]
        line: bool,
        /// Print the active key in the one-line form of a witness's key.
        #[arg(long)]
        witness: bool,
    },
    /// Makes a new key; the old one stays good for what it signed. Restart the door afterwards.
    Rotate {
        #[command(flatten)]
        place: Place,
    },
    /// Takes a key out of use for good, when others may have it. Nothing it signed counts any more.
    Revoke {
        #[command(flatten)]
        place: Place,
        /// The key's name.
        key_id: String,
    },
}

/// Where the keys are.
#[derive(Debug, clap::Args)]
struct Place {
    /// The folder of the keys; `countersign-door/keys` in the user's configuration folder when not
    /// given.
    #[arg(long, value_name = "FOLDER")]
    keys: Option<PathBuf>,
}

impl Place {
    fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(keys) = &self.keys {
            return Ok(keys.clone());
        }
        let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = of("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| of("HOME").map(|home| PathBuf::from(home).join(".config")))
            .context("there is no home folder: give --keys")?;
        Ok(config.join("countersign-door").join("keys"))
    }
}

/// A name for the record where nobody gave one.
fn own_origin() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    match name.trim() {
        name if !name.is_empty() && name.bytes().all(is_plain) => format!("{name}/door"),
        _ => "localhost/door".to_owned(),
    }
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    match &arguments.action {
        Action::Init {
            place,
            origin,
            demo,
        } => {
            let folder = place.folder()?;
            let random = clock::random_key().context("ask for random bytes")?;
            let origin = origin.clone().unwrap_or_else(own_origin);
            let entry = keys::init(&folder, &origin, *demo, &clock::timestamp(), &random)?;
            println!("made {} in {}", entry.key_id, folder.display());
            println!("The record's name in what it signs: {origin}");
            println!(
                "Hand out {} to whoever checks.",
                keys::public_file(&folder).display()
            );
        }
        Action::Show {
            place,
            json,
            line,
            witness,
        } => show(&place.folder()?, *json, *line, *witness)?,
        Action::Rotate { place } => {
            let folder = place.folder()?;
            let random = clock::random_key().context("ask for random bytes")?;
            let entry = keys::rotate(&folder, &clock::timestamp(), &random)?;
            println!("made {}", entry.key_id);
            println!("Restart the door: it writes the change into the record and signs with it.");
        }
        Action::Revoke { place, key_id } => {
            let folder = place.folder()?;
            keys::revoke(&folder, key_id, &clock::timestamp())?;
            println!("revoked {key_id}");
            println!("Hand out {} again.", keys::public_file(&folder).display());
            println!(
                "A door whose record this key signed goes on in a new record: give it another folder."
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(folder: &Path, json: bool, line: bool, witness: bool) -> anyhow::Result<()> {
    let set = keys::read_public(folder)?;
    if json {
        println!("{}", serde_json::to_string_pretty(&set)?);
        return Ok(());
    }
    if witness {
        println!("{}", keys::open_witness(folder, true)?.verifier().line());
        return Ok(());
    }
    if line {
        let active = set
            .keys
            .iter()
            .find(|entry| entry.status == KeyStatus::Active);
        let key = active.context("no key is active")?.key()?;
        println!("{}", LogVerifier::from_key(&set.issuer, key)?.line());
        return Ok(());
    }
    println!("origin {}", set.issuer);
    for entry in &set.keys {
        println!("{}", describe(entry));
    }
    // Said here so that nobody learns it from a door that does not start.
    match KeyRing::open(folder, true) {
        Ok(ring) if ring.signer.is_demo() => println!("usable for demonstrations alone"),
        Ok(_) => println!("usable"),
        Err(error) => println!("NOT usable: {error}"),
    }
    Ok(())
}

fn describe(entry: &KeyEntry) -> String {
    let status = match entry.status {
        KeyStatus::Active => "active",
        KeyStatus::Rotated => "replaced, checks what it signed",
        KeyStatus::Revoked => "revoked",
    };
    let demo = if is_demo_key(&entry.key_id) {
        ", for demonstrations"
    } else {
        ""
    };
    format!(
        "{}  {status}{demo}  made {}  {}",
        entry.key_id,
        entry.created_at.as_deref().unwrap_or("at an unknown time"),
        entry.public_key_b64
    )
}
