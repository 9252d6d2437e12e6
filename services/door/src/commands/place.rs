//! Where a door of one's own keeps its record, and the keys that sign it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use countersign_journal::keys::KeyRing;
use countersign_journal::{Files, Mode, Options};
use countersign_policy::Policy;
use countersign_serve::eager;

use crate::door::Record;

/// Most records of one policy that doors write beside each other where no folder is named.
const BESIDE_MAX: usize = 64;

/// Where the record and its keys are.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// The folder of the record; `countersign-door/POLICY-ID` in the user's state folder when not given.
    #[arg(long, value_name = "FOLDER")]
    log: Option<PathBuf>,
    /// The folder of the keys that sign the record; `countersign-door/keys` in the user's configuration
    /// folder when not given. The door never makes one itself: see `keys init`.
    #[arg(long, alias = "key", value_name = "FOLDER")]
    keys: Option<PathBuf>,
    /// How sure a decision must be written before the call goes on.
    #[arg(long, value_enum, default_value = "written")]
    record: RecordMode,
    /// Accept keys that were made for demonstrations.
    #[arg(long)]
    demo: bool,
    /// For how many microseconds to look for the next message before sleeping, while messages follow each other that
    /// fast. Saves two wake-ups a call and costs a core's time meanwhile; 0 for never.
    #[arg(long, value_name = "TIME", default_value_t = eager::LOOK_MICROSECONDS, value_parser = clap::value_parser!(u32).range(..=1000))]
    look_microseconds: u32,
}

/// How sure a decision must be written before the call goes on.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RecordMode {
    /// Chained and handed to the kernel.
    Written,
    /// On the disk.
    Durable,
    /// Under a signature of its own.
    SignEach,
}

/// Reads a policy and fills in the variables of its servers.
///
/// # Errors
/// What is wrong with it, with line and column.
pub fn read_policy(path: &Path) -> anyhow::Result<Policy> {
    let yaml = std::fs::read_to_string(path)
        .with_context(|| format!("read the policy {}", path.display()))?;
    let environment = |name: &str| std::env::var(name).ok();
    Policy::load_with(&yaml, &environment)
        .with_context(|| format!("read the policy {}", path.display()))
}

impl Place {
    /// Has this process's threads look for the next message as long as was asked for.
    pub fn set_look(&self) {
        eager::set_look_microseconds(self.look_microseconds);
    }

    /// Reads the keys and finds the folder of the record.
    ///
    /// # Errors
    /// When there is no key, or one that is exposed, revoked, mismatched or for demonstrations; when
    /// no folder can be had.
    pub fn record(&self, policy: &str) -> anyhow::Result<Record> {
        let keys = match &self.keys {
            Some(keys) => keys.clone(),
            None => user_folder("XDG_CONFIG_HOME", ".config")?.join("keys"),
        };
        let keys = KeyRing::open(&keys, self.demo).context("read the keys of the record")?;
        let mut keys = keys;
        let directory = match &self.log {
            Some(directory) => directory.clone(),
            None => {
                let folder = user_folder("XDG_STATE_HOME", ".local/state")?;
                let (directory, number) = free_folder(&folder.join(policy))?;
                keys = beside(keys, &directory, &format!("{policy}/{number}"))?;
                directory
            }
        };
        Ok(Record {
            directory,
            signer: keys.signer,
            options: Options {
                mode: match self.record {
                    RecordMode::Written => Mode::Written,
                    RecordMode::Durable => Mode::Durable,
                    RecordMode::SignEach => Mode::SignEach,
                },
                earlier_keys: keys.earlier,
                ..Options::default()
            },
        })
    }
}

fn user_folder(variable: &str, in_home: &str) -> anyhow::Result<PathBuf> {
    let folder = match (std::env::var_os(variable), std::env::var_os("HOME")) {
        (Some(folder), _) if !folder.is_empty() => PathBuf::from(folder),
        (_, Some(home)) => PathBuf::from(home).join(in_home),
        _ => bail!("there is no home folder: give --keys and --log"),
    };
    Ok(folder.join("countersign-door"))
}

/// The keys for one of several records that doors write beside each other: two logs under one origin
/// would look like a fork of one. A record that was begun under the keys' own origin keeps it.
fn beside(keys: KeyRing, directory: &Path, name: &str) -> anyhow::Result<KeyRing> {
    let head = std::fs::read_to_string(Files::new(directory).head()).unwrap_or_default();
    if head.lines().next() == Some(keys.signer.origin()) {
        return Ok(keys);
    }
    let signer = keys.signer.beside(name).context("name the record")?;
    let earlier = keys
        .earlier
        .iter()
        .filter_map(|key| key.at(signer.origin()));
    Ok(KeyRing {
        earlier: earlier.collect(),
        signer,
        set: keys.set,
    })
}

/// The first folder whose record no other door writes now, and its number.
fn free_folder(policy: &Path) -> anyhow::Result<(PathBuf, usize)> {
    for number in 1..=BESIDE_MAX {
        let folder = policy.join(number.to_string());
        let is_free = match std::fs::File::open(Files::new(&folder).lock()) {
            Err(_) => true,
            Ok(file) => file.try_lock().is_ok(),
        };
        if is_free {
            return Ok((folder, number));
        }
    }
    bail!(
        "{BESIDE_MAX} doors write records in {} already",
        policy.display()
    )
}
