//! Why a request was not stored.

use countersign_domain::ToolCode;
use countersign_store::{SessionError, action::ActionError, read::ReadError, session};

/// A rule's no: one code of the fixed list and, where one value is at fault, its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {code}")]
pub struct Refusal {
    /// The code a model acts on.
    pub code: ToolCode,
    /// Which argument or value is at fault, by the bank's word for it.
    pub what: Option<&'static str>,
}

impl Refusal {
    pub(crate) const fn new(code: ToolCode) -> Self {
        Self { code, what: None }
    }

    pub(crate) const fn about(code: ToolCode, what: &'static str) -> Self {
        Self {
            code,
            what: Some(what),
        }
    }
}

/// Why a request was not stored. Nothing of it stays once the caller rolls the transaction back.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// A rule says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The session's secret opens nothing any more.
    #[error("the turn is over")]
    TurnEnded,
    /// Somebody else changes this customer's requests. The request is never sent again by itself.
    #[error("another change of this customer is under way")]
    Busy,
    /// What was written is not what was meant to be written. Nothing of it may stay.
    #[error("store a request: {0}")]
    NotAsMeant(&'static str),
    /// A row that the schema forbids came out of the database.
    #[error("decide a request from a stored {0}")]
    Corrupt(&'static str),
    /// The database failed.
    #[error("store a request")]
    Database(#[source] sqlx::Error),
}

impl RequestError {
    /// The code a tool answers with.
    pub const fn code(&self) -> ToolCode {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::TurnEnded => ToolCode::TurnEnded,
            Self::Busy => ToolCode::Busy,
            Self::NotAsMeant(_) | Self::Corrupt(_) | Self::Database(_) => ToolCode::Unavailable,
        }
    }

    /// Which argument or value is at fault, where one is.
    pub const fn what(&self) -> Option<&'static str> {
        match self {
            Self::Refused(refusal) => refusal.what,
            _ => None,
        }
    }
}

impl From<SessionError> for RequestError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Ended => Self::TurnEnded,
            SessionError::Busy => Self::Busy,
            SessionError::Database(error) => Self::Database(error),
        }
    }
}

impl From<sqlx::Error> for RequestError {
    fn from(error: sqlx::Error) -> Self {
        match session::sqlstate(&error).as_deref() {
            Some("CS001") => Self::TurnEnded,
            // lock_not_available, serialization_failure, deadlock_detected
            Some("55P03" | "40001" | "40P01") => Self::Busy,
            _ => Self::Database(error),
        }
    }
}

impl From<ActionError> for RequestError {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::Corrupt(what) => Self::Corrupt(what),
            ActionError::Database(error) => error.into(),
        }
    }
}

impl From<ReadError> for RequestError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Corrupt(what) => Self::Corrupt(what),
            ReadError::Database(error) => error.into(),
        }
    }
}
