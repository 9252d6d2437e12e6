//! `countersign keys`: one folder, in it one folder for each thing that is signed, in it one form of files.
//!
//! `session` and `request` sign tokens; `receipt` signs the door's record and `checkpoint` the bank's log. Each has a
//! `jwks.json` for everybody and a `<kid>.key` for its signer. The two of logs have `keys.json` beside it, which
//! verifiers of receipts read; what they signed stays good after a rotation, so theirs do not end.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use countersign_identity::{
    REQUEST_LIFETIME_SECONDS, SESSION_LIFETIME_SECONDS_MAX, VerifyingKeyFile,
};
use countersign_journal::keys as log_keys;
use countersign_keys::{Jwk, JwkSet, Overlap, Revoked, public_file, read_set, write_set};
use countersign_receipts::permission::KeyStatus;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Tokens of turns: the chat origin signs, the door verifies
    Session,
    /// Tokens of calls: the door signs, the bank's server verifies
    Request,
    /// Heads of the door's record
    Receipt,
    /// Heads of the bank's log
    Checkpoint,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Session,
        Self::Request,
        Self::Receipt,
        Self::Checkpoint,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Request => "request",
            Self::Receipt => "receipt",
            Self::Checkpoint => "checkpoint",
        }
    }

    /// How long its tokens live, in seconds; none where it signs what stays good.
    const fn token_seconds_max(self) -> Option<u64> {
        match self {
            Self::Session => Some(SESSION_LIFETIME_SECONDS_MAX),
            Self::Request => Some(REQUEST_LIFETIME_SECONDS),
            Self::Receipt | Self::Checkpoint => None,
        }
    }

    fn folder(self, place: &Place) -> PathBuf {
        place.folder.join(self.name())
    }
}

/// Where the keys are.
#[derive(Args, Debug)]
pub struct Place {
    /// The folder of all keys
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Make the first key of each kind
    Init {
        #[command(flatten)]
        place: Place,
        /// How the names of the two logs begin, such as bank.example: a name of yours, without spaces or '+'
        #[arg(long, value_name = "NAME")]
        origin: String,
    },
    /// Show the public keys
    Show {
        #[command(flatten)]
        place: Place,
        /// Of one kind alone, as its jwks.json stands
        #[arg(long, value_name = "KIND")]
        json: Option<Kind>,
    },
    /// Put a new key in the active one's place
    Rotate {
        #[command(flatten)]
        place: Place,
        /// Which
        kind: Kind,
        /// How long the old key's tokens are accepted after the change; the least that refuses nobody when left out
        #[arg(long, value_name = "SECONDS")]
        overlap_seconds: Option<u64>,
    },
    /// Take a key out of use for good, when others may have it
    Revoke {
        #[command(flatten)]
        place: Place,
        /// Which
        kind: Kind,
        /// The key's name, as `show` lists it
        key_id: String,
    },
}

/// Runs the command.
///
/// # Errors
/// When files are not there, are there already, or cannot be read or written.
pub fn run(action: &Action) -> anyhow::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    match action {
        Action::Init { place, origin } => init(place, origin, now),
        Action::Show { place, json } => show(place, *json, now),
        Action::Rotate {
            place,
            kind,
            overlap_seconds,
        } => rotate(place, *kind, *overlap_seconds, now),
        Action::Revoke {
            place,
            kind,
            key_id,
        } => revoke(place, *kind, key_id, now),
    }
}

fn random() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("ask for random bytes: {error}"))?;
    Ok(bytes)
}

fn shown_time(seconds: u64) -> String {
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}

fn init(place: &Place, origin: &str, now: u64) -> anyhow::Result<()> {
    for kind in Kind::ALL {
        ensure!(
            !kind.folder(place).exists(),
            "{} is there already; replace a key with `countersign keys rotate`",
            kind.folder(place).display()
        );
    }
    for kind in Kind::ALL {
        let folder = kind.folder(place);
        let made = match kind.token_seconds_max() {
            Some(_) => countersign_keys::init(&folder, kind.name(), now, &random()?)?.kid,
            None => {
                let last = if kind == Kind::Receipt {
                    "door"
                } else {
                    "bank"
                };
                let origin = format!("{origin}/{last}");
                let made = log_keys::init(&folder, &origin, false, &shown_time(now), &random()?)?;
                write_log_set(&folder)?;
                made.key_id
            }
        };
        println!("{:<10} {made}", kind.name());
    }
    println!(
        "Hand each signer its own folder, and everybody else the jwks.json (or keys.json) in it."
    );
    Ok(())
}

