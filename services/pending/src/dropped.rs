//! The lines that the customer took out of requests on the panel.

use countersign_domain::{AccountId, ConversationId, Currency, MinorUnits, PayeeId};
use countersign_provenance::Target;
use sqlx::PgConnection;

use crate::{RequestError, shape::Shape, shape::money};

/// A line that was dropped, as it had been asked for (version 1) before the customer filled anything in.
///
/// A complete one is used up where the words are read. One with an open slot is recognised by this.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    pub(crate) shape: Shape,
    /// The newest message when it was dropped.
    pub(crate) through: i64,
}

/// Reads the dropped lines of a conversation, whatever has become of their requests since.
pub(crate) async fn load(
    connection: &mut PgConnection,
    conversation: ConversationId,
) -> Result<Vec<Dropped>, RequestError> {
    sqlx::query!(
        r#"SELECT e.value::bigint AS "through!", v.currency, l.payee_id, l.own_account_id, l.amount_minor_units
             FROM bank.panel_entry e
             JOIN bank.pending_action a ON a.customer_id = e.customer_id AND a.action_id = e.action_id
             JOIN bank.pending_version v ON v.customer_id = e.customer_id AND v.action_id = e.action_id AND v.version = 1
             JOIN bank.pending_line l ON l.customer_id = e.customer_id AND l.action_id = e.action_id AND l.version = 1
              AND l.line_number = e.line_number
            WHERE e.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = $1 AND e.slot = 'drop'"#,
        conversation.uuid()
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        let target = row
            .payee_id
            .map(|id| Target::Payee(PayeeId::from_uuid(id)))
            .or(row.own_account_id.map(|id| Target::Own(AccountId::from_uuid(id))));
        let currency: Option<Currency> = row
            .currency
            .map(|code| code.parse().map_err(|_| RequestError::Corrupt("currency")))
            .transpose()?;
        let amount = row
            .amount_minor_units
            .map(|count| MinorUnits::new(count).ok_or(RequestError::Corrupt("amount")))
            .transpose()?;
        Ok(Dropped {
            shape: Shape(vec![
                target.map(Target::id_text),
                amount.map(|amount| money(currency, amount)),
            ]),
            through: row.through,
        })
    })
    .collect()
}
