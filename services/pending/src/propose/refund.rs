//! An incoming payment sent back to where it came from.

use countersign_domain::{ActionKind, ToolCode, TransferId};
use countersign_provenance::{Act, ActAsk};

use super::{Proposal, asks, settle};
use crate::{
    Refusal,
    facts::Facts,
    values::{blank, line},
};

/// Account, amount and destination are the payment's own; nothing of them is anybody's choice. A payment that nobody named is left
/// for the customer to pick.
pub(super) fn propose(transaction: Option<TransferId>, facts: &Facts) -> Result<Proposal, Refusal> {
    let payment = match transaction {
        Some(id) => Some(
            facts
                .movement
                .as_ref()
                .filter(|movement| movement.id == id)
                .ok_or(Refusal::about(ToolCode::NotFound, "transaction"))?,
        ),
        None => None,
    };
    let of_ask = |ask: &ActAsk| ask.transaction.as_ref().map(|named| named.value);
    let asks = asks(Act::Refund, facts)?.naming("transaction", transaction, |ask, id| {
        of_ask(ask) == Some(*id)
    })?;
    let ask = settle(
        ActionKind::Refund,
        asks,
        |ask| of_ask(ask).map(|id| id.to_string()),
        transaction.map(|id| id.to_string()),
        facts,
    )?;
    let mut values = blank(&facts.rules_version);
    if let Some(payment) = payment {
        let sends_back = payment.kind == "payment_in"
            && payment.posted
            && !payment.refunded
            && payment
                .counterparty_iban
                .as_deref()
                .is_some_and(|iban| !facts.is_own_number(iban));
        if !sends_back {
            return Err(Refusal::about(ToolCode::NotPossibleNow, "transaction"));
        }
        values.transaction = transaction;
        values.currency = Some(payment.amount.currency);
        values.from_account = Some(payment.account);
        values.lines = vec![line(1, None, Some(payment.amount.amount))];
    }
    Ok(Proposal {
        kind: ActionKind::Refund,
        target_key: transaction
            .map_or_else(|| "refund:open".to_owned(), |id| format!("refund:{id}")),
        values,
        clause: ask.clause,
    })
}
