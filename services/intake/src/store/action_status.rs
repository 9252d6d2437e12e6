//! Where the requests of a conversation stand. Their values are none of the chat's business.

use countersign_domain::{ActionId, ConversationId};
use sqlx::PgConnection;

use super::StoreError;

/// Whether a request of this conversation is on record, whatever the agent says of it.
pub async fn is_known(
    connection: &mut PgConnection,
    conversation: ConversationId,
    action: ActionId,
) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        r#"SELECT EXISTS (SELECT FROM bank.action_status($1) s WHERE s.action_id = $2) AS "known!""#,
        conversation.uuid(),
        action.uuid()
    )
    .fetch_one(connection)
    .await?;
    Ok(row.known)
}

/// Whether the customer confirmed anything in this conversation.
pub async fn any_confirmed(
    connection: &mut PgConnection,
    conversation: ConversationId,
) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        r#"SELECT EXISTS (SELECT FROM bank.action_status($1) s WHERE s.state IN ('confirmed', 'held')) AS "confirmed!""#,
        conversation.uuid()
    )
    .fetch_one(connection)
    .await?;
    Ok(row.confirmed)
}
