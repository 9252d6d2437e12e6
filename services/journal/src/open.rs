//! Opening a record: from its saved state and the lines behind it, or from all of its lines.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use countersign_receipts::{
    CanonicalWriter, Follower, Frontier, Hash, LOG_LINE_BYTES_MAX, LogSigner, LogVerifier,
    SignedCheckpoint, leaf_hash,
};

use crate::journal::Inner;
use crate::lines::{LineReader, Read};
use crate::queue::Queue;
use crate::segment::Segment;
use crate::state_file::{self, Mark, Saved, verify_any};
use crate::{Files, OpenError, Options};

/// A record that may be appended to.
pub(crate) struct Opened {
    pub inner: Inner,
    /// Bytes of an unfinished last line that were cut off.
    pub torn_bytes: u64,
    /// There was nothing, no line and no head.
    pub is_new: bool,
    /// The verifier line of the key that signed the last head, when it is not today's.
    pub earlier_key: Option<String>,
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> OpenError + use<> {
    let path = path.to_owned();
    move |source| OpenError::File { path, source }
}

/// Takes the lock that one process holds.
pub(crate) fn take_lock(files: &Files) -> Result<File, OpenError> {
    let path = files.lock();
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed(&path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(std::fs::TryLockError::WouldBlock) => Err(OpenError::InUse(files.lines())),
        Err(std::fs::TryLockError::Error(error)) => Err(failed(&path)(error)),
    }
}

/// Makes new names in the directory last.
pub(crate) fn sync_directory(files: &Files) -> std::io::Result<()> {
    File::open(files.directory())?.sync_all()
}

/// A file's text; nothing when there is no such file.
fn read_text(path: &Path) -> Result<Option<String>, OpenError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path)(error)),
    }
}

/// Opens a record. See [`crate::Journal::open_with`].
pub(crate) fn open(
    files: &Files,
    signer: &LogSigner,
    options: &Options,
) -> Result<Opened, OpenError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(files.directory())
        .map_err(failed(files.directory()))?;
    let lock = take_lock(files)?;
    finish_setting_aside(files)?;
    let mut keys = vec![signer.verifier()];
    keys.extend(options.earlier_keys.iter().cloned());
    let head = read_head(&files.head(), &keys)?;
    let saved = read_text(&files.state())?.and_then(|text| state_file::read(&text, &keys));
    let position = match (saved, &head) {
        // The state is written first, so it is never older than the head beside it.
        (Some(saved), head) if is_newest(&saved, head.as_ref()) => {
            let key = saved.key;
            Position {
                key: Some(key),
                ..read_tail(files, saved)?
            }
        }
        (_, Some((head, key))) => Position {
            key: Some(*key),
            ..read_all(files, Some(head))?
        },
        (_, None) => {
            let position = read_all(files, None)?;
            // A first run that ended before its first head has written its opening line at most.
            if position.frontier.size() > 1 {
                return Err(OpenError::NoHead(files.head()));
            }
            position
        }
    };
    let lines = files.lines();
    let mut segment = Segment::open(&lines, position.start).map_err(failed(&lines))?;
    segment.roll_back(position.bytes);
    segment.tidy().map_err(failed(&lines))?;
    let mark = Mark {
        frontier: position.frontier.clone(),
        start: position.start,
        bytes: position.bytes,
    };
    let is_new = position.key.is_none() && position.frontier.size() == 0;
    let earlier_key = position.key.filter(|key| *key > 0);
    Ok(Opened {
        is_new,
        inner: Inner {
            segment,
            frontier: position.frontier,
            writer: CanonicalWriter::new(),
            signed: position.signed,
            synced: mark,
            epoch: 0,
            head_failed: false,
            doubtful: false,
            refused: 0,
            queue: Queue::default(),
            lock,
        },
        torn_bytes: position.torn,
        earlier_key: earlier_key.map(|key| keys[key].line()),
    })
}

/// A crash between the two renames of setting aside leaves the new file without its name.
fn finish_setting_aside(files: &Files) -> Result<(), OpenError> {
    let (next, lines) = (files.next(), files.lines());
    if next.exists() {
        if lines.exists() {
            std::fs::remove_file(&next).map_err(failed(&next))?;
        } else {
            std::fs::rename(&next, &lines).map_err(failed(&next))?;
        }
    }
    Ok(())
}

fn read_head(
    path: &Path,
    keys: &[LogVerifier],
) -> Result<Option<(SignedCheckpoint, usize)>, OpenError> {
    let Some(note) = read_text(path)? else {
        return Ok(None);
    };
    let verified = verify_any(&note, keys);
    let head = verified.map_err(|source| OpenError::Head {
        path: path.to_owned(),
        source,
    })?;
    Ok(Some(head))
}

fn is_newest(saved: &Saved, head: Option<&(SignedCheckpoint, usize)>) -> bool {
    let Some((head, _)) = head else { return true };
    let (size, root) = (saved.mark.frontier.size(), saved.mark.frontier.root());
    match head.checkpoint.size.cmp(&size) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => head.checkpoint.root == root,
        std::cmp::Ordering::Greater => false,
    }
}

