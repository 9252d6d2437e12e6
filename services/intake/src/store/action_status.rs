//! Where the requests of a conversation stand. Their values are none of the chat's business.

use countersign_domain::{ActionId, ConversationId};
use sqlx::PgConnection;

use super::StoreError;

/// Where one request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it asks for, `transfer` and so on.
    pub kind: String,
    /// `pending`, `confirmed` and so on.
    pub state: String,
    /// Whether that changed as lately as was asked.
    pub recent: bool,
}

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

/// The latest requests of a conversation; those that changed within so many seconds are recent.
pub async fn latest(
    connection: &mut PgConnection,
    conversation: ConversationId,
    recent_seconds: f64,
) -> Result<Vec<Status>, StoreError> {
    let rows = sqlx::query_as!(
        Status,
        r#"SELECT s.kind AS "kind!", s.state AS "state!",
                  s.changed_at > bank.bank_clock() - make_interval(secs => $2) AS "recent!"
             FROM bank.action_status($1) s"#,
        conversation.uuid(),
        recent_seconds
    )
    .fetch_all(connection)
    .await?;
    Ok(rows)
}
