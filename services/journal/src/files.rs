//! The names of a record's files.

use std::path::{Path, PathBuf};

/// Where the files of one record lie.
#[derive(Clone, Debug)]
pub struct Files {
    directory: PathBuf,
}

impl Files {
    /// The files in a directory.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The lines being written.
    #[must_use]
    pub fn lines(&self) -> PathBuf {
        self.directory.join("decisions.jsonl")
    }

    /// The last signed head.
    #[must_use]
    pub fn head(&self) -> PathBuf {
        self.directory.join("decisions.checkpoint")
    }

    /// The heads of single lines.
    #[must_use]
    pub fn heads(&self) -> PathBuf {
        self.directory.join("decisions.heads")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.join("decisions.state")
    }

    /// The file that the one process that writes holds locked.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.directory.join("decisions.lock")
    }

    /// The next lines' file before it takes its place.
    pub(crate) fn next(&self) -> PathBuf {
        self.directory.join("decisions.next")
    }

    /// Lines that were set aside, by the number of the first.
    pub(crate) fn aside(&self, start: u64) -> PathBuf {
        self.directory.join(format!("decisions-{start:012}.jsonl"))
    }

    /// Heads of lines that were set aside.
    pub(crate) fn heads_aside(&self, start: u64) -> PathBuf {
        self.directory.join(format!("decisions-{start:012}.heads"))
    }

    /// Every file of lines, oldest first; the ones being written last.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn all_lines(&self) -> std::io::Result<Vec<PathBuf>> {
        self.all(".jsonl", self.lines())
    }

    /// Every file of heads of single lines, oldest first.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn all_heads(&self) -> std::io::Result<Vec<PathBuf>> {
        self.all(".heads", self.heads())
    }

    fn all(&self, ending: &str, current: PathBuf) -> std::io::Result<Vec<PathBuf>> {
        let mut aside = Vec::new();
        for entry in std::fs::read_dir(&self.directory)? {
            let name = entry?.file_name();
            let digits = name
                .to_str()
                .and_then(|name| name.strip_prefix("decisions-"))
                .and_then(|name| name.strip_suffix(ending));
            if let Some(start) = digits.and_then(|digits| digits.parse::<u64>().ok()) {
                aside.push((start, self.directory.join(&name)));
            }
        }
        aside.sort_unstable();
        let mut paths: Vec<PathBuf> = aside.into_iter().map(|(_, path)| path).collect();
        if current.exists() {
            paths.push(current);
        }
        Ok(paths)
    }
}
