//! The statements that store a request and mark the one it replaces. Nothing else in this crate writes.

use countersign_domain::{ActionId, ConversationId, CustomerId};
use countersign_store::{
    StoredAction,
    action::{self, Which},
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    RequestError,
    event::{self, Created},
    facts::Facts,
    propose::Proposal,
};

/// Who asks, where, and under which id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) customer: CustomerId,
    pub(crate) conversation: ConversationId,
    pub(crate) action: ActionId,
}

/// Stores a proposal, first marking the open action it replaces: at most one may be open at any moment. The row is read back
/// and compared before anybody is told of it.
pub(crate) async fn store(
    connection: &mut PgConnection,
    place: Place,
    proposal: &Proposal,
    superseded: Option<ActionId>,
    facts: &Facts,
) -> Result<StoredAction, RequestError> {
    if let Some(old) = superseded {
        supersede(&mut *connection, place, old, facts.now).await?;
    }
    insert(&mut *connection, place, proposal, facts.newest_message).await?;
    let payload = event::created(&Created {
        action: place.action,
        conversation: place.conversation,
        kind: proposal.kind,
        values: &proposal.values,
        clause: proposal.clause,
        grounded_through: facts.newest_message,
        supersedes: superseded,
        at: facts.now,
    })
    .map_err(|_| RequestError::NotAsMeant("an event without canonical form"))?;
    append_event(&mut *connection, "request_created", place.action, &payload).await?;

    let stored = action::load(connection, Which::One(place.action))
        .await?
        .pop()
        .ok_or(RequestError::NotAsMeant("the row is not there"))?;
    let as_meant = stored.customer == place.customer
        && stored.conversation == place.conversation
        && stored.kind == proposal.kind
        && stored.target_key == proposal.target_key
        && stored.values == proposal.values;
    if as_meant {
        Ok(stored)
    } else {
        Err(RequestError::NotAsMeant("the row holds other values"))
    }
}

async fn supersede(
    connection: &mut PgConnection,
    place: Place,
    old: ActionId,
    now: OffsetDateTime,
) -> Result<(), RequestError> {
    let updated = sqlx::query!(
        r#"UPDATE bank.pending_action SET state = 'superseded', superseded_by = $3
            WHERE customer_id = $1 AND action_id = $2 AND state = 'pending'"#,
        place.customer.uuid(),
        old.uuid(),
        place.action.uuid()
    )
    .execute(&mut *connection)
    .await?;
    if updated.rows_affected() != 1 {
        return Err(RequestError::NotAsMeant("the open request is not open"));
    }
    let payload = event::superseded(old, place.action, now)
        .map_err(|_| RequestError::NotAsMeant("an event without canonical form"))?;
    append_event(connection, "superseded", old, &payload).await
}

async fn insert(
    connection: &mut PgConnection,
    place: Place,
    proposal: &Proposal,
    grounded_through: i64,
) -> Result<(), RequestError> {
    let values = &proposal.values;
    sqlx::query!(
        r#"INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
           VALUES ($1, $2, $3, $4, $5, $6)"#,
        place.customer.uuid(),
        place.action.uuid(),
        place.conversation.uuid(),
        proposal.kind.text(),
        proposal.target_key,
        grounded_through
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        r#"INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, card_id, order_id, transaction_id,
             frequency, start_date, dispute_reason, profile_field, rules_version, provenance_version)
           VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"#,
        place.customer.uuid(),
        place.action.uuid(),
        values.currency.map(|currency| currency.code()),
        values.from_account.map(|id| id.uuid()),
        values.card.map(|id| id.uuid()),
        values.order.map(|id| id.uuid()),
        values.transaction.map(|id| id.uuid()),
        values.frequency.map(|frequency| frequency.text()),
        values.start_date,
        values.dispute_reason.map(|reason| reason.text()),
        values.profile_field.map(|field| field.text()),
        values.rules_version,
        values.provenance_version
    )
    .execute(&mut *connection)
    .await?;
    for line in &values.lines {
        sqlx::query!(
            r#"INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, own_account_id, amount_minor_units)
               VALUES ($1, $2, 1, $3, $4, $5, $6)"#,
            place.customer.uuid(),
            place.action.uuid(),
            line.line_number,
            line.payee.map(|id| id.uuid()),
            line.own_account.map(|id| id.uuid()),
            line.amount.map(|amount| amount.count())
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

async fn append_event(
    connection: &mut PgConnection,
    kind: &str,
    action: ActionId,
    payload: &[u8],
) -> Result<(), RequestError> {
    sqlx::query!(
        "SELECT bank.append_event($1, $2, $3)",
        kind,
        action.uuid(),
        payload
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}
