//! Where endings are signed and written down.

use countersign_receipts::{Hash, HeldCall, LogSigner, SignedApproval};

/// Where endings are signed and written down.
pub trait Record: Send + Sync {
    /// Signs the endings.
    fn signer(&self) -> &LogSigner;

    /// Writes an ending, or another line about a hold, into the record of decisions.
    ///
    /// # Errors
    /// When it cannot be written; what it says does not happen then.
    fn write(&self, line: &Line<'_>) -> Result<Hash, NotWritten>;

    /// Signs a head over everything that was written.
    ///
    /// # Errors
    /// When it cannot be signed or written; no receipt is shown then.
    fn seal(&self) -> Result<(), NotWritten>;
}

/// A line could not be written down.
#[derive(Debug, thiserror::Error)]
#[error("write a decision about a held call down")]
pub struct NotWritten(#[source] pub anyhow::Error);

/// A line about a hold.
#[derive(Debug, serde::Serialize)]
pub struct Line<'a> {
    v: u32,
    at: String,
    /// `released`, `denied` or `countdown_stopped`.
    event: &'static str,
    call: String,
    hold: String,
    rule: &'a str,
    reason: &'static str,
    /// Who stopped a countdown; who decided stands in the signed record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<&'a SignedApproval>,
}

impl<'a> Line<'a> {
    /// A line about this hold.
    pub fn about(
        held: &'a HeldCall,
        at: String,
        event: &'static str,
        reason: &'static str,
    ) -> Self {
        Self {
            v: 1,
            at,
            event,
            call: hex::encode(held.call),
            hold: hex::encode(held.approval),
            rule: &held.rule,
            reason,
            by: None,
            approval: None,
        }
    }
}
