//! What was noticed in a turn, and what the turn used. Written down and never read back here.

use countersign_domain::{ConversationId, CustomerId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;
use crate::agent::ModelUse;
use crate::ambient;
use crate::relay::Noticed;

/// Most of one rule that a row holds.
const NUMBER_MAX: i32 = 100_000;

/// The reply that something is recorded of.
#[derive(Clone, Copy, Debug)]
pub struct OfReply {
    /// Whose.
    pub owner: CustomerId,
    /// Where.
    pub conversation: ConversationId,
    /// Which.
    pub reply: Uuid,
}

/// Records how often which rule held.
///
/// # Errors
/// [`StoreError`].
pub async fn record(
    connection: &mut PgConnection,
    of: OfReply,
    noticed: &Noticed,
) -> Result<(), StoreError> {
    for ((kind, rule), number) in noticed {
        let number = i32::try_from(*number).unwrap_or(NUMBER_MAX).min(NUMBER_MAX);
        sqlx::query!(
            "INSERT INTO bank.chat_event (customer_id, event_id, conversation_id, reply_id, kind, rule, number)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            of.owner.uuid(),
            ambient::new_id(),
            of.conversation.uuid(),
            of.reply,
            kind,
            rule,
            number
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Records what the agent says it used. More than a row holds counts as the most that it holds.
///
/// # Errors
/// [`StoreError`].
pub async fn record_use(
    connection: &mut PgConnection,
    of: OfReply,
    used: ModelUse,
) -> Result<(), StoreError> {
    let tokens = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    sqlx::query!(
        "INSERT INTO bank.model_use (customer_id, conversation_id, reply_id, input_tokens, output_tokens, cost_micros)
         VALUES ($1, $2, $3, $4, $5, $6)",
        of.owner.uuid(),
        of.conversation.uuid(),
        of.reply,
        tokens(used.input_tokens),
        tokens(used.output_tokens),
        i64::try_from(used.cost_micros).unwrap_or(i64::MAX).min(1_000_000_000_000)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What was used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens in this conversation.
    pub conversation_tokens: u64,
    /// Tokens of the customer in a day.
    pub day_tokens: u64,
    /// Cost of the customer in a day, in millionths.
    pub day_cost_micros: u64,
}

/// What a conversation, and its customer in the last 24 hours, used of the model.
///
/// # Errors
/// [`StoreError`].
pub async fn spent(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
) -> Result<Spent, StoreError> {
    let row = sqlx::query!(
        r#"SELECT coalesce(sum(input_tokens::bigint + output_tokens) FILTER (WHERE conversation_id = $2), 0)::bigint AS "conversation!",
                  coalesce(sum(input_tokens::bigint + output_tokens) FILTER (WHERE recorded_at > bank.bank_clock() - interval '24 hours'), 0)::bigint AS "day!",
                  coalesce(sum(cost_micros) FILTER (WHERE recorded_at > bank.bank_clock() - interval '24 hours'), 0)::bigint AS "cost!"
             FROM bank.model_use
            WHERE customer_id = $1 AND (conversation_id = $2 OR recorded_at > bank.bank_clock() - interval '24 hours')"#,
        owner.uuid(),
        conversation.uuid()
    )
    .fetch_one(connection)
    .await?;
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(Spent {
        conversation_tokens: number(row.conversation),
        day_tokens: number(row.day),
        day_cost_micros: number(row.cost),
    })
}
