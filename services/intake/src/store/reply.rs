//! Replies, kept for the chat page and as the agent's memory of the conversation.

use countersign_domain::{ConversationId, CustomerId, UtteranceId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;

/// Name of the unique index that lets one reply of a conversation be in progress.
const ONE_RUNNING: &str = "one_running_reply";

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The agent said that it was done.
    Complete,
    /// The customer stopped it or went away.
    Stopped,
    /// It broke off, took too long, or the agent failed.
    Failed,
}

impl Ending {
    /// The state's text in the database.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// Opens the reply to a message. `None` when another reply of the conversation is in progress; the
/// transaction can then only be rolled back.
pub async fn begin(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
    utterance: UtteranceId,
    reply: Uuid,
    turn_grant: Uuid,
) -> Result<Option<()>, StoreError> {
    // A turn ends within two minutes, whatever became of the process that ran it.
    sqlx::query!(
        "UPDATE bank.reply SET state = 'failed', ended_at = bank.bank_clock()
          WHERE customer_id = $1 AND conversation_id = $2 AND state = 'running'
            AND started_at < bank.bank_clock() - interval '130 seconds'",
        owner.uuid(),
        conversation.uuid()
    )
    .execute(&mut *connection)
    .await?;
    let inserted = sqlx::query!(
        "INSERT INTO bank.reply (customer_id, conversation_id, reply_id, utterance_id, grant_id) VALUES ($1, $2, $3, $4, $5)",
        owner.uuid(),
        conversation.uuid(),
        reply,
        utterance.uuid(),
        turn_grant
    )
    .execute(connection)
    .await;
    match inserted {
        Ok(_) => Ok(Some(())),
        Err(sqlx::Error::Database(error)) if error.constraint() == Some(ONE_RUNNING) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Closes a reply with what was shown of it. Answers whether it was still in progress.
pub async fn end(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
    reply: Uuid,
    ending: Ending,
    body: &str,
    looked_at: &[String],
) -> Result<bool, StoreError> {
    let ended = sqlx::query!(
        "UPDATE bank.reply SET state = $4, body = $5, looked_at = $6, ended_at = bank.bank_clock()
          WHERE customer_id = $1 AND conversation_id = $2 AND reply_id = $3 AND state = 'running'",
        owner.uuid(),
        conversation.uuid(),
        reply,
        ending.text(),
        body,
        looked_at
    )
    .execute(connection)
    .await?;
    Ok(ended.rows_affected() == 1)
}

/// A reply as it stands in the record.
pub struct Kept {
    /// `running`, `complete`, `stopped` or `failed`.
    pub state: String,
    /// What was shown of it.
    pub body: String,
    /// The turn's grant, under which its calls are on record.
    pub grant_id: Option<Uuid>,
}

/// The reply to a message.
pub async fn of_utterance(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
    utterance: UtteranceId,
) -> Result<Option<Kept>, StoreError> {
    Ok(sqlx::query_as!(
        Kept,
        "SELECT state, body, grant_id FROM bank.reply
          WHERE customer_id = $1 AND conversation_id = $2 AND utterance_id = $3",
        owner.uuid(),
        conversation.uuid(),
        utterance.uuid()
    )
    .fetch_optional(connection)
    .await?)
}

/// One message of a conversation with its reply.
pub struct Exchange {
    /// The message.
    pub utterance_id: Uuid,
    /// What the customer wrote.
    pub message: String,
    /// What was answered; `None` while nothing was.
    pub reply: Option<String>,
    /// The reply's state.
    pub state: Option<String>,
}

/// The latest exchanges of a conversation, oldest first. `before` leaves out that message and what is newer.
pub async fn latest(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
    before: Option<UtteranceId>,
    most: i64,
) -> Result<Vec<Exchange>, StoreError> {
    let mut found = sqlx::query_as!(
        Exchange,
        r#"SELECT u.utterance_id, u.body AS message, r.body AS "reply?", r.state AS "state?"
             FROM bank.utterance u
             LEFT JOIN bank.reply r ON r.customer_id = u.customer_id AND r.conversation_id = u.conversation_id
                                   AND r.utterance_id = u.utterance_id
            WHERE u.customer_id = $1 AND u.conversation_id = $2
              AND u.sequence < coalesce((SELECT b.sequence FROM bank.utterance b
                     WHERE b.customer_id = $1 AND b.conversation_id = $2 AND b.utterance_id = $3), 9223372036854775807)
            ORDER BY u.sequence DESC LIMIT $4"#,
        owner.uuid(),
        conversation.uuid(),
        before.map(UtteranceId::uuid),
        most
    )
    .fetch_all(connection)
    .await?;
    found.reverse();
    Ok(found)
}
