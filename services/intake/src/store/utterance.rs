//! What customers typed. Append-only: a message is written once and never changed.

use countersign_domain::{ConversationId, CustomerId, UtteranceId};
use sqlx::{PgConnection, types::Json};

use super::StoreError;
use crate::message::{Sent, Span};

/// What became of a message that came in.
pub enum Recorded {
    /// It is on record now, and nothing answered it yet.
    Now(UtteranceId),
    /// It was on record already, under the same client id and with the same words.
    Before(UtteranceId),
    /// Its client id stands for another message.
    Reused,
}

/// Records a message, once per client id.
pub async fn record(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
    utterance: UtteranceId,
    sent: &Sent,
) -> Result<Recorded, StoreError> {
    let inserted = sqlx::query!(
        "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body, spans)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (customer_id, conversation_id, client_message_id) DO NOTHING",
        owner.uuid(),
        conversation.uuid(),
        utterance.uuid(),
        sent.client_message_id,
        sent.text,
        Json(&sent.spans) as _,
    )
    .execute(&mut *connection)
    .await?;
    if inserted.rows_affected() == 1 {
        return Ok(Recorded::Now(utterance));
    }
    let known = sqlx::query!(
        r#"SELECT utterance_id, body, spans AS "spans: Json<Vec<Span>>" FROM bank.utterance
            WHERE customer_id = $1 AND conversation_id = $2 AND client_message_id = $3"#,
        owner.uuid(),
        conversation.uuid(),
        sent.client_message_id,
    )
    .fetch_one(connection)
    .await?;
    Ok(if known.body == sent.text && known.spans.0 == sent.spans {
        Recorded::Before(UtteranceId::from_uuid(known.utterance_id))
    } else {
        Recorded::Reused
    })
}
