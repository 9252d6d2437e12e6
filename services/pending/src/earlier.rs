//! The requests of this conversation that a new one is judged against.

use std::collections::HashMap;

use countersign_domain::{
    AccountId, ActionId, ActionKind, ActionState, CardId, ConversationId, MinorUnits, OrderId,
    PayeeId, TransferId,
};
use countersign_store::{StoredLine, StoredVersion};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{RequestError, values::blank};

/// A request of the conversation that is open, or ended while the messages it came from still count.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    pub(crate) id: ActionId,
    pub(crate) kind: ActionKind,
    pub(crate) state: ActionState,
    pub(crate) target_key: String,
    /// The newest message when it was made.
    pub(crate) grounded_through: i64,
    /// The newest message when it was confirmed or cancelled.
    pub(crate) consumed_through: i64,
    pub(crate) expires_at: OffsetDateTime,
    /// What was asked for.
    pub(crate) first: StoredVersion,
    /// What it has become on the panel.
    pub(crate) current: StoredVersion,
}

impl Earlier {
    /// Whether a Confirm or a Cancel ended it, or the bank waits after a Confirm.
    pub(crate) fn is_consumed(&self) -> bool {
        matches!(
            self.state,
            ActionState::Confirmed | ActionState::Cancelled | ActionState::Held
        )
    }
}

fn parse<T: std::str::FromStr>(text: &str, what: &'static str) -> Result<T, RequestError> {
    text.parse().map_err(|_| RequestError::Corrupt(what))
}

fn parse_optional<T: std::str::FromStr>(
    text: Option<&str>,
    what: &'static str,
) -> Result<Option<T>, RequestError> {
    text.map(|text| parse(text, what)).transpose()
}

/// Reads the requests of a conversation that are open, or ended at or after the message `since`. Superseded ones are left
/// out: a newer message replaced them, and the words say with what.
pub(crate) async fn load(
    connection: &mut PgConnection,
    conversation: ConversationId,
    since: i64,
) -> Result<Vec<Earlier>, RequestError> {
    let mut lines: HashMap<(uuid::Uuid, i32), Vec<StoredLine>> = HashMap::new();
    for row in sqlx::query!(
        r#"SELECT l.action_id, l.version, l.line_number, l.payee_id, l.own_account_id, l.amount_minor_units
             FROM bank.pending_action a
             JOIN bank.pending_line l ON l.customer_id = a.customer_id AND l.action_id = a.action_id AND l.version IN (1, a.current_version)
            WHERE a.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = $1 AND a.state <> 'superseded'
              AND (a.state = 'pending' OR coalesce(a.consumed_through, a.grounded_through) >= $2)
            ORDER BY l.action_id, l.version, l.line_number"#,
        conversation.uuid(),
        since
    )
    .fetch_all(&mut *connection)
    .await?
    {
        let amount = row
            .amount_minor_units
            .map(|count| MinorUnits::new(count).ok_or(RequestError::Corrupt("amount")))
            .transpose()?;
        lines
            .entry((row.action_id, row.version))
            .or_default()
            .push(StoredLine {
                line_number: row.line_number,
                payee: row.payee_id.map(PayeeId::from_uuid),
                own_account: row.own_account_id.map(AccountId::from_uuid),
                amount,
            });
    }
    let rows = sqlx::query!(
        r#"SELECT a.action_id, a.kind, a.state, a.target_key, a.grounded_through, a.expires_at,
                  coalesce(a.consumed_through, a.grounded_through) AS "consumed_through!", a.current_version,
                  v.version, v.currency, v.from_account_id, v.card_id, v.order_id, v.transaction_id, v.frequency, v.start_date,
                  v.dispute_reason, v.profile_field
             FROM bank.pending_action a
             JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version IN (1, a.current_version)
            WHERE a.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = $1 AND a.state <> 'superseded'
              AND (a.state = 'pending' OR coalesce(a.consumed_through, a.grounded_through) >= $2)
            ORDER BY a.created_at, a.action_id, v.version"#,
        conversation.uuid(),
        since
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut earlier: Vec<Earlier> = Vec::new();
    for row in rows {
        let values = StoredVersion {
            version: row.version,
            currency: parse_optional(row.currency.as_deref(), "currency")?,
            from_account: row.from_account_id.map(AccountId::from_uuid),
            card: row.card_id.map(CardId::from_uuid),
            order: row.order_id.map(OrderId::from_uuid),
            transaction: row.transaction_id.map(TransferId::from_uuid),
            frequency: parse_optional(row.frequency.as_deref(), "frequency")?,
            start_date: row.start_date,
            dispute_reason: parse_optional(row.dispute_reason.as_deref(), "dispute reason")?,
            profile_field: parse_optional(row.profile_field.as_deref(), "profile field")?,
            lines: lines
                .get(&(row.action_id, row.version))
                .cloned()
                .unwrap_or_default(),
            ..blank("")
        };
        let id = ActionId::from_uuid(row.action_id);
        match earlier.last_mut() {
            // The rows of an action follow each other, version 1 first.
            Some(last) if last.id == id => last.current = values,
            _ => earlier.push(Earlier {
                id,
                kind: parse(&row.kind, "kind")?,
                state: parse(&row.state, "state")?,
                target_key: row.target_key,
                grounded_through: row.grounded_through,
                consumed_through: row.consumed_through,
                expires_at: row.expires_at,
                first: values.clone(),
                current: values,
            }),
        }
    }
    Ok(earlier)
}
