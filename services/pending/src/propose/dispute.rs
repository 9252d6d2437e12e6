//! A transaction the customer disputes.

use countersign_domain::{ActionKind, DisputeReason, ToolCode, TransferId};
use countersign_provenance::{Act, ActAsk};

use super::{Proposal, asks, settle};
use crate::{Refusal, facts::Facts, values::blank};

/// Only money that went out can be disputed.
pub(super) fn propose(
    transaction: Option<TransferId>,
    reason: Option<DisputeReason>,
    facts: &Facts,
) -> Result<Proposal, Refusal> {
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
    let asks = asks(Act::Dispute, facts)?
        .naming("transaction", transaction, |ask, id| {
            of_ask(ask) == Some(*id)
        })?
        .naming("reason", reason, |ask, reason| {
            ask.dispute_reason
                .as_ref()
                .is_some_and(|named| named.value == *reason)
        })?;
    let ask = settle(
        ActionKind::Dispute,
        asks,
        |ask| of_ask(ask).map(|id| id.to_string()),
        transaction.map(|id| id.to_string()),
        facts,
    )?;
    if payment.is_some_and(|payment| {
        !matches!(
            payment.kind.as_str(),
            "card_payment" | "payment_out" | "fee"
        )
    }) {
        return Err(Refusal::about(ToolCode::NotPossibleNow, "transaction"));
    }
    let mut values = blank(&facts.rules_version);
    values.transaction = transaction;
    values.dispute_reason = reason;
    Ok(Proposal {
        kind: ActionKind::Dispute,
        target_key: transaction
            .map_or_else(|| "dispute:open".to_owned(), |id| format!("dispute:{id}")),
        values,
        clause: ask.clause,
    })
}