/// Where the record ends.
struct Position {
    frontier: Frontier,
    start: u64,
    bytes: u64,
    torn: u64,
    signed: Mark,
    key: Option<usize>,
}

/// Reads what was written since the saved state.
fn read_tail(files: &Files, saved: Saved) -> Result<Position, OpenError> {
    let Saved { mark, .. } = saved;
    let cut = || OpenError::CutOrForked(files.lines());
    let aside = files.aside(mark.start);
    let mut set_aside = aside.exists();
    let mut path = if set_aside { aside } else { files.lines() };
    let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    if length < mark.bytes {
        return Err(cut());
    }
    let mut follower = Follower::from_frontier(mark.frontier.clone());
    let (mut start, mut from) = (mark.start, mark.bytes);
    if mark.bytes > 0 {
        let segment = Segment::open(&path, start).map_err(failed(&path))?;
        let line = segment.line_before(mark.bytes, LOG_LINE_BYTES_MAX as u64);
        let leaf = line.map_err(failed(&path))?.map(|line| leaf_hash(&line));
        if leaf != mark.frontier.last() {
            return Err(cut());
        }
    }
    loop {
        let (end, torn) = follow(&path, from, &mut follower, |_| {})?;
        if !set_aside {
            return Ok(Position {
                frontier: follower.into_frontier(),
                start,
                bytes: end,
                torn,
                signed: mark,
                key: None,
            });
        }
        if torn > 0 {
            return Err(cut());
        }
        (start, from) = (follower.frontier().size(), 0);
        let aside = files.aside(start);
        set_aside = aside.exists();
        path = if set_aside { aside } else { files.lines() };
    }
}

/// Reads every line there is and compares with the head.
fn read_all(files: &Files, head: Option<&SignedCheckpoint>) -> Result<Position, OpenError> {
    let paths = files.all_lines().map_err(failed(files.directory()))?;
    let mut follower = Follower::new();
    let wanted = head.map(|head| (head.checkpoint.size, head.checkpoint.root));
    let mut found = follower.frontier().clone();
    let mut agrees = wanted.is_none_or(|wanted| wanted == (0, found.root()));
    let (mut start, mut bytes, mut torn) = (0, 0, 0);
    for (index, path) in paths.iter().enumerate() {
        if torn > 0 {
            return Err(OpenError::CutOrForked(path.clone()));
        }
        if index == 0 {
            follower = Follower::from_frontier(first_frontier(path)?);
        }
        start = follower.frontier().size();
        (bytes, torn) = follow(path, 0, &mut follower, |frontier| {
            if wanted == Some((frontier.size(), frontier.root())) {
                agrees = true;
                found = frontier.clone();
            }
        })?;
    }
    if !agrees {
        return Err(OpenError::CutOrForked(files.lines()));
    }
    // The last file set aside is not the one to go on in.
    if paths.last() != Some(&files.lines()) {
        (start, bytes) = (follower.frontier().size(), 0);
    }
    Ok(Position {
        frontier: follower.into_frontier(),
        start,
        bytes,
        torn,
        // Its place in bytes is not known; only its size is looked at.
        signed: Mark {
            frontier: found,
            start: u64::MAX,
            bytes: 0,
        },
        key: None,
    })
}

/// The frontier before a file's first line: nothing, or what the line says the lost ones led to.
/// A signed head over what follows decides whether that was true.
pub(crate) fn first_frontier(path: &PathBuf) -> Result<Frontier, OpenError> {
    let file = File::open(path).map_err(failed(path))?;
    let mut reader = LineReader::new(file, 0).map_err(failed(path))?;
    let Read::Line(line) = reader.read().map_err(failed(path))? else {
        return Ok(Frontier::new());
    };
    Ok(frontier_before(line).unwrap_or_default())
}

/// The frontier that a line which opens a file names, when it names one.
#[must_use]
pub fn frontier_before(line: &[u8]) -> Option<Frontier> {
    #[derive(serde::Deserialize)]
    struct Opening {
        peaks: Vec<Hash>,
        previous: Hash,
        sequence: u64,
    }
    let opening: Opening = serde_json::from_slice(line).ok()?;
    Frontier::from_peaks(opening.sequence, opening.peaks, opening.previous)
}

/// Follows the lines of one file. Returns where the last whole one ended, and how many bytes of an
/// unfinished one there are behind it.
fn follow(
    path: &Path,
    from: u64,
    follower: &mut Follower,
    mut after: impl FnMut(&Frontier),
) -> Result<(u64, u64), OpenError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((0, 0)),
        Err(error) => return Err(failed(path)(error)),
    };
    let mut reader = LineReader::new(file, from).map_err(failed(path))?;
    loop {
        let broken = |source| OpenError::Broken {
            path: path.to_owned(),
            source,
        };
        match reader.read().map_err(failed(path))? {
            Read::Line(line) => {
                follower.push(line).map_err(broken)?;
                after(follower.frontier());
            }
            Read::Torn(bytes) => return Ok((reader.end(), bytes)),
            Read::TooLong => {
                return Err(broken(countersign_receipts::ChainError {
                    line: follower.frontier().size() + 1,
                    problem: "the line is too long",
                }));
            }
            Read::End => return Ok((reader.end(), 0)),
        }
    }
}