/// The keys of a log in the form of all others.
fn write_log_set(folder: &Path) -> anyhow::Result<()> {
    let set = log_keys::read_public(folder)?;
    let keys = set.keys.iter().map(|entry| {
        let made = seconds(entry.created_at.as_deref())?;
        let bytes = entry
            .key()
            .map_err(|refusal| anyhow::anyhow!("{}", refusal.what))?;
        let file = VerifyingKeyFile::from_bytes(&entry.key_id, bytes.as_bytes())?;
        let mut key = Jwk::new(&file, made, made)?;
        if entry.status == KeyStatus::Revoked {
            key.revoked = Some(Revoked {
                revoked_at: seconds(entry.revoked_at.as_deref())?,
            });
        }
        Ok(key)
    });
    let keys = keys.collect::<anyhow::Result<_>>()?;
    Ok(write_set(&public_file(folder), &JwkSet { keys })?)
}

fn seconds(text: Option<&str>) -> anyhow::Result<u64> {
    let time = OffsetDateTime::parse(text.context("a key without a time")?, &Rfc3339)?;
    Ok(u64::try_from(time.unix_timestamp())?)
}

fn show(place: &Place, json: Option<Kind>, now: u64) -> anyhow::Result<()> {
    if let Some(kind) = json {
        let set = read_set(&public_file(&kind.folder(place)))?;
        println!("{}", serde_json::to_string_pretty(&set)?);
        return Ok(());
    }
    for kind in Kind::ALL {
        let set = read_set(&public_file(&kind.folder(place)))?;
        let signing = set.signing(now).map(|key| key.kid.clone());
        if signing.is_none() {
            println!(
                "{:<10} NOTHING SIGNS: `countersign keys rotate {0}`",
                kind.name()
            );
        }
        for key in &set.keys {
            println!(
                "{:<10} {}  {}",
                kind.name(),
                key.kid,
                state(key, signing.as_deref(), now)
            );
        }
    }
    Ok(())
}

fn state(key: &Jwk, signing: Option<&str>, now: u64) -> String {
    if let Some(revoked) = &key.revoked {
        return format!("revoked {}", shown_time(revoked.revoked_at));
    }
    let end = match key.exp {
        Some(exp) if exp <= now => return format!("ended {}", shown_time(exp)),
        Some(exp) => format!(", ends {}", shown_time(exp)),
        None => String::new(),
    };
    if signing == Some(&key.kid) {
        return format!("signs since {}{end}", shown_time(key.nbf));
    }
    if key.nbf > now {
        return format!("signs from {}", shown_time(key.nbf));
    }
    format!("replaced, verifies{end}")
}

fn rotate(place: &Place, kind: Kind, overlap: Option<u64>, now: u64) -> anyhow::Result<()> {
    let folder = kind.folder(place);
    let Some(token_seconds) = kind.token_seconds_max() else {
        if overlap.is_some() {
            bail!(
                "what {} signed stays good, so there is no overlap",
                kind.name()
            );
        }
        let made = log_keys::rotate(&folder, &shown_time(now), &random()?)?;
        write_log_set(&folder)?;
        println!(
            "made {}; its signer takes it at its next start",
            made.key_id
        );
        return Ok(());
    };
    let overlap = match overlap {
        Some(seconds) => Overlap::new(seconds, token_seconds)?,
        None => Overlap::least(token_seconds),
    };
    let made = countersign_keys::rotate(&folder, kind.name(), overlap, now, &random()?)?;
    println!("made {}; it signs from {}", made.kid, shown_time(made.nbf));
    println!("Where signer and verifiers have copies of the folder, hand them out before that.");
    Ok(())
}

fn revoke(place: &Place, kind: Kind, key_id: &str, now: u64) -> anyhow::Result<()> {
    let folder = kind.folder(place);
    if kind.token_seconds_max().is_some() {
        countersign_keys::revoke(&folder, key_id, now)?;
        println!("revoked {key_id}: nothing it signed is accepted any more");
    } else {
        log_keys::revoke(&folder, key_id, &shown_time(now))?;
        write_log_set(&folder)?;
        println!("revoked {key_id}: hand out keys.json again, so that nothing it signed counts");
    }
    if read_set(&public_file(&folder))?.signing(now).is_none() {
        println!(
            "Nothing signs now: `countersign keys rotate {}`",
            kind.name()
        );
    }
    Ok(())
}
