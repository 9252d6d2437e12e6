//! Cancel: always possible while a request is open, without a step-up.

use countersign_domain::{ActionId, ActionState, Secret, lifecycle::ActionAct};
use countersign_store::{action::StoredAction, session};
use sqlx::{PgPool, Postgres, Transaction};

use crate::{
    ActError, Card,
    cards::{NonceSource, load_one, show},
    event,
    facts::Facts,
};

/// Cancels an open action and returns its card. A second Cancel is the same answer.
///
/// # Errors
/// [`ActError::NotOpen`] with the card when it ended otherwise before.
pub async fn cancel(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    nonce: NonceSource<'_>,
) -> Result<Card, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::lock_customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    let facts = Facts::load(&mut transaction).await?;
    if action.state.after(ActionAct::Cancel).is_none() {
        let card = show(&mut transaction, &action, &facts, nonce).await?;
        return match action.state {
            ActionState::Cancelled => Ok(card),
            _ => Err(ActError::NotOpen(Box::new(card))),
        };
    }
    write(&mut transaction, &action, "cancelled").await?;
    let action = load_one(&mut transaction, which).await?;
    let card = show(&mut transaction, &action, &facts, nonce).await?;
    transaction.commit().await?;
    Ok(card)
}

/// Marks an open action cancelled, with the event that records it. The caller holds the customer's lock.
pub(crate) async fn write(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    reason: &str,
) -> Result<(), ActError> {
    let moved = sqlx::query!(
        r#"UPDATE bank.pending_action a SET state = 'cancelled', reason = $2, consumed_through = (
               SELECT max(u.sequence) FROM bank.utterance u WHERE u.customer_id = a.customer_id AND u.conversation_id = a.conversation_id)
            WHERE a.customer_id = (SELECT bank.current_customer()) AND a.action_id = $1 AND a.state IN ('pending', 'held')"#,
        action.id.uuid(),
        reason
    )
    .execute(&mut **transaction)
    .await?;
    if moved.rows_affected() != 1 {
        return Err(ActError::SessionEnded);
    }
    let now = session::bank_clock(transaction).await?;
    event::record(
        transaction,
        "cancelled",
        action.id,
        action.values.version,
        now,
        event::Detail::default(),
    )
    .await
}
