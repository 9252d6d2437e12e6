//! Why a record does not open, and why it cannot be written.

use std::path::PathBuf;

use countersign_receipts::{ChainError, CheckpointError, PayloadError};

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
    /// The event has no canonical form.
    #[error("write a decision down: {0}")]
    Payload(#[from] PayloadError),
    /// The line is longer than a verifier reads.
    #[error("write a decision down: too long")]
    TooLong,
    /// The disk refused.
    #[error("write a decision down")]
    Disk(#[from] std::io::Error),
    /// The disk did not confirm the batch this line was in; the line was taken back.
    #[error("write a decision down: the disk did not confirm it")]
    Unsettled,
    /// The record's directory or file is not where it was.
    #[error(
        "write a decision down: the record {0} is gone; put it back, or make its directory again to go on without what is lost"
    )]
    Gone(PathBuf),
    /// Something else stands where the record was.
    #[error("write a decision down: {0} is not the record this process wrote; put that back")]
    Replaced(PathBuf),
    /// Heads cannot be signed since an earlier failure.
    #[error(
        "write a decision down: the record is out of order since its head could not be written"
    )]
    OutOfOrder,
    /// The head could not be signed.
    #[error("sign the head of the record")]
    Head(#[from] CheckpointError),
}
