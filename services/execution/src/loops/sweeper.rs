//! The sweeper: ends requests that nobody confirmed in time, raises limits that have cooled off, and forgets used tokens.

use sqlx::PgPool;

use super::LoopError;

/// The most actions of one turn.
const BATCH: i32 = 20;

/// One turn with the pool of role `sweeper`. Returns how many actions expired.
///
/// # Errors
/// When the database fails.
pub async fn turn(pool: &PgPool) -> Result<i32, LoopError> {
    let expired = sqlx::query_scalar!(r#"SELECT bank.expire_due($1) AS "expired!""#, BATCH)
        .fetch_one(pool)
        .await?;
    sqlx::query_scalar!("SELECT bank.apply_limit_changes($1)", BATCH)
        .fetch_one(pool)
        .await?;
    sqlx::query_scalar!("SELECT bank.forget_used_requests()")
        .fetch_one(pool)
        .await?;
    Ok(expired)
}
