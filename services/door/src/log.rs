//! The record on disk: one line a decision, written before the decision takes effect.
//!
//! `decisions.jsonl` holds the lines, `decisions.checkpoint` the last signed head. A line is handed
//! to the kernel before the call goes on; a head is signed, over data that is on the disk, at most a
//! second later. What cannot be written or signed stops the door from forwarding.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use countersign_receipts::{
    Chain, ChainError, Checkpoint, CheckpointError, Compact, Hash, LOG_LINE_BYTES_MAX, LogEntry,
    LogSigner, PayloadError, leaf_hash,
};
use serde::Serialize;

/// Name of the file with the lines.
const LINES: &str = "decisions.jsonl";
/// Name of the file with the last signed head.
const HEAD: &str = "decisions.checkpoint";

/// Why the record cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file cannot be read or made.
    #[error("open the record {path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another door writes this record.
    #[error("open the record {0}: another process writes it")]
    InUse(PathBuf),
    /// The lines do not follow from one another.
    #[error("open the record {path}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: ChainError,
    },
    /// The saved head is not one of this key and origin.
    #[error("open the record: the saved head {path} is not this key's")]
    Head {
        /// The file.
        path: PathBuf,
        /// Why.
        source: CheckpointError,
    },
    /// There are fewer lines than a head was signed for, or others.
    #[error("open the record: {0} does not hold what its last head was signed for")]
    CutOrForked(PathBuf),
    /// There are lines and no head, which a door always signs first.
    #[error("open the record: {0} is missing beside lines that were once signed for")]
    NoHead(PathBuf),
    /// The first lines of this run could not be written.
    #[error("open the record")]
    Write(#[from] WriteError),
}

/// Why a line or a head could not be written. The call it is about does not go on.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The event has no canonical form, or is too long.
    #[error("write a decision down: {0}")]
    Payload(#[from] PayloadError),
    /// The line is longer than a verifier reads.
    #[error("write a decision down: too long")]
    TooLong,
    /// The disk refused.
    #[error("write a decision down")]
    Disk(#[from] std::io::Error),
    /// An earlier failure left the file in an unknown state, or heads cannot be signed.
    #[error("write a decision down: the record is out of order since an earlier failure")]
    OutOfOrder,
    /// The head could not be signed.
    #[error("sign the head of the record")]
    Head(#[from] CheckpointError),
}

/// The record of one door.
pub struct DecisionLog {
    signer: LogSigner,
    head_path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    bytes: u64,
    edge: Compact,
    last: Option<Hash>,
    /// Size of the last signed head.
    signed: u64,
    out_of_order: bool,
    head_failed: bool,
}

impl DecisionLog {
    /// Opens the record in a directory, checks what is there against the last signed head, and
    /// goes on from it. Returns how many bytes of an unfinished last line were cut off, too.
    ///
    /// # Errors
    /// [`OpenError`]; the door does not start then.
    pub fn open(directory: &Path, signer: LogSigner) -> Result<(Self, u64), OpenError> {
        std::fs::create_dir_all(directory).map_err(|source| OpenError::File {
            path: directory.to_owned(),
            source,
        })?;
        let path = directory.join(LINES);
        let head_path = directory.join(HEAD);
        let failed = |source| OpenError::File {
            path: path.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(OpenError::InUse(path)),
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        // A line without its end was never answered for: the call it was about did not go on.
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let torn = (bytes.len() - whole) as u64;
        let mut chain = Chain::new();
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            chain
                .push(&line[..line.len() - 1])
                .map_err(|source| OpenError::Broken {
                    path: path.clone(),
                    source,
                })?;
        }
        let signed = check_head(&head_path, &signer, &chain, &path)?;
        file.set_len(whole as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let edge = Compact::load(chain.tree().size(), |node| chain.tree().node(node))
            .map_err(|_| OpenError::CutOrForked(path.clone()))?;
        let log = Self {
            signer,
            head_path,
            state: Mutex::new(State {
                file,
                bytes: whole as u64,
                edge,
                last: chain.last(),
                signed,
                out_of_order: false,
                head_failed: false,
            }),
        };
        Ok((log, torn))
    }

    /// Writes one event down and returns its leaf hash.
    ///
    /// # Errors
    /// [`WriteError`]; what the event is about must not happen then.
    pub fn append(&self, event: &impl Serialize) -> Result<Hash, WriteError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.out_of_order || state.head_failed {
            return Err(WriteError::OutOfOrder);
        }
        let entry = LogEntry {
            event,
            previous: state.last,
            sequence: state.edge.size(),
        };
        let mut line = entry.line()?;
        let leaf = leaf_hash(&line);
        if line.len() > LOG_LINE_BYTES_MAX {
            return Err(WriteError::TooLong);
        }
        line.push(b'\n');
        if let Err(error) = state.file.write_all(&line) {
            // Part of a line may be there; the next one must not be glued to it.
            let before = state.bytes;
            state.out_of_order = state.file.set_len(before).is_err();
            return Err(error.into());
        }
        state.bytes += line.len() as u64;
        state.edge.append_leaf(leaf);
        state.last = Some(leaf);
        Ok(leaf)
    }

    /// Signs the head when there are lines since the last one. Blocks on the disk.
    ///
    /// # Errors
    /// [`WriteError`]; nothing is appended again before a head could be signed.
    pub fn sign_head(&self) -> Result<(), WriteError> {
        let (checkpoint, file) = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.signed == state.edge.size() && !state.head_failed {
                return Ok(());
            }
            let checkpoint = Checkpoint {
                origin: self.signer.origin().to_owned(),
                size: state.edge.size(),
                root: state.edge.root(),
            };
            (checkpoint, state.file.try_clone()?)
        };
        let size = checkpoint.size;
        let written = self.write_head(checkpoint, &file);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.head_failed = written.is_err();
        if written.is_ok() {
            state.signed = state.signed.max(size);
        }
        written
    }

    fn write_head(&self, checkpoint: Checkpoint, file: &File) -> Result<(), WriteError> {
        // A head never speaks of lines that a power cut could take away.
        file.sync_data()?;
        let signed = checkpoint.sign(&self.signer)?;
        let beside = self.head_path.with_extension("checkpoint.new");
        let mut head = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)?;
        head.write_all(signed.note.as_bytes())?;
        head.sync_all()?;
        std::fs::rename(&beside, &self.head_path)?;
        Ok(())
    }

    /// The salt of commitments about one call.
    pub fn salt(&self, call: &[u8; 16]) -> [u8; 32] {
        self.signer.salt(call)
    }

    /// The name of the key that signs the heads.
    pub fn key_id(&self) -> &str {
        self.signer.key_id()
    }
}

