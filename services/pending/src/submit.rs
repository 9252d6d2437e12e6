//! A request from the lock to the answer.

use countersign_domain::{ActionId, ActionKind};
use countersign_store::{
    StoredAction,
    action::{self, Which},
    session,
};
use sqlx::{PgConnection, Postgres, Transaction};

use crate::{
    Request, RequestError,
    facts::Facts,
    limits,
    names::{Names, NamesError},
    place::{self, Place},
    propose::propose,
    status::status,
    write,
};

/// What the customer now has before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The action that waits.
    pub action: ActionId,
    /// What it does.
    pub kind: ActionKind,
    /// The bank's own words for it.
    pub summary: String,
    /// The values the customer has yet to fill in.
    pub open_slots: Vec<&'static str>,
    /// The action it took the place of.
    pub superseded: Option<ActionId>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requested {
    /// It waits for the customer.
    Waiting(Waiting),
    /// The same request waited already; nothing was written.
    AlreadyWaiting(Waiting),
}

/// Puts a request before the customer, under `action` as its id (a fresh UUIDv7 of the caller's).
///
/// The transaction was begun with [`session::begin`]; the caller commits it when this succeeds and rolls it back otherwise.
/// A request is never retried in here: whoever was busy is told so.
///
/// # Errors
/// [`RequestError`]; its [`RequestError::code`] is what a tool answers.
pub async fn request(
    transaction: &mut Transaction<'static, Postgres>,
    request: &Request,
    action: ActionId,
) -> Result<Requested, RequestError> {
    let customer = session::lock_customer(transaction).await?;
    let conversation = session::conversation(transaction).await?;
    let decided = decide(transaction, request, conversation, action, customer).await;
    // A turn that ended meanwhile sees fewer rows than there are; what was decided from them is not told as the reason.
    if matches!(
        decided,
        Err(RequestError::Refused(_) | RequestError::Corrupt(_))
    ) {
        session::customer(transaction).await?;
    }
    decided
}

async fn decide(
    transaction: &mut Transaction<'static, Postgres>,
    request: &Request,
    conversation: countersign_domain::ConversationId,
    action: ActionId,
    customer: countersign_domain::CustomerId,
) -> Result<Requested, RequestError> {
    let facts = Facts::read(transaction, conversation, request).await?;
    let proposal = propose(request, &facts)?;
    let superseded = match place::find(&proposal, &facts)? {
        Place::AlreadyWaiting(open) => {
            let stored = action::load(transaction, Which::One(open.id))
                .await?
                .pop()
                .ok_or(RequestError::NotAsMeant("the open request is not there"))?;
            let waiting = waiting(transaction, &stored, None, &facts).await?;
            return Ok(Requested::AlreadyWaiting(waiting));
        }
        Place::Supersedes(open) => Some(open),
        Place::Free => None,
    };
    limits::check_money(transaction, &proposal, superseded, &facts).await?;
    session::customer(transaction).await?;
    let superseded = superseded.map(|open| open.id);
    let stored = write::store(
        transaction,
        write::Place {
            customer,
            conversation,
            action,
        },
        &proposal,
        superseded,
        &facts,
    )
    .await?;
    let waiting = waiting(transaction, &stored, superseded, &facts).await?;
    tracing::info!(action.id = %action, action.kind = %proposal.kind, "Request {action} waits for the customer");
    Ok(Requested::Waiting(waiting))
}

async fn waiting(
    connection: &mut PgConnection,
    stored: &StoredAction,
    superseded: Option<ActionId>,
    facts: &Facts,
) -> Result<Waiting, RequestError> {
    let names = Names::read(connection, &[&stored.values])
        .await
        .map_err(|error| match error {
            NamesError::Corrupt(what) => RequestError::Corrupt(what),
            NamesError::Database(error) => error.into(),
        })?;
    let status = status(stored, &names, facts.now);
    Ok(Waiting {
        action: stored.id,
        kind: stored.kind,
        summary: status.summary,
        open_slots: status.open_slots,
        superseded,
    })
}
