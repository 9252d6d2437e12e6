//! Verdicts and their exit codes.

use std::fmt;
use std::path::Path;

use countersign_receipts::{CheckpointError, TrustedKeys};

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
    /// An outcome was recorded without a signature.
    Unsigned(String),
    /// The payload is not handed out here.
    Withheld(String),
    /// The claims of an outcome contradict each other.
    Contradiction(String),
    /// Signed, and of a kind that is not known here.
    Unsupported(String),
    /// Signed, and against a rule of its own format, or of another policy.
    Policy(String),
    /// The private record is not the committed one.
    Opening(String),
    /// A line of the log was changed, moved or taken out.
    ChainBreak(String),
    /// The log is shorter than its signed head says.
    Truncated(String),
    /// The log holds other lines than its head was signed for.
    Fork(String),
    /// An entry of the ledger that no receipt stands for.
    Orphan(String),
    /// Something of which there may be one stands there twice.
    Doubled(String),
    /// A receipt whose entries are not in the ledger.
    Missing(String),
    /// A receipt and its entries say different things.
    Differs(String),
    /// The command line makes no sense.
    Usage(String),
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
            Self::Unsigned(_) => 5,
            Self::Withheld(_) => 6,
            Self::Contradiction(_) => 7,
            Self::Unsupported(_) => 8,
            Self::Policy(_) => 9,
            Self::Opening(_) => 10,
            Self::ChainBreak(_) => 11,
            Self::Truncated(_) => 12,
            Self::Fork(_) => 13,
            Self::Orphan(_) => 14,
            Self::Doubled(_) => 15,
            Self::Missing(_) => 16,
            Self::Differs(_) => 17,
            Self::Usage(_) => USAGE,
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
            Self::Unsigned(what) => write!(formatter, "NOT SHOWN, unsigned: {what}"),
            Self::Withheld(what) => write!(formatter, "NOT SHOWN, withheld: {what}"),
            Self::Contradiction(what) => write!(formatter, "REFUSED, contradiction: {what}"),
            Self::Unsupported(what) => write!(formatter, "NOT SHOWN, unknown kind: {what}"),
            Self::Policy(what) => write!(formatter, "REFUSED, policy: {what}"),
            Self::Opening(what) => write!(formatter, "REFUSED, not opened: {what}"),
            Self::Usage(what) => write!(formatter, "wrong usage: {what}"),
            Self::Orphan(what) => write!(formatter, "REFUSED, no receipt or no request: {what}"),
            Self::Doubled(what) => write!(formatter, "REFUSED, twice: {what}"),
            Self::Missing(what) => write!(formatter, "REFUSED, no entries: {what}"),
            Self::Differs(what) => write!(formatter, "REFUSED, not the same: {what}"),
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

/// Reads a file of public keys, in any of the forms.
pub fn read_keys(path: &Path) -> Result<TrustedKeys, Verdict> {
    TrustedKeys::read(&read(path)?).map_err(|error| Verdict::Malformed(error.to_string()))
}
