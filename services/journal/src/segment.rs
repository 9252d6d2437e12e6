//! The file of lines that is being written.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, the place in it where the next line begins, and which file it must still be.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Shared with whoever waits for the disk.
    pub file: Arc<File>,
    pub path: PathBuf,
    /// The number of its first line.
    pub start: u64,
    /// Where the next line begins.
    pub bytes: u64,
    /// Part of a line may stand behind `bytes`.
    pub untidy: bool,
    identity: (u64, u64),
    looked: Instant,
}

/// How long a file that was in its place is taken to be there still. Shorter than anybody takes
/// to remove a directory and send the next call; long enough that a busy record seldom asks.
const LOOK_AGAIN: Duration = Duration::from_micros(800);

fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Segment {
    fn new(file: File, path: PathBuf, start: u64, bytes: u64) -> std::io::Result<Self> {
        let identity = identity(&file.metadata()?);
        Ok(Self {
            file: Arc::new(file),
            path,
            start,
            bytes,
            untidy: false,
            identity,
            looked: Instant::now(),
        })
    }

    /// A new file; what stood under the name is emptied.
    pub fn create(path: &Path, start: u64) -> std::io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        Self::new(file, path.to_owned(), start, 0)
    }

    /// A file that is there, or is made empty.
    pub fn open(path: &Path, start: u64) -> std::io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        let bytes = file.metadata()?.len();
        Self::new(file, path.to_owned(), start, bytes)
    }

    /// Whether the file still stands under its name. Writing into one that does not would succeed
    /// and record nothing.
    pub fn is_in_place(&mut self) -> bool {
        let now = Instant::now();
        if now.duration_since(self.looked) < LOOK_AGAIN {
            return true;
        }
        let found = std::fs::metadata(&self.path);
        let in_place = found.is_ok_and(|found| identity(&found) == self.identity);
        if in_place {
            self.looked = now;
        }
        in_place
    }

    /// Takes another name, after the file was renamed.
    pub fn renamed(&mut self, path: PathBuf) {
        self.path = path;
    }

    /// Cuts off what stands behind the last whole line, when something may.
    pub fn tidy(&mut self) -> std::io::Result<()> {
        if self.untidy {
            self.file.set_len(self.bytes)?;
            self.untidy = false;
        }
        Ok(())
    }

    /// Writes a line with its end in one go, or leaves none of it that would count.
    pub fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        if let Err(error) = self.file.write_all_at(line, self.bytes) {
            self.untidy = true;
            // When even that is refused, it is tried again before the next line.
            let _ = self.tidy();
            return Err(error);
        }
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Goes back to where the file was once.
    pub fn roll_back(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.untidy = true;
        let _ = self.tidy();
    }

    /// Writes the bytes from a place on once more. After a failed sync the kernel may hold them
    /// for written although the disk never had them.
    pub fn write_again(&self, from: u64) -> std::io::Result<()> {
        let mut chunk = vec![0; 64 << 10];
        let mut at = from;
        while at < self.bytes {
            let length =
                usize::try_from(self.bytes - at).map_or(chunk.len(), |left| left.min(chunk.len()));
            self.file.read_exact_at(&mut chunk[..length], at)?;
            self.file.write_all_at(&chunk[..length], at)?;
            at += length as u64;
        }
        Ok(())
    }

    /// The line before `bytes`, without its end; nothing when there is none of a line's length.
    pub fn line_before(&self, bytes: u64, longest: u64) -> std::io::Result<Option<Vec<u8>>> {
        let from = bytes.saturating_sub(longest + 2);
        let mut tail = vec![0; usize::try_from(bytes - from).unwrap_or_default()];
        self.file.read_exact_at(&mut tail, from)?;
        if tail.pop() != Some(b'\n') {
            return Ok(None);
        }
        let begin = tail.iter().rposition(|byte| *byte == b'\n');
        Ok(match begin {
            Some(end_before) => Some(tail.split_off(end_before + 1)),
            None => (from == 0).then_some(tail),
        })
    }
}
