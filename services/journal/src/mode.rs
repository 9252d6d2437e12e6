//! How sure a line must be before what it is about goes on.

use countersign_receipts::LogVerifier;
use serde::{Deserialize, Serialize};

use crate::clock;

/// Size from which a file of lines is set aside and a new one begun.
const SEGMENT_BYTES: u64 = 64 << 20;

/// What an append waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Until the line is chained and handed to the kernel: a crash of the process loses none that was settled, a
    /// crash of the machine at most what no head was signed for yet.
    #[default]
    Written,
    /// Until the disk says it has the line, together with all that were written meanwhile.
    Durable,
    /// Until a head that covers the line is signed: its receipt is there at once.
    SignEach,
}

/// How a record is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// What an append waits for.
    pub mode: Mode,
    /// Keys that signed earlier heads and were replaced, not revoked.
    pub earlier_keys: Vec<LogVerifier>,
    /// Size in bytes from which a file of lines is set aside.
    pub segment_bytes_max: u64,
    /// The time of day for the record's own lines.
    pub now: fn() -> String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            earlier_keys: Vec::new(),
            segment_bytes_max: SEGMENT_BYTES,
            now: clock::timestamp,
        }
    }
}
