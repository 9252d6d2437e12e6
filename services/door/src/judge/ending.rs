//! How each forwarded call ended, for the record.

use std::sync::Arc;

use countersign_journal::Mode;
use countersign_receipts::Hash;

use crate::log::DecisionLog;
use crate::record::Outcome;

/// How a forwarded call ends; written down when it is dropped.
///
/// Until somebody says otherwise the call was cancelled: whoever waited for it went away.
pub struct Ending {
    log: Arc<DecisionLog>,
    decision: Hash,
    event: Option<&'static str>,
    status: Option<u16>,
    bytes: u64,
}

impl Ending {
    /// The ending of the call whose decision has this leaf.
    pub const fn of(log: Arc<DecisionLog>, decision: Hash) -> Self {
        Self {
            log,
            decision,
            event: Some("cancelled"),
            status: None,
            bytes: 0,
        }
    }

    /// The leaf of the decision that let the call pass.
    pub const fn leaf(&self) -> Hash {
        self.decision
    }

    /// The head of the answer is there: an HTTP status.
    pub const fn head(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// The whole answer of this many bytes was read.
    pub const fn answered(&mut self, bytes: u64) {
        self.event = Some("answered");
        self.bytes = bytes;
    }

    /// The server did not answer as it must.
    pub const fn failed(&mut self) {
        self.event = Some("failed");
    }

    /// The call never went on under this line: there is nothing to write.
    pub fn never_went_on(mut self) {
        self.event = None;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Some(event) = self.event else { return };
        let outcome = Outcome::new(event, self.decision, self.status, self.bytes);
        // It has happened already: nothing waits until the disk has it.
        let noted = self
            .log
            .note(&outcome)
            .and_then(|ticket| match self.log.mode() {
                Mode::SignEach => self.log.settle(&ticket),
                Mode::Written | Mode::Durable => Ok(()),
            });
        if let Err(error) = noted {
            tracing::error!(%error, "Could not record how a call ended");
        }
    }
}

impl std::fmt::Debug for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Ending({:?})", self.event)
    }
}
