//! What caps counted today, kept beside the record: a door that is started again has not forgotten.
//!
//! The file is written whole after every change, before the call goes on that changed it. Sums of a
//! session are not kept: a door that is started again has new sessions.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use countersign_policy::{CapKey, CapLedger, CapWindow, Decimal, Reservation};
use serde::{Deserialize, Serialize};

/// Name of the file, beside the record.
const FILE: &str = "caps.json";
/// Longest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 32 << 20;
/// Seconds of a day; days are counted in UTC.
const DAY_SECONDS: i64 = 86_400;

/// The sums of a door's caps, in memory and on disk.
pub struct Caps {
    ledger: CapLedger,
    path: PathBuf,
    /// One writing at a time, so that an older state never takes a newer one's place.
    writing: Mutex<()>,
}

/// Why sums cannot be kept. A call that was counted does not go on then.
#[derive(Debug, thiserror::Error)]
pub enum CapsError {
    /// The file cannot be read or written.
    #[error("keep the sums of caps in {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is there and is none.
    #[error("read the sums of caps in {path}: not of the form that a door writes")]
    Malformed {
        /// Which.
        path: PathBuf,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    sums: Vec<KeptSum>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSum {
    rule: String,
    identity: String,
    /// Days since 1970-01-01, UTC.
    day: i64,
    amount: String,
}

impl Caps {
    /// The sums that stand beside the record in this folder; none where there is no file yet.
    ///
    /// # Errors
    /// [`CapsError`]; a door does not start with sums that it cannot read.
    pub fn open(directory: &Path, unix_seconds: u64) -> Result<Self, CapsError> {
        let path = directory.join(FILE);
        let unix_seconds = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
        let caps = Self {
            ledger: CapLedger::new(),
            path,
            writing: Mutex::default(),
        };
        let text = match std::fs::metadata(&caps.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(caps),
            Err(error) => return Err(caps.failed(error)),
            Ok(file) if file.len() > FILE_BYTES_MAX => return Err(caps.malformed()),
            Ok(_) => std::fs::read(&caps.path).map_err(|error| caps.failed(error))?,
        };
        let kept: Kept = serde_json::from_slice(&text).map_err(|_| caps.malformed())?;
        let today = unix_seconds.div_euclid(DAY_SECONDS);
        let mut sums = Vec::with_capacity(kept.sums.len());
        for sum in kept.sums {
            let amount: Decimal = sum.amount.parse().map_err(|_| caps.malformed())?;
            if kept.version != 1 || amount.is_negative() {
                return Err(caps.malformed());
            }
            // A clock that was put back must not bring yesterday's allowance back: what was counted
            // for a later day counts for today as well.
            if sum.day >= today {
                let key = CapKey {
                    rule: sum.rule.into(),
                    identity: sum.identity.into(),
                    window: CapWindow::Day(today),
                };
                sums.push((key, amount));
            }
        }
        caps.ledger.restore(sums, unix_seconds);
        Ok(caps)
    }

    /// What decisions count with.
    pub const fn ledger(&self) -> &CapLedger {
        &self.ledger
    }

    /// Keeps what a decision counted, before its call goes on.
    ///
    /// # Errors
    /// [`CapsError`]; the call does not go on, and what it counted is to be given back.
    pub fn keep(&self, counted: &Reservation) -> Result<(), CapsError> {
        if counted.is_empty() {
            return Ok(());
        }
        self.write()
    }

    /// Gives back what was counted for a call that never ran.
    pub fn give_back(&self, counted: Reservation) {
        if counted.is_empty() {
            return;
        }
        self.ledger.give_back(counted);
        // What stands in the file is more than was spent until the next writing: the careful side.
        if let Err(error) = self.write() {
            tracing::error!(%error, "Could not give back what a cap had counted");
        }
    }

    fn write(&self) -> Result<(), CapsError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums: Vec<_> = self
            .ledger
            .sums()
            .into_iter()
            .filter_map(|(key, amount)| match key.window {
                CapWindow::Day(day) => Some(KeptSum {
                    rule: key.rule.into(),
                    identity: key.identity.into(),
                    day,
                    amount: amount.to_string(),
                }),
                CapWindow::Session(_) => None,
            })
            .collect();
        sums.sort_by(|one, other| {
            (&one.rule, &one.identity, one.day).cmp(&(&other.rule, &other.identity, other.day))
        });
        let text = serde_json::to_vec(&Kept { version: 1, sums })
            .map_err(|error| self.failed(error.into()))?;
        let beside = self.path.with_extension("new");
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| std::fs::rename(&beside, &self.path));
        written.map_err(|error| self.failed(error))
    }

    fn failed(&self, source: std::io::Error) -> CapsError {
        CapsError::File {
            path: self.path.clone(),
            source,
        }
    }

