//! What was looked at, as the bank's tools wrote it down under the door's receipts. The agent's word is not asked.

use countersign_domain::{ConversationId, CustomerId};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;

/// How a call ended that was answered.
const ANSWERED: &str = "answered";
/// Most calls of one conversation that are read.
const CALLS_MAX: i64 = 2000;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// The tool's name.
    pub tool: String,
    /// The door's receipt of the call: the leaf of its record, in hexadecimal.
    pub receipt: String,
}

impl Looked {
    fn of(tool: String, leaf: &[u8]) -> Self {
        let receipt = hex::encode(leaf);
        Self { tool, receipt }
    }
}

/// What a turn looked at so far, in order, each tool under its first receipt.
///
/// # Errors
/// [`StoreError`].
pub async fn of_turn(
    connection: &mut PgConnection,
    owner: CustomerId,
    grant: Uuid,
) -> Result<Vec<Looked>, StoreError> {
    let rows = sqlx::query!(
        "SELECT tool, record_leaf FROM bank.tool_call
          WHERE customer_id = $1 AND grant_id = $2 AND outcome = $3 ORDER BY recorded_at, jti LIMIT $4",
        owner.uuid(),
        grant,
        ANSWERED,
        CALLS_MAX
    )
    .fetch_all(connection)
    .await?;
    let calls = rows
        .into_iter()
        .map(|row| Looked::of(row.tool, &row.record_leaf));
    Ok(first_of_each(calls))
}

/// What the turns of a conversation looked at, each with the message that it answered, oldest first.
///
/// # Errors
/// [`StoreError`].
pub async fn of_conversation(
    connection: &mut PgConnection,
    owner: CustomerId,
    conversation: ConversationId,
) -> Result<Vec<(Uuid, Looked)>, StoreError> {
    let rows = sqlx::query!(
        "SELECT r.utterance_id, c.tool, c.record_leaf
           FROM bank.reply r JOIN bank.tool_call c ON c.customer_id = r.customer_id AND c.grant_id = r.grant_id
          WHERE r.customer_id = $1 AND r.conversation_id = $2 AND c.outcome = $3
          ORDER BY c.recorded_at DESC, c.jti LIMIT $4",
        owner.uuid(),
        conversation.uuid(),
        ANSWERED,
        CALLS_MAX
    )
    .fetch_all(connection)
    .await?;
    let calls = rows.into_iter().rev();
    Ok(calls
        .map(|row| (row.utterance_id, Looked::of(row.tool, &row.record_leaf)))
        .collect())
}

/// Each tool once, where it stands first.
pub fn first_of_each(calls: impl IntoIterator<Item = Looked>) -> Vec<Looked> {
    let mut kept: Vec<Looked> = Vec::new();
    for call in calls {
        if kept.iter().all(|one| one.tool != call.tool) {
            kept.push(call);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_stands_once_under_its_first_receipt() {
        let call = |tool: &str, leaf: u8| Looked::of(tool.to_owned(), &[leaf, 10]);
        let kept = first_of_each([
            call("list_payees", 1),
            call("get_limits", 2),
            call("list_payees", 3),
        ]);
        assert_eq!(kept, [call("list_payees", 1), call("get_limits", 2)]);
        assert_eq!(kept[0].receipt, "010a");
    }
}