/// Compares the lines with the last signed head and returns its size.
fn check_head(
    head_path: &Path,
    signer: &LogSigner,
    chain: &Chain,
    lines_path: &Path,
) -> Result<u64, OpenError> {
    let note = match std::fs::read_to_string(head_path) {
        Ok(note) => note,
        // A first run that ended before its first head has written its opening line at most.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return if chain.tree().size() <= 1 {
                Ok(0)
            } else {
                Err(OpenError::NoHead(head_path.to_owned()))
            };
        }
        Err(source) => {
            return Err(OpenError::File {
                path: head_path.to_owned(),
                source,
            });
        }
    };
    let head = Checkpoint::verify(&note, &signer.verifier()).map_err(|source| OpenError::Head {
        path: head_path.to_owned(),
        source,
    })?;
    let Checkpoint { size, root, .. } = head.checkpoint;
    if chain.tree().root_at(size) == Ok(root) {
        Ok(size)
    } else {
        Err(OpenError::CutOrForked(lines_path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_identity::generate_key;
    use countersign_receipts::LogKeyFile;

    fn signer(seed: u8) -> LogSigner {
        let key = generate_key([seed; 32], "receipts");
        let file = LogKeyFile {
            key_id: key.key_id,
            pkcs8_pem: key.pkcs8_pem,
        };
        LogSigner::new("log.example/door", &file).unwrap()
    }

    fn directory(name: &str) -> PathBuf {
        let directory =
            std::env::temp_dir().join(format!("door-log-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        directory
    }

    fn filled(name: &str, lines: u64) -> PathBuf {
        let directory = directory(name);
        let (log, torn) = DecisionLog::open(&directory, signer(1)).unwrap();
        assert_eq!(torn, 0);
        for line in 0..lines {
            log.append(&serde_json::json!({"event": "allowed", "n": line}))
                .unwrap();
        }
        log.sign_head().unwrap();
        directory
    }

    #[test]
    fn a_record_goes_on_where_it_ended() {
        let directory = filled("goes-on", 3);
        let (log, _) = DecisionLog::open(&directory, signer(1)).unwrap();
        log.append(&serde_json::json!({"event": "allowed"}))
            .unwrap();
        log.sign_head().unwrap();
        let text = std::fs::read_to_string(directory.join(LINES)).unwrap();
        assert!(text.lines().nth(3).unwrap().contains(r#""sequence":3"#));
        let head = std::fs::read_to_string(directory.join(HEAD)).unwrap();
        assert!(head.starts_with("log.example/door\n4\n"), "{head}");
    }

    #[test]
    fn a_record_that_was_cut_changed_or_signed_by_another_is_not_opened() {
        let lines = |directory: &Path, change: fn(&str) -> String| {
            let path = directory.join(LINES);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, change(&text)).unwrap();
            DecisionLog::open(directory, signer(1)).err().unwrap()
        };
        let cut = lines(&filled("cut", 5), |text| {
            text.lines()
                .take(2)
                .map(|line| format!("{line}\n"))
                .collect()
        });
        assert!(matches!(cut, OpenError::CutOrForked(_)), "{cut:?}");
        let emptied = lines(&filled("emptied", 5), |_| String::new());
        assert!(matches!(emptied, OpenError::CutOrForked(_)), "{emptied:?}");
        let changed = lines(&filled("changed", 5), |text| {
            text.replace(r#""n":2"#, r#""n":7"#)
        });
        assert!(matches!(changed, OpenError::Broken { .. }), "{changed:?}");
        let last = lines(&filled("last", 5), |text| {
            text.replace(r#""n":4"#, r#""n":7"#)
        });
        assert!(matches!(last, OpenError::CutOrForked(_)), "{last:?}");
        let other = DecisionLog::open(&filled("other", 5), signer(2))
            .err()
            .unwrap();
        assert!(matches!(other, OpenError::Head { .. }), "{other:?}");
        let headless = filled("headless", 5);
        std::fs::remove_file(headless.join(HEAD)).unwrap();
        let headless = DecisionLog::open(&headless, signer(1)).err().unwrap();
        assert!(matches!(headless, OpenError::NoHead(_)), "{headless:?}");
    }

    #[test]
    fn an_unfinished_last_line_is_cut_off() {
        let directory = filled("torn", 2);
        let path = directory.join(LINES);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"event\":\"allo").unwrap();
        let (log, torn) = DecisionLog::open(&directory, signer(1)).unwrap();
        assert_eq!(torn, 14);
        log.append(&serde_json::json!({"event": "denied"})).unwrap();
        log.sign_head().unwrap();
        drop(log);
        assert!(DecisionLog::open(&directory, signer(1)).is_ok());
    }

    #[test]
    fn two_doors_do_not_write_one_record() {
        let directory = filled("locked", 1);
        let (_first, _) = DecisionLog::open(&directory, signer(1)).unwrap();
        let second = DecisionLog::open(&directory, signer(1)).err().unwrap();
        assert!(matches!(second, OpenError::InUse(_)), "{second:?}");
    }

    #[test]
    fn a_line_that_no_verifier_would_read_is_not_written() {
        let directory = filled("long", 1);
        let (log, _) = DecisionLog::open(&directory, signer(1)).unwrap();
        let long = serde_json::json!({"x": "x".repeat(LOG_LINE_BYTES_MAX)});
        assert!(matches!(log.append(&long), Err(WriteError::TooLong)));
        log.append(&serde_json::json!({"event": "allowed"}))
            .unwrap();
        log.sign_head().unwrap();
        drop(log);
        assert!(DecisionLog::open(&directory, signer(1)).is_ok());
    }

    #[test]
    fn nothing_is_appended_while_heads_cannot_be_signed() {
        let directory = filled("no-head", 1);
        let (log, _) = DecisionLog::open(&directory, signer(1)).unwrap();
        let event = serde_json::json!({"event": "allowed"});
        log.append(&event).unwrap();
        // A directory in the head's place: the rename fails.
        let head = directory.join(HEAD);
        std::fs::remove_file(&head).unwrap();
        std::fs::create_dir_all(head.join("in the way")).unwrap();
        assert!(log.sign_head().is_err());
        assert!(matches!(log.append(&event), Err(WriteError::OutOfOrder)));
        std::fs::remove_dir_all(&head).unwrap();
        log.sign_head().unwrap();
        log.append(&event).unwrap();
    }

    #[test]
    fn a_full_disk_refuses_and_leaves_no_half_line() {
        // Writing to this device always fails, as a full disk does.
        let directory = filled("full", 1);
        let (log, _) = DecisionLog::open(&directory, signer(1)).unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let kept = std::mem::replace(&mut log.state.lock().unwrap().file, full);
        let event = serde_json::json!({"event": "allowed"});
        assert!(matches!(log.append(&event), Err(WriteError::Disk(_))));
        log.state.lock().unwrap().file = kept;
        assert!(matches!(log.append(&event), Err(WriteError::OutOfOrder)));
    }
}
