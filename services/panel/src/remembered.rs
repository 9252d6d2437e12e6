//! The newest head of the bank's log that this panel signed or saw, in a file outside the database.
//!
//! It is written whole or not at all: beside the old one, to the disk, then in its place.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use countersign_execution::{LogMemory, older_copy::LogHead};
use serde::{Deserialize, Serialize};

const NAME: &str = "log-head.json";
const NEXT: &str = "log-head.json.next";
/// The file is shorter than any of this.
const BYTES_MAX: usize = 4096;

/// The file. One panel writes it.
#[derive(Debug)]
pub struct Remembered {
    folder: PathBuf,
    origin: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// The log's name.
    log: String,
    size: i64,
    /// In hexadecimal.
    root: String,
}

impl Remembered {
    /// Finds the file of the log called `origin` and reads it. Without one this is a first start, and the database's own head is
    /// believed once.
    ///
    /// # Errors
    /// When the folder cannot be written, or the file is not what this panel wrote: it is never guessed around.
    pub fn open(folder: &Path, origin: &str) -> anyhow::Result<(Self, LogMemory)> {
        let path = folder.join(NAME);
        let remembered = Self {
            folder: folder.to_owned(),
            origin: origin.to_owned(),
        };
        let kept = match fs::read(&path) {
            Ok(bytes) => Some(remembered.read(&bytes).with_context(|| {
                format!(
                    "{} is not the head of the log that this panel kept. If a person of the bank knows why, move it away; then the \
                     database is believed as it is",
                    path.display()
                )
            })?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                tracing::warn!("No head of the log is remembered; the database is believed as it is");
                None
            }
            Err(error) => {
                return Err(error).with_context(|| format!("read {}", path.display()));
            }
        };
        // What cannot be kept later is better known now.
        let next = folder.join(NEXT);
        File::create(&next).with_context(|| {
            format!(
                "the folder {} of the remembered head of the log cannot be written",
                folder.display()
            )
        })?;
        fs::remove_file(&next).with_context(|| format!("remove {}", next.display()))?;
        Ok((remembered, LogMemory::new(kept)))
    }

    fn read(&self, bytes: &[u8]) -> anyhow::Result<LogHead> {
        ensure!(bytes.len() <= BYTES_MAX, "it is too long");
        let kept: Kept = serde_json::from_slice(bytes).context("its form")?;
        if kept.log != self.origin {
            bail!("it is of the log {:?}", kept.log);
        }
        ensure!(kept.size > 0, "its size");
        let root = hex::decode(&kept.root).context("its root")?;
        Ok(LogHead::stored(kept.size, root)?)
    }

    /// Writes a newer head over the one before.
    ///
    /// # Errors
    /// When the disk does not take it; then the one before stands.
    pub fn keep(&self, head: LogHead) -> io::Result<()> {
        let kept = Kept {
            log: self.origin.clone(),
            size: head.size,
            root: hex::encode(head.root),
        };
        let next = self.folder.join(NEXT);
        let mut file = File::create(&next)?;
        file.write_all(serde_json::to_string(&kept)?.as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, self.folder.join(NAME))?;
        File::open(&self.folder)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_again_and_nothing_else_is() {
        let folder = std::env::temp_dir().join(format!("countersign-head-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let _ = fs::remove_file(folder.join(NAME));
        let (file, memory) = Remembered::open(&folder, "bank.example/log").unwrap();
        assert_eq!(memory.head(), None);
        for size in [7, 9] {
            let head = LogHead {
                size,
                root: [u8::try_from(size).unwrap(); 32],
            };
            file.keep(head).unwrap();
            let (_, memory) = Remembered::open(&folder, "bank.example/log").unwrap();
            assert_eq!(memory.head(), Some(head));
        }
        assert!(Remembered::open(&folder, "another.example/log").is_err());
        for broken in [
            "",
            "{}",
            r#"{"log":"bank.example/log","size":9,"root":"00"}"#,
        ] {
            fs::write(folder.join(NAME), broken).unwrap();
            assert!(
                Remembered::open(&folder, "bank.example/log").is_err(),
                "{broken}"
            );
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
