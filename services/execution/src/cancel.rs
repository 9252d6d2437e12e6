//! Cancel: always possible while a request is open, without a step-up.

use countersign_domain::{ActionId, ActionState, Secret};
use countersign_store::session;
use sqlx::PgPool;

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
    match action.state {
        ActionState::Pending | ActionState::Held => {}
        ActionState::Cancelled => return show(&mut transaction, &action, &facts, nonce).await,
        _ => {
            let card = show(&mut transaction, &action, &facts, nonce).await?;
            return Err(ActError::NotOpen(Box::new(card)));
        }
    }
    let moved = sqlx::query!(
        r#"UPDATE bank.pending_action a SET state = 'cancelled', reason = 'cancelled', consumed_through = (
               SELECT max(u.sequence) FROM bank.utterance u WHERE u.customer_id = a.customer_id AND u.conversation_id = a.conversation_id)
            WHERE a.customer_id = bank.current_customer() AND a.action_id = $1 AND a.state IN ('pending', 'held')"#,
        which.uuid()
    )
    .execute(&mut *transaction)
    .await?;
    if moved.rows_affected() != 1 {
        return Err(ActError::SessionEnded);
    }
    let now = session::bank_clock(&mut transaction).await?;
    event::record(
        &mut transaction,
        "cancelled",
        which,
        action.values.version,
        now,
        event::Detail::default(),
    )
    .await?;
    let action = load_one(&mut transaction, which).await?;
    let card = show(&mut transaction, &action, &facts, nonce).await?;
    transaction.commit().await?;
    Ok(card)
}
