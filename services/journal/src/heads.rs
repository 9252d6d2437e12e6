//! A signed head for every line, for the mode that signs each.
//!
//! A line of this file is `<size> <root> <signature>`, root and signature in base64: what differs
//! between one note and the next. [`read_head_line`] makes the whole note of it again.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use countersign_receipts::{Checkpoint, Hash, SignedCheckpoint};

/// The file that takes the heads.
#[derive(Debug)]
pub(crate) struct Heads {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
    /// Length of what was wholly written.
    bytes: u64,
    untidy: bool,
    /// Which file it is.
    identity: (u64, u64),
}

impl Heads {
    /// Opens the file and cuts off an unfinished line, which nobody waited for.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        let bytes = whole_lines(&file)?;
        file.set_len(bytes)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        Ok(Self {
            path: path.to_owned(),
            file,
            line: Vec::new(),
            bytes,
            untidy: false,
            identity,
        })
    }

    /// Adds a head. When the file was set aside or taken away, a new one is begun.
    pub fn append(&mut self, head: &SignedCheckpoint) -> std::io::Result<()> {
        if !self.is_in_place() {
            *self = Self::open(&self.path)?;
        }
        if self.untidy {
            self.file.set_len(self.bytes)?;
            self.untidy = false;
        }
        let signature = head.note.trim_end().rsplit(' ').next().unwrap_or_default();
        self.line.clear();
        writeln!(
            self.line,
            "{} {} {signature}",
            head.checkpoint.size,
            head.checkpoint.root.to_base64()
        )?;
        if let Err(error) = self.file.write_all(&self.line) {
            self.untidy = true;
            return Err(error);
        }
        self.bytes += self.line.len() as u64;
        Ok(())
    }

    fn is_in_place(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }
}

/// How many bytes the whole lines of a file are.
fn whole_lines(file: &File) -> std::io::Result<u64> {
    use std::os::unix::fs::FileExt as _;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(1 << 10);
    let mut tail = vec![0; usize::try_from(length - from).unwrap_or_default()];
    file.read_exact_at(&mut tail, from)?;
    let end = tail.iter().rposition(|byte| *byte == b'\n');
    Ok(end.map_or(from, |end| from + end as u64 + 1))
}

/// The head that a line of the file stands for, with the note to verify; nothing when the line is
/// broken.
#[must_use]
pub fn read_head_line(origin: &str, line: &str) -> Option<SignedCheckpoint> {
    let mut parts = line.split(' ');
    let (size, root, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let note = format!("{origin}\n{size}\n{root}\n\n\u{2014} {origin} {signature}\n");
    let checkpoint = Checkpoint {
        origin: origin.to_owned(),
        size: size.parse().ok()?,
        root: Hash::from_base64(root).ok()?,
    };
    parts
        .next()
        .is_none()
        .then_some(SignedCheckpoint { checkpoint, note })
}
