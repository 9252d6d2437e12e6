//! Why something the customer did on the panel had no effect.

use countersign_store::{SessionError, action::ActionError};

use crate::{Card, step_up::StepUpRefusal};

/// Why an act on the panel had no effect. Nothing was changed, except where a variant says so.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// The panel session has ended.
    #[error("the session has ended")]
    SessionEnded,
    /// Another change of this customer is under way; the same again is safe.
    #[error("another change is under way")]
    Busy,
    /// The database is older than what the panel remembers, or another history; nobody accepted that yet.
    #[error("the database is an older copy")]
    OlderCopy,
    /// No such action among this customer's.
    #[error("no such request")]
    NotFound,
    /// The action is over; the state says how.
    #[error("the request is not open any more")]
    NotOpen(Box<Card>),
    /// The card has changed since it was shown; this is the card now.
    #[error("the card has changed since it was shown")]
    StaleCard(Box<Card>),
    /// It cannot be undone any more, or never could; this is the card now.
    #[error("the time to undo is over")]
    TooLate(Box<Card>),
    /// The time was over. The action is now marked expired.
    #[error("the request has ended")]
    Expired,
    /// The bank refused by a rule. The action is now marked refused.
    #[error("the bank refused: {0}")]
    Refused(String),
    /// The passkey that this wants was not there, or its answer does not count. The code says which; nothing happened.
    #[error("the passkey: {0}")]
    StepUp(StepUpRefusal),
    /// What was typed cannot be taken; the sentence says why.
    #[error("{0}")]
    Invalid(&'static str),
    /// The database failed, or holds what its own schema forbids.
    #[error("act on a request")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<SessionError> for ActError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Ended => Self::SessionEnded,
            SessionError::Busy => Self::Busy,
            SessionError::Database(cause) => Self::Internal(Box::new(cause)),
        }
    }
}

impl From<sqlx::Error> for ActError {
    fn from(error: sqlx::Error) -> Self {
        SessionError::from(error).into()
    }
}

impl From<ActionError> for ActError {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::Database(cause) => cause.into(),
            corrupt @ ActionError::Corrupt(_) => Self::Internal(Box::new(corrupt)),
        }
    }
}

impl From<countersign_domain::record::CanonicalError> for ActError {
    fn from(error: countersign_domain::record::CanonicalError) -> Self {
        Self::Internal(Box::new(error))
    }
}

impl From<countersign_receipts::PayloadError> for ActError {
    fn from(error: countersign_receipts::PayloadError) -> Self {
        Self::Internal(Box::new(error))
    }
}
