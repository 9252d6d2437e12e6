//! Where the customer's requests stand, in the bank's words.

use countersign_domain::{ActionId, ActionKind, ActionState};
use countersign_store::{
    StoredAction,
    action::{self, ActionError, Which},
    session,
    slots::open_slots,
};
use sqlx::{Postgres, Transaction};
use time::OffsetDateTime;

use crate::{
    names::{Names, NamesError},
    summary::summary,
};

/// A request as a tool may tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestStatus {
    /// The request.
    pub action: ActionId,
    /// What it does.
    pub kind: ActionKind,
    /// Where it stands. One past its time is expired, whether or not the bank has written that down.
    pub state: ActionState,
    /// The bank's own words for it.
    pub summary: String,
    /// The values the customer has yet to fill in; none once it has ended.
    pub open_slots: Vec<&'static str>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it ends.
    pub expires_at: OffsetDateTime,
    /// What took its place.
    pub superseded_by: Option<ActionId>,
}

impl RequestStatus {
    /// The state's word on the wire: an open request waits for the customer.
    pub const fn status(&self) -> &'static str {
        match self.state {
            ActionState::Pending => "waiting_for_customer",
            state => state.text(),
        }
    }
}

/// Why requests could not be told of.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// The session's secret opens nothing any more.
    #[error("the turn is over")]
    TurnEnded,
    /// A row that the schema forbids came out of the database.
    #[error("tell of a stored {0}")]
    Corrupt(&'static str),
    /// The database failed.
    #[error("tell where requests stand")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StatusError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<ActionError> for StatusError {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::Corrupt(what) => Self::Corrupt(what),
            ActionError::Database(error) => Self::Database(error),
        }
    }
}

impl From<NamesError> for StatusError {
    fn from(error: NamesError) -> Self {
        match error {
            NamesError::Corrupt(what) => Self::Corrupt(what),
            NamesError::Database(error) => Self::Database(error),
        }
    }
}

impl From<session::SessionError> for StatusError {
    fn from(error: session::SessionError) -> Self {
        match error {
            session::SessionError::Database(error) => Self::Database(error),
            // A read takes no lock, so there is nothing to be busy with.
            session::SessionError::Ended | session::SessionError::Busy => Self::TurnEnded,
        }
    }
}

/// The customer's open requests, newest first, of every conversation.
///
/// # Errors
/// [`StatusError`].
pub async fn open_requests(
    transaction: &mut Transaction<'static, Postgres>,
) -> Result<Vec<RequestStatus>, StatusError> {
    let mut open = read(transaction, Which::Open).await?;
    open.retain(|request| matches!(request.state, ActionState::Pending | ActionState::Held));
    Ok(open)
}

/// One request of the customer; `None` for another's as for none.
///
/// # Errors
/// [`StatusError`].
pub async fn request_status(
    transaction: &mut Transaction<'static, Postgres>,
    id: ActionId,
) -> Result<Option<RequestStatus>, StatusError> {
    Ok(read(transaction, Which::One(id)).await?.pop())
}

async fn read(
    transaction: &mut Transaction<'static, Postgres>,
    which: Which,
) -> Result<Vec<RequestStatus>, StatusError> {
    session::customer(transaction).await?;
    let now = session::bank_clock(transaction).await?;
    let actions = action::load(transaction, which).await?;
    let versions: Vec<_> = actions.iter().map(|action| &action.values).collect();
    let names = Names::read(transaction, &versions).await?;
    Ok(actions
        .iter()
        .map(|action| status(action, &names, now))
        .collect())
}

/// Where one action stands at a moment.
pub(crate) fn status(action: &StoredAction, names: &Names, now: OffsetDateTime) -> RequestStatus {
    let state = match action.state {
        ActionState::Pending if action.expires_at <= now => ActionState::Expired,
        state => state,
    };
    let open_slots = if state == ActionState::Pending {
        slot_names(action.kind, &action.values)
    } else {
        Vec::new()
    };
    RequestStatus {
        action: action.id,
        kind: action.kind,
        state,
        summary: summary(action.kind, &action.values, names),
        open_slots,
        created_at: action.created_at,
        expires_at: action.expires_at,
        superseded_by: action.superseded_by,
    }
}

/// The open slots' names, each once.
fn slot_names(kind: ActionKind, values: &countersign_store::StoredVersion) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for open in open_slots(kind, values) {
        if !names.contains(&open.slot) {
            names.push(open.slot);
        }
    }
    names
}
