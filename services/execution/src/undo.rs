//! Undo: the customer takes a confirmed payment back while it has not left. It needs no step-up.

use countersign_domain::{ActionId, Secret};
use countersign_store::session;
use sqlx::PgPool;

use crate::{
    ActError, Card, LogMemory,
    cards::{NonceSource, one_card},
};

/// Voids the payments of a confirmed action and returns its card. A second Undo is the same answer.
///
/// # Errors
/// [`ActError::TooLate`] with the card when the time was over by the bank's clock under the lock, or there was nothing to undo.
pub async fn undo(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    nonce: NonceSource<'_>,
    log: &LogMemory,
) -> Result<Card, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    // In an older copy a payment may seem to wait that has left.
    if !log.stands(&mut transaction).await? {
        return Err(ActError::OlderCopy);
    }
    let outcome = sqlx::query_scalar!(r#"SELECT bank.undo_action($1) AS "outcome!""#, which.uuid())
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    // Drawn without the lock: others wait for it, and nothing is decided from this picture.
    let card = one_card(pool, secret, which, nonce).await?;
    match outcome.as_str() {
        "undone" | "already_undone" => Ok(card),
        _ => Err(ActError::TooLate(Box::new(card))),
    }
}
