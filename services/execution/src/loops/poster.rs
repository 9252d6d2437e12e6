//! The poster: takes what can be undone no longer on its way, credits payees inside the bank and marks transfers posted, each step its own transaction under one
//! customer's lock, so that payer and payee never wait for each other.

use sqlx::PgPool;

use super::LoopError;

/// The most transfers of one turn.
const BATCH: i32 = 100;

/// One turn with the pool of role `poster`. Returns how many transfers were posted. Two posters at once are fine: the database
/// credits and posts each transfer once.
///
/// # Errors
/// When the database fails; what was done before stays done.
pub async fn turn(pool: &PgPool) -> Result<usize, LoopError> {
    let due = sqlx::query!(
        r#"SELECT customer_id AS "payer!", transfer_id AS "transfer!" FROM bank.due_transfers($1)"#,
        BATCH
    )
    .fetch_all(pool)
    .await?;
    let mut posted = 0;
    for row in due {
        let leaves = sqlx::query_scalar!(
            r#"SELECT bank.begin_leaving($1, $2) AS "leaves!""#,
            row.payer,
            row.transfer
        )
        .fetch_one(pool)
        .await?;
        if !leaves {
            // Undone while it was due, or another poster was faster.
            continue;
        }
        sqlx::query_scalar!("SELECT bank.credit_payee($1, $2)", row.payer, row.transfer)
            .fetch_one(pool)
            .await?;
        let done = sqlx::query_scalar!(
            r#"SELECT bank.post_transfer($1, $2) AS "done!""#,
            row.payer,
            row.transfer
        )
        .fetch_one(pool)
        .await?;
        posted += usize::from(done);
    }
    Ok(posted)
}
