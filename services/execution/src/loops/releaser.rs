//! The releaser: looks after held payments and lets go what may go.
//!
//! Its own login only finds them. Each is released in a session of its customer that the panel opens for that and ends after it.

use countersign_domain::{ActionId, CustomerId, Secret};
use countersign_store::session;
use sqlx::PgPool;
use uuid::Uuid;

use super::LoopError;
use crate::{LogMemory, cards::NonceSource, release};

/// The most holds of one turn.
const BATCH: i32 = 20;
/// How long the session of one release lives at most.
const SESSION_SECONDS: i32 = 30;

/// One turn: `pool` is of role `releaser`, `panel` of role `panel`, `secrets` gives 32 random bytes each. Returns how many holds
/// were looked at. Two releasers at once are fine: the database runs each hold once.
///
/// # Errors
/// When the database fails; what was done before stays done.
pub async fn turn(
    pool: &PgPool,
    panel: &PgPool,
    secrets: NonceSource<'_>,
    log: &LogMemory,
) -> Result<usize, LoopError> {
    let due = sqlx::query!(
        r#"SELECT customer_id AS "customer!", action_id AS "action!" FROM bank.due_holds($1)"#,
        BATCH
    )
    .fetch_all(pool)
    .await?;
    let count = due.len();
    let mut failed = None;
    for row in due {
        let secret = secrets();
        open(panel, CustomerId::from_uuid(row.customer), &secret).await?;
        let released = release::release(panel, &secret, ActionId::from_uuid(row.action), log).await;
        end(panel, &secret).await?;
        // One that cannot be released stands in the way of no other.
        failed = released.err().or(failed);
    }
    match failed {
        Some(error) => Err(LoopError::Release(Box::new(error))),
        None => Ok(count),
    }
}

async fn open(panel: &PgPool, customer: CustomerId, secret: &Secret) -> Result<(), LoopError> {
    sqlx::query!(
        "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, expires_at)
         VALUES ($1, $2, $3, 'panel', bank.bank_clock() + $4::integer * interval '1 second')",
        Uuid::now_v7(),
        &secret.hash()[..],
        customer.uuid(),
        SESSION_SECONDS,
    )
    .execute(panel)
    .await?;
    Ok(())
}

async fn end(panel: &PgPool, secret: &Secret) -> Result<(), LoopError> {
    let mut transaction = session::begin(panel, secret)
        .await
        .map_err(|error| LoopError::Release(Box::new(error)))?;
    sqlx::query_scalar!("SELECT bank.end_panel_session()")
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}