    fn malformed(&self) -> CapsError {
        CapsError::Malformed {
            path: self.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_policy::{Call, Circumstances, Live, Policy, RateLimiter, Reason};
    use countersign_wire::{Caps as Limits, Document};

    const POLICY: &str = "version: 1\nid: t\ndefault: deny\nrequire_pins: false\nservers: {s: {}}\n\
        tools:\n  quote:\n    args: {amount: {type: string}}\n    cap: {argument: amount, per_call: '60', per_day: '100.00', per_session: '1000'}\n";
    const NOON: i64 = 1_800_000_000;

    fn directory(name: &str) -> PathBuf {
        let directory =
            std::env::temp_dir().join(format!("door-caps-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    fn buy(caps: &Caps, policy: &Policy, amount: &str, now: i64) -> Result<Reservation, Reason> {
        let text = format!(r#"{{"amount":"{amount}"}}"#);
        let document = Document::read(text.as_bytes(), &Limits::MESSAGE).unwrap();
        let pin = countersign_policy::definition_pin("{}").unwrap();
        let decision = policy.decide_call_in(
            &Call {
                server: "s",
                name: "quote",
                arguments: Some(document.root()),
                live: Live::Offered(pin),
                identity: "ada",
                now_milliseconds: 0,
            },
            &Circumstances {
                session: Some("one"),
                unix_seconds: now,
                caps: Some(caps.ledger()),
                ..Circumstances::default()
            },
            &RateLimiter::new(),
        );
        match decision.effect {
            countersign_policy::Effect::Allow => {
                caps.keep(&decision.counted).unwrap();
                Ok(decision.counted)
            }
            _ => Err(decision.reason),
        }
    }

    #[test]
    fn a_door_that_is_started_again_has_not_forgotten_the_day() {
        let policy = Policy::load(POLICY).unwrap();
        let directory = directory("again");
        let caps = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        buy(&caps, &policy, "59.99", NOON).unwrap();
        let again = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        assert!(
            buy(&again, &policy, "40.01", NOON).is_err(),
            "100 is reached"
        );
        buy(&again, &policy, "40.00", NOON).unwrap();
        let again = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        assert!(buy(&again, &policy, "0.01", NOON).is_err());
        let tomorrow = NOON + DAY_SECONDS;
        let next = Caps::open(&directory, tomorrow.unsigned_abs()).unwrap();
        buy(&next, &policy, "59.99", tomorrow).unwrap();
        // A clock that is put back gives nothing back.
        let back = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        assert!(buy(&back, &policy, "40.01", NOON).is_err());
    }

    #[test]
    fn what_never_ran_is_given_back_on_disk_too() {
        let policy = Policy::load(POLICY).unwrap();
        let directory = directory("given-back");
        let caps = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        let counted = buy(&caps, &policy, "59.99", NOON).unwrap();
        assert!(buy(&caps, &policy, "50", NOON).is_err());
        caps.give_back(counted);
        let again = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        buy(&again, &policy, "50", NOON).unwrap();
    }

    #[test]
    fn sums_that_cannot_be_read_or_written_stop_the_door() {
        let policy = Policy::load(POLICY).unwrap();
        for (name, text) in [
            ("empty", ""),
            ("list", "[]"),
            (
                "version",
                r#"{"version":2,"sums":[{"rule":"r","identity":"a","day":1,"amount":"1"}]}"#,
            ),
            (
                "negative",
                r#"{"version":1,"sums":[{"rule":"r","identity":"a","day":1,"amount":"-1"}]}"#,
            ),
            ("unknown", r#"{"version":1,"sums":[],"more":1}"#),
        ] {
            let directory = directory(name);
            std::fs::write(directory.join(FILE), text).unwrap();
            let opened = Caps::open(&directory, NOON.unsigned_abs());
            assert!(matches!(opened, Err(CapsError::Malformed { .. })), "{name}");
        }
        let directory = directory("gone");
        let caps = Caps::open(&directory, NOON.unsigned_abs()).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
        let text = r#"{"amount":"1"}"#;
        let document = Document::read(text.as_bytes(), &Limits::MESSAGE).unwrap();
        let counted = policy
            .decide_call_in(
                &Call {
                    server: "s",
                    name: "quote",
                    arguments: Some(document.root()),
                    live: Live::Offered(countersign_policy::definition_pin("{}").unwrap()),
                    identity: "ada",
                    now_milliseconds: 0,
                },
                &Circumstances {
                    session: Some("one"),
                    unix_seconds: NOON,
                    caps: Some(caps.ledger()),
                    ..Circumstances::default()
                },
                &RateLimiter::new(),
            )
            .counted;
        assert!(!counted.is_empty());
        assert!(caps.keep(&counted).is_err());
        assert!(caps.keep(&Reservation::default()).is_ok());
    }
}
