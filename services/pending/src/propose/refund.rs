//! An incoming payment sent back to where it came from.

use countersign_domain::{ActionKind, ToolCode, TransferId};
use countersign_provenance::Act;

use super::{Proposal, asks, settle};
use crate::{
    Refusal,
    facts::Facts,
    values::{blank, line},
};

/// Account, amount and destination are the payment's own; nothing of them is anybody's choice.
pub(super) fn propose(transaction: TransferId, facts: &Facts) -> Result<Proposal, Refusal> {
    let payment = facts
        .movement
        .as_ref()
        .filter(|movement| movement.id == transaction)
        .ok_or(Refusal::about(ToolCode::NotFound, "transaction"))?;
    let asks = asks(Act::Refund, facts)?.naming("transaction", Some(transaction), |ask, id| {
        ask.transaction
            .as_ref()
            .is_some_and(|named| named.value == *id)
    })?;
    let ask = settle(
        ActionKind::Refund,
        asks,
        |ask| {
            ask.transaction
                .as_ref()
                .map(|named| named.value.to_string())
        },
        Some(transaction.to_string()),
        facts,
    )?;
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
    let mut values = blank(&facts.rules_version);
    values.transaction = Some(transaction);
    values.currency = Some(payment.amount.currency);
    values.from_account = Some(payment.account);
    values.lines = vec![line(1, None, Some(payment.amount.amount))];
    Ok(Proposal {
        kind: ActionKind::Refund,
        target_key: format!("refund:{transaction}"),
        values,
        clause: ask.clause,
    })
}
