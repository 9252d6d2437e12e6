//! How much may be asked for.

use std::collections::HashMap;

use countersign_domain::{
    ActionKind, MinorUnits, PayeeId, ToolCode,
    limits::{Limits, Payment, Used, check, sent_to_new},
};
use countersign_store::{
    StoredVersion,
    read::{allowance, payee},
};
use sqlx::PgConnection;

use crate::{Refusal, RequestError, earlier::Earlier, facts::Facts, propose::Proposal};

/// Checks limits and funds. What still has an open slot is checked when the customer has filled it.
///
/// Funds are compared with what stands on the account, not with what other open requests would take: until a Confirm they
/// take nothing, and the Confirm looks again under the same lock.
pub(crate) async fn check_money(
    connection: &mut PgConnection,
    proposal: &Proposal,
    superseded: Option<&Earlier>,
    facts: &Facts,
) -> Result<(), RequestError> {
    let values = &proposal.values;
    let Some(currency) = values.currency else {
        return Ok(());
    };
    let still_new = payee::still_new(connection, currency).await?;
    let payments = payments(proposal, facts, &still_new);
    if !payments.is_empty() {
        // Without a row of limits nothing may leave in that currency: the execution says the same.
        let Some(allowance) = allowance::of(
            connection,
            currency,
            superseded.map(|superseded| superseded.id),
        )
        .await?
        else {
            return Err(Refusal::new(ToolCode::LimitPerTransfer).into());
        };
        let sends = matches!(proposal.kind, ActionKind::Transfer | ActionKind::Refund);
        let result = if sends {
            check(&allowance.limits, allowance.used, &payments)
        } else {
            check_each(&allowance.limits, &payments)
        };
        result.map_err(Refusal::new)?;
    }
    if matches!(proposal.kind, ActionKind::Transfer | ActionKind::Refund) {
        check_funds(values, facts)?;
    }
    Ok(())
}

/// The amounts that go to somebody else. A move between own accounts is bounded by the funds alone.
fn payments(
    proposal: &Proposal,
    facts: &Facts,
    still_new: &HashMap<PayeeId, MinorUnits>,
) -> Vec<Payment> {
    let sent = sent_to_new(still_new.values().copied());
    let new = |payee: PayeeId| {
        let never_paid = facts.payee(payee).is_none_or(|payee| payee.payments == 0);
        (never_paid || still_new.contains_key(&payee)).then_some(sent)
    };
    let values = &proposal.values;
    let order_payee = values.order.and_then(|id| {
        facts
            .orders
            .iter()
            .find(|order| order.id == id)
            .map(|order| order.payee)
    });
    values
        .lines
        .iter()
        .filter(|line| line.own_account.is_none())
        .filter_map(|line| {
            let payee = line.payee.or(order_payee);
            Some(Payment {
                amount: line.amount?,
                // Money sent back goes where it came from. While the payee is open, the lower limit waits for it.
                first_after: payee.and_then(new),
            })
        })
        .collect()
}

/// The limits of one payment. A standing order sends nothing today and waits for no money.
fn check_each(limits: &Limits, payments: &[Payment]) -> Result<(), ToolCode> {
    let unbounded = Limits {
        per_day: MinorUnits::MAX,
        pending_total: MinorUnits::MAX,
        ..*limits
    };
    payments
        .iter()
        .try_for_each(|payment| check(&unbounded, Used::default(), &[*payment]))
}

fn check_funds(values: &StoredVersion, facts: &Facts) -> Result<(), Refusal> {
    let Some(account) = values.from_account.and_then(|id| facts.account(id)) else {
        return Ok(());
    };
    let total = values
        .lines
        .iter()
        .filter_map(|line| line.amount)
        .try_fold(MinorUnits::ZERO, MinorUnits::checked_add);
    match total {
        Some(total) if total <= account.balance.amount => Ok(()),
        _ => Err(Refusal::new(ToolCode::InsufficientFunds)),
    }
}
