//! Verdicts and their exit codes.

use std::fmt;
use std::path::Path;

use countersign_receipts::{CheckpointError, LogVerifier};

/// Exit code for a command line that makes no sense.
pub const USAGE: u8 = 64;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds; what it says.
    Holds(String),
    /// A signature does not hold.
    Signature(String),
    /// Not signed by this key, or for another log.
    Key(String),
    /// A file cannot be read or is not of the form.
    Malformed(String),
    /// The payload is not canonical, or not what was hashed.
    Hash(String),
    /// A line of the log was changed, moved or taken out.
    ChainBreak(String),
    /// The log is shorter than its signed head says.
    Truncated(String),
    /// The log holds other lines than its head was signed for.
    Fork(String),
}

impl Verdict {
    /// The process's exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Holds(_) => 0,
            Self::Signature(_) => 1,
            Self::Key(_) => 2,
            Self::Malformed(_) => 3,
            Self::Hash(_) => 4,
            Self::ChainBreak(_) => 11,
            Self::Truncated(_) => 12,
            Self::Fork(_) => 13,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(what) => write!(formatter, "holds: {what}"),
            Self::Signature(what) => write!(formatter, "REFUSED, signature: {what}"),
            Self::Key(what) => write!(formatter, "REFUSED, key: {what}"),
            Self::Malformed(what) => write!(formatter, "REFUSED, malformed: {what}"),
            Self::Hash(what) => write!(formatter, "REFUSED, hash: {what}"),
            Self::ChainBreak(what) => write!(formatter, "REFUSED, chain broken: {what}"),
            Self::Truncated(what) => write!(formatter, "REFUSED, cut off: {what}"),
            Self::Fork(what) => write!(formatter, "REFUSED, forked: {what}"),
        }
    }
}

impl From<CheckpointError> for Verdict {
    fn from(error: CheckpointError) -> Self {
        let what = error.to_string();
        match error {
            CheckpointError::Malformed => Self::Malformed(what),
            CheckpointError::WrongOrigin | CheckpointError::UnknownKey => Self::Key(what),
            CheckpointError::BadSignature => Self::Signature(what),
        }
    }
}

/// Reads a text file.
pub fn read(path: &Path) -> Result<String, Verdict> {
    std::fs::read_to_string(path)
        .map_err(|error| Verdict::Malformed(format!("{}: {error}", path.display())))
}

/// Reads a public key file.
pub fn read_key(path: &Path) -> Result<LogVerifier, Verdict> {
    LogVerifier::read(&read(path)?).map_err(|error| Verdict::Malformed(error.to_string()))
}
