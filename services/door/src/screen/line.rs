//! The line in the record about a message that screening changed, labelled or stopped.

use countersign_receipts::Hash;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::label::Counts;
use crate::clock;

/// Version of the line's form.
const VERSION: u32 = 1;

/// What screening did to one message of a server or to the arguments of a call.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    v: u32,
    at: String,
    /// `screened`, or `screened_out` when it does not pass.
    event: &'static str,
    server: &'a str,
    /// The leaf of the decision whose answer it is; none of what nobody asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Hash>,
    /// `result`, `definitions`, `message` or `arguments`.
    what: &'a str,
    #[serde(flatten)]
    counts: &'a Counts,
    /// Commitment to the message as it was received.
    received: String,
    /// Commitment to the message as it is forwarded; none when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded: Option<String>,
}

impl<'a> Line<'a> {
    /// The line about a message: its bytes, and those that go on. `salt` is that of its
    /// commitments.
    pub fn new(
        server: &'a str,
        decision: Option<Hash>,
        what: &'a str,
        counts: &'a Counts,
        salt: &[u8; 32],
        (received, forwarded): (&[u8], Option<&[u8]>),
    ) -> Self {
        Self {
            v: VERSION,
            at: clock::timestamp(),
            event: if forwarded.is_some() {
                "screened"
            } else {
                "screened_out"
            },
            server,
            decision,
            what,
            counts,
            received: commit(salt, received),
            forwarded: forwarded.map(|bytes| commit(salt, bytes)),
        }
    }
}

/// SHA-256 of the salt and the bytes, in hexadecimal.
fn commit(salt: &[u8; 32], bytes: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(salt);
    hasher.update(bytes);
    hex::encode(hasher.finalize())
}
