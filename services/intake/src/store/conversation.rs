//! Conversations. What a customer said in one grounds nothing in another.

use countersign_domain::{ConversationId, CustomerId};
use sqlx::PgConnection;

use super::StoreError;

/// The newest conversation, where somebody wrote or began it within half a day: older ones are not gone on with.
pub async fn newest(
    connection: &mut PgConnection,
    owner: CustomerId,
) -> Result<Option<ConversationId>, StoreError> {
    let row = sqlx::query!(
        "SELECT c.conversation_id
           FROM bank.conversation c
          WHERE c.customer_id = $1
            AND greatest(c.created_at,
                         (SELECT max(u.recorded_at) FROM bank.utterance u
                           WHERE u.customer_id = c.customer_id AND u.conversation_id = c.conversation_id))
                > bank.bank_clock() - interval '12 hours'
          ORDER BY c.created_at DESC LIMIT 1",
        owner.uuid()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| ConversationId::from_uuid(row.conversation_id)))
}

/// Whether the customer has this conversation.
pub async fn exists(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
) -> Result<bool, StoreError> {
    let row = sqlx::query!(
        "SELECT 1 AS one FROM bank.conversation WHERE customer_id = $1 AND conversation_id = $2",
        owner.uuid(),
        conversation.uuid()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.is_some())
}

/// Begins a conversation.
pub async fn begin(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO bank.conversation (customer_id, conversation_id) VALUES ($1, $2)",
        owner.uuid(),
        conversation.uuid()
    )
    .execute(connection)
    .await?;
    Ok(())
}
