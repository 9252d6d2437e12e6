//! What a turn may do at the bank, and its end.

use countersign_domain::{ConversationId, CustomerId, Secret};
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;

/// Lends the bank's tools this customer and conversation for one turn. It hangs on the chat session: when the
/// customer signs out, the turn ends with it.
pub async fn begin(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
    parent: Uuid,
    grant: Uuid,
    secret: &Secret,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO bank.session_grant
           (grant_id, secret_hash, customer_id, conversation_id, audience, parent_grant_id, expires_at)
         VALUES ($1, $2, $3, $4, 'bank_mcp', $5, bank.bank_clock() + interval '120 seconds')",
        grant,
        &secret.hash(),
        owner.uuid(),
        conversation.uuid(),
        parent
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends a turn. `false` when there was no live one: it had ended, or the session above it has.
pub async fn end(connection: &mut PgConnection, secret: &Secret) -> Result<bool, StoreError> {
    let row = sqlx::query!(r#"SELECT bank.end_turn($1) AS "ended!""#, &secret.hash())
        .fetch_one(connection)
        .await?;
    Ok(row.ended)
}
