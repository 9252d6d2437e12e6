//! The file to go on from: the log's frontier and the signed head it must agree with.
//!
//! ```text
//! countersign-record-state/v1
//! segment <number of the segment's first line> <bytes of it that the head covers>
//! size <lines>
//! last <leaf hash of the last line, base64>
//! peak <peaks of the tree without the last line, largest first, base64>
//!
//! <the signed note of the head>
//! ```
//!
//! Nothing in it is believed but what leads to the signed root.

use std::io::Write as _;
use std::path::Path;

use countersign_receipts::{
    Checkpoint, CheckpointError, Frontier, Hash, LogVerifier, SignedCheckpoint,
};

/// The first line.
const HEADER: &str = "countersign-record-state/v1";

/// Where a record stood when its head was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub frontier: Frontier,
    /// The number of the first line of the segment being written.
    pub start: u64,
    /// How many bytes of the segment there are.
    pub bytes: u64,
}

/// A mark that its own signed head vouches for.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub mark: Mark,
    /// Which of the keys signed it.
    pub key: usize,
}

/// Checks a head against several keys and says which one signed it.
///
/// # Errors
/// What the first key's check said, when none of them signed it.
pub(crate) fn verify_any(
    note: &str,
    keys: &[LogVerifier],
) -> Result<(SignedCheckpoint, usize), CheckpointError> {
    let mut refused = CheckpointError::UnknownKey;
    for (index, key) in keys.iter().enumerate() {
        match Checkpoint::verify(note, key) {
            Ok(signed) => return Ok((signed, index)),
            Err(CheckpointError::UnknownKey) => {}
            Err(error) => {
                refused = error;
                break;
            }
        }
    }
    Err(refused)
}

/// The text of a state file.
pub(crate) fn write(mark: &Mark, note: &str) -> String {
    let mut text = format!(
        "{HEADER}\nsegment {} {}\nsize {}\n",
        mark.start,
        mark.bytes,
        mark.frontier.size()
    );
    if let Some(last) = mark.frontier.last() {
        text.push_str(&format!("last {}\n", last.to_base64()));
    }
    for peak in mark.frontier.before() {
        text.push_str(&format!("peak {}\n", peak.to_base64()));
    }
    text.push('\n');
    text.push_str(note);
    text
}

/// Reads a state file; nothing when it is missing, broken, or says what its head does not.
pub(crate) fn read(text: &str, keys: &[LogVerifier]) -> Option<Saved> {
    let (fields, note) = text.split_once("\n\n")?;
    let (signed, key) = verify_any(note, keys).ok()?;
    let mut lines = fields.split('\n');
    if lines.next()? != HEADER {
        return None;
    }
    let (start, bytes) = lines.next()?.strip_prefix("segment ")?.split_once(' ')?;
    let size: u64 = lines.next()?.strip_prefix("size ")?.parse().ok()?;
    let mut lines = lines.peekable();
    let last = match lines.peek().and_then(|line| line.strip_prefix("last ")) {
        Some(last) => {
            let last = Hash::from_base64(last).ok()?;
            lines.next();
            Some(last)
        }
        None => None,
    };
    let before = lines
        .map(|line| Hash::from_base64(line.strip_prefix("peak ")?).ok())
        .collect::<Option<Vec<_>>>()?;
    let frontier = Frontier::from_parts(size, before, last)?;
    let head = &signed.checkpoint;
    if (frontier.size(), frontier.root()) != (head.size, head.root) {
        return None;
    }
    let mark = Mark {
        frontier,
        start: start.parse().ok()?,
        bytes: bytes.parse().ok()?,
    };
    Some(Saved { mark, key })
}

/// Puts a file, readable for its owner alone, in another's place in one step, when the disk has it.
///
/// # Errors
/// When it cannot be written; what stood there stays.
pub fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    put(path, text, true)
}

/// The same, and with `synced` false without waiting for the disk: a crash of the machine may leave
/// an empty file, a crash of the process does not.
pub(crate) fn put(path: &Path, text: &str, synced: bool) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(text.as_bytes())?;
    if synced {
        file.sync_all()?;
    }
    std::fs::rename(&beside, path)
}
