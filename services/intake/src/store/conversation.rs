//! Conversations. What a customer said in one grounds nothing in another.

use countersign_domain::{ConversationId, CustomerId};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

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

/// A conversation of the list.
pub struct Listed {
    /// Which.
    pub conversation_id: Uuid,
    /// The first message; none while nothing was written.
    pub first: Option<String>,
    /// How many messages the customer wrote in it.
    pub messages: i64,
    /// When the last one came, or it was begun.
    pub last_at: OffsetDateTime,
}

/// The customer's conversations, the one written in last first. One in which nothing was written is listed only while it is
/// the newest.
///
/// # Errors
/// [`StoreError`].
pub async fn list(
    connection: &mut PgConnection,
    owner: CustomerId,
    most: i64,
) -> Result<Vec<Listed>, StoreError> {
    Ok(sqlx::query_as!(
        Listed,
        r#"SELECT c.conversation_id, w.messages AS "messages!", greatest(c.created_at, w.last_at) AS "last_at!",
                  (SELECT u.body FROM bank.utterance u WHERE u.customer_id = $1 AND u.conversation_id = c.conversation_id
                    ORDER BY u.sequence LIMIT 1) AS first
             FROM bank.conversation c
             CROSS JOIN LATERAL (SELECT count(*) AS messages, max(u.recorded_at) AS last_at FROM bank.utterance u
                                  WHERE u.customer_id = $1 AND u.conversation_id = c.conversation_id) w
            WHERE c.customer_id = $1
              AND (w.messages > 0 OR c.created_at = (SELECT max(n.created_at) FROM bank.conversation n WHERE n.customer_id = $1))
            ORDER BY greatest(c.created_at, w.last_at) DESC LIMIT $2"#,
        owner.uuid(),
        most
    )
    .fetch_all(connection)
    .await?)
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
