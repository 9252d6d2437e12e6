//! Everything the grounding of one conversation is decided from, read in one place, so that the request, the card and the
//! Confirm all decide from the same rows.

use countersign_domain::{
    AccountId, ActionId, CardId, ConversationId, Currency, MinorUnits, OrderId, PayeeId, TransferId,
};
use countersign_provenance::{
    Act, Card, Consumed, ConsumedAct, Input, Locale, Message, MessageSpan, OwnAccount, Payee, Span,
    StandingOrder, Transaction,
};
use serde::Deserialize;
use sqlx::PgConnection;

use crate::action::ActionError;

/// The newest messages that are read. An older one is stale by any setting.
const MESSAGES_MAX: i64 = 200;
/// The newest transactions that a dispute or refund may be about.
const TRANSACTIONS_MAX: i64 = 200;

#[derive(Deserialize)]
struct RecordedSpan {
    start: usize,
    end: usize,
}

fn currency(code: &str) -> Result<Currency, ActionError> {
    code.parse().map_err(|_| ActionError::Corrupt("currency"))
}

fn amount(count: i64) -> Result<MinorUnits, ActionError> {
    MinorUnits::new(count).ok_or(ActionError::Corrupt("amount"))
}

/// Reads the input of [`countersign_provenance::ground`] for a conversation of the session's customer. Call it under the
/// customer's lock where the answer decides something.
///
/// `about` is the action whose own values are ground again: what the customer dropped from it is used up for every other
/// request, while its remaining lines stand on the words that asked for all of them; and where it is held, what its Confirm used
/// up is its own.
///
/// # Errors
/// When the database fails or holds what its own schema forbids.
pub async fn load(
    connection: &mut PgConnection,
    conversation: ConversationId,
    about: Option<ActionId>,
) -> Result<Input, ActionError> {
    let setting = sqlx::query!(
        r#"SELECT grounding_stale_seconds, grounding_stale_messages, bank.bank_clock() AS "now!" FROM bank.setting"#
    )
    .fetch_one(&mut *connection)
    .await?;
    let locale = sqlx::query_scalar!(
        "SELECT locale FROM bank.customer WHERE customer_id = (SELECT bank.current_customer())"
    )
    .fetch_one(&mut *connection)
    .await?;

    let mut messages = sqlx::query!(
        r#"SELECT sequence, body, spans, recorded_at FROM bank.utterance
            WHERE customer_id = (SELECT bank.current_customer()) AND conversation_id = $1
            ORDER BY sequence DESC LIMIT $2"#,
        conversation.uuid(),
        MESSAGES_MAX
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| {
        let spans: Vec<RecordedSpan> =
            serde_json::from_value(row.spans).map_err(|_| ActionError::Corrupt("spans"))?;
        Ok(Message {
            sequence: row.sequence,
            text: row.body,
            pasted: spans
                .into_iter()
                .map(|span| Span {
                    start: span.start,
                    end: span.end,
                })
                .collect(),
            sent_at_unix_seconds: row.recorded_at.unix_timestamp(),
        })
    })
    .collect::<Result<Vec<_>, ActionError>>()?;
    messages.reverse();

    let payees = sqlx::query!(
        "SELECT payee_id, name, alias, iban FROM bank.payee WHERE customer_id = (SELECT bank.current_customer()) ORDER BY payee_id"
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| Payee {
        id: PayeeId::from_uuid(row.payee_id),
        name: row.name,
        aliases: row.alias.into_iter().collect(),
        iban: row.iban,
    })
    .collect();

    let account_rows = sqlx::query!(
        r#"SELECT account_id, kind, label, iban, currency, is_default FROM bank.account
            WHERE customer_id = (SELECT bank.current_customer()) ORDER BY account_id"#
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut account_currency = None;
    let mut accounts = Vec::with_capacity(account_rows.len());
    for row in account_rows {
        let currency = currency(&row.currency)?;
        if row.is_default || account_currency.is_none() {
            account_currency = Some(currency);
        }
        let mut names = vec![row.label];
        // The words people use for each kind of account, beside the label.
        let words: &[&str] = match row.kind.as_str() {
            "current" => &["current", "checking", "main"],
            "savings" => &["savings", "saving"],
            "travel" => &["travel"],
            "reserve" => &["reserve"],
            _ => &[],
        };
        names.extend(words.iter().map(|word| (*word).to_owned()));
        accounts.push(OwnAccount {
            id: AccountId::from_uuid(row.account_id),
            names,
            iban: row.iban,
            currency,
        });
    }

    let cards = sqlx::query!(
        "SELECT card_id, label, kind, last_four FROM bank.card WHERE customer_id = (SELECT bank.current_customer()) ORDER BY card_id"
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| Card {
        id: CardId::from_uuid(row.card_id),
        names: vec![row.label, row.kind],
        last_four: row.last_four,
    })
    .collect();

    let orders = sqlx::query!(
        r#"SELECT order_id, payee_id, name, amount_minor_units, currency FROM bank.standing_order
            WHERE customer_id = (SELECT bank.current_customer()) AND state = 'active' ORDER BY order_id"#
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(StandingOrder {
            id: OrderId::from_uuid(row.order_id),
            payee: PayeeId::from_uuid(row.payee_id),
            names: row.name.into_iter().collect(),
            amount: amount(row.amount_minor_units)?,
            currency: currency(&row.currency)?,
        })
    })
    .collect::<Result<Vec<_>, ActionError>>()?;

    let transactions = sqlx::query!(
        r#"SELECT transfer_id, kind, counterparty_name, amount_minor_units, currency,
                  (created_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "day!"
             FROM bank.transfer
            WHERE customer_id = (SELECT bank.current_customer()) AND kind IN ('card_payment', 'payment_out', 'payment_in')
            ORDER BY created_at DESC, transfer_id DESC LIMIT $1"#,
        TRANSACTIONS_MAX
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(Transaction {
            id: TransferId::from_uuid(row.transfer_id),
            counterparty: row.counterparty_name,
            amount: amount(row.amount_minor_units)?,
            currency: currency(&row.currency)?,
            date: (row.day.year(), u8::from(row.day.month()), row.day.day()),
            incoming: row.kind == "payment_in",
        })
    })
    .collect::<Result<Vec<_>, ActionError>>()?;

    let (consumed, consumed_acts) = consumed(connection, conversation, about).await?;
    Ok(Input {
        messages,
        payees,
        accounts,
        cards,
        orders,
        transactions,
        consumed,
        consumed_acts,
        account_currency: account_currency.ok_or(ActionError::Corrupt("no account"))?,
        locale: Locale(locale),
        now_unix_seconds: setting.now.unix_timestamp(),
        stale_after_seconds: i64::from(setting.grounding_stale_seconds),
        stale_after_messages: usize::try_from(setting.grounding_stale_messages)
            .map_err(|_| ActionError::Corrupt("stale messages"))?,
    })
}

