//! Reading a whole record as a stranger does: every line of every file, in order.

use std::fs::File;
use std::path::{Path, PathBuf};

use countersign_receipts::{ChainError, Follower, Frontier, Hash};
use serde_json::Value;

use crate::lines::{LineReader, Read};
use crate::{Files, frontier_before};

/// Why a record cannot be read through.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line does not follow from the one before.
    #[error("{path}: {source}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: ChainError,
    },
    /// The first line is not the log's first.
    #[error(
        "{path}: the first line is number {first} of the log; what stood before it is not here"
    )]
    Part {
        /// The file.
        path: PathBuf,
        /// The number of its first line, from zero.
        first: u64,
    },
}

/// One line.
#[derive(Debug)]
pub struct Step<'a> {
    /// The line without its end.
    pub line: &'a [u8],
    /// Its hash.
    pub leaf: Hash,
    /// What it says.
    pub payload: &'a Value,
    /// Where the log stands after it.
    pub frontier: &'a Frontier,
}

/// A record that was read through.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The number of the first line there is, from zero.
    pub first: u64,
    /// Where the log stands after the last.
    pub frontier: Frontier,
    /// Bytes of an unfinished line behind the last.
    pub torn_bytes: u64,
}

/// The files of lines at a path: a record's directory, or one file.
///
/// # Errors
/// [`AuditError::File`] when the directory cannot be read.
pub fn line_files(path: &Path) -> Result<Vec<PathBuf>, AuditError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = Files::new(path).all_lines();
    files.map_err(|source| AuditError::File {
        path: path.to_owned(),
        source,
    })
}

/// Reads every line of these files, in this order, and checks that each follows from the one
/// before. A record that begins in the middle is read only when `part` says so; that its beginning
/// is true is for a signed head to show.
///
/// # Errors
/// [`AuditError`]; `each` has seen the lines before it.
pub fn walk(
    paths: &[PathBuf],
    part: bool,
    mut each: impl FnMut(&Step<'_>),
) -> Result<Walked, AuditError> {
    let mut follower = Follower::new();
    let mut first = 0;
    let mut torn_bytes = 0;
    for (index, path) in paths.iter().enumerate() {
        let failed = |source| AuditError::File {
            path: path.clone(),
            source,
        };
        let broken = |source| AuditError::Broken {
            path: path.clone(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let mut reader = LineReader::new(file, 0).map_err(failed)?;
        let mut at_start = index == 0;
        if torn_bytes > 0 {
            return Err(broken(ChainError {
                line: follower.frontier().size() + 1,
                problem: "the file before ends in an unfinished line",
            }));
        }
        loop {
            let line = match reader.read().map_err(failed)? {
                Read::Line(line) => line,
                Read::Torn(bytes) => {
                    torn_bytes = bytes;
                    break;
                }
                Read::TooLong => {
                    return Err(broken(ChainError {
                        line: follower.frontier().size() + 1,
                        problem: "the line is too long",
                    }));
                }
                Read::End => break,
            };
            if at_start && let Some(before) = frontier_before(line) {
                first = before.size();
                if !part {
                    return Err(AuditError::Part {
                        path: path.clone(),
                        first,
                    });
                }
                follower = Follower::from_frontier(before);
            }
            at_start = false;
            let (leaf, payload) = follower.push(line).map_err(broken)?;
            each(&Step {
                line,
                leaf,
                payload: &payload,
                frontier: follower.frontier(),
            });
        }
    }
    Ok(Walked {
        first,
        frontier: follower.into_frontier(),
        torn_bytes,
    })
}