/// The words from the first to the last of two places in one message.
pub fn around(one: MessageSpan, other: MessageSpan) -> MessageSpan {
    MessageSpan {
        sequence: one.sequence,
        span: Span {
            start: one.span.start.min(other.span.start),
            end: one.span.end.max(other.span.end),
        },
    }
}

/// What a Confirm or a Cancel in this conversation has used up, the values as they were asked for and as they ended; and the
/// lines that were dropped from a request.
async fn consumed(
    connection: &mut PgConnection,
    conversation: ConversationId,
    about: Option<ActionId>,
) -> Result<(Vec<Consumed>, Vec<ConsumedAct>), ActionError> {
    let lines = sqlx::query!(
        r#"SELECT coalesce(a.consumed_through, a.grounded_through) AS "through!", v.currency AS "currency!",
                  l.payee_id, l.own_account_id, l.amount_minor_units AS "amount!"
             FROM bank.pending_action a
             JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id
             JOIN bank.pending_line l ON l.customer_id = v.customer_id AND l.action_id = v.action_id AND l.version = v.version
            WHERE a.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = $1
              AND a.state IN ('confirmed', 'cancelled', 'held') AND NOT (a.state = 'held' AND a.action_id IS NOT DISTINCT FROM $2)
              AND v.currency IS NOT NULL
              AND l.amount_minor_units IS NOT NULL AND (l.payee_id IS NOT NULL OR l.own_account_id IS NOT NULL)
           UNION
           SELECT e.value::bigint, v.currency, l.payee_id, l.own_account_id, l.amount_minor_units
             FROM bank.panel_entry e
             JOIN bank.pending_action a ON a.customer_id = e.customer_id AND a.action_id = e.action_id
             JOIN bank.pending_version v ON v.customer_id = e.customer_id AND v.action_id = e.action_id AND v.version = e.version - 1
             JOIN bank.pending_line l ON l.customer_id = v.customer_id AND l.action_id = v.action_id AND l.version = v.version
              AND l.line_number = e.line_number
            WHERE e.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = $1 AND e.slot = 'drop'
              AND ($2::uuid IS NULL OR a.action_id <> $2) AND v.currency IS NOT NULL
              AND l.amount_minor_units IS NOT NULL AND (l.payee_id IS NOT NULL OR l.own_account_id IS NOT NULL)"#,
        conversation.uuid(),
        about.map(ActionId::uuid)
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .filter_map(|row| {
        let payee = row
            .payee_id
            .map(|id| PayeeId::from_uuid(id).to_string())
            .or(row.own_account_id.map(|id| AccountId::from_uuid(id).to_string()))?;
        Some((|| {
            Ok(Consumed {
                payee,
                amount: amount(row.amount)?,
                currency: currency(&row.currency)?,
                through_sequence: row.through,
            })
        })())
    })
    .collect::<Result<Vec<_>, ActionError>>()?;

    let acts = sqlx::query!(
        r#"SELECT a.kind, coalesce(a.consumed_through, a.grounded_through) AS "through!", v.card_id, v.order_id, v.transaction_id
             FROM bank.pending_action a
             JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
            WHERE a.customer_id = (SELECT bank.current_customer()) AND a.conversation_id = $1
              AND a.state IN ('confirmed', 'cancelled', 'held') AND NOT (a.state = 'held' AND a.action_id IS NOT DISTINCT FROM $2)
              AND a.kind <> 'transfer'"#,
        conversation.uuid(),
        about.map(ActionId::uuid)
    )
    .fetch_all(&mut *connection)
    .await?
    .into_iter()
    .filter_map(|row| {
        let act = match row.kind.as_str() {
            "refund" => Act::Refund,
            "standing_order_change" => Act::OrderChange,
            "standing_order_cancel" => Act::OrderCancel,
            "card_freeze" => Act::CardFreeze,
            "card_unfreeze" => Act::CardUnfreeze,
            "dispute" => Act::Dispute,
            "payee" => Act::PayeeAdd,
            "profile_change" => Act::ProfileChange,
            _ => return None,
        };
        let target = row
            .card_id
            .map(|id| CardId::from_uuid(id).to_string())
            .or(row.order_id.map(|id| OrderId::from_uuid(id).to_string()))
            .or(row.transaction_id.map(|id| TransferId::from_uuid(id).to_string()));
        Some(ConsumedAct { act, target, through_sequence: row.through })
    })
    .collect();
    Ok((lines, acts))
}
