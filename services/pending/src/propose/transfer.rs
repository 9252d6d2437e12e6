//! A payment, or a move between own accounts.

use countersign_domain::{ActionKind, MinorUnits, ToolCode};
use countersign_provenance::{PaymentAsk, Target};
use countersign_store::grounding::around;

use super::{
    Proposal, check_currency, check_from_account, check_not_to_self, check_target, date,
    from_account, is_used_up, payment_shape, recurs,
};
use crate::{
    PAYMENTS_MAX, Refusal, TransferAsked,
    asks::{Narrowing, amount_in, check_amount},
    facts::Facts,
    shape::Shape,
    values::{blank, line},
};

/// A payment as proposed, with the ask it stands on.
struct Found<'a> {
    ask: &'a PaymentAsk,
    target: Option<Target>,
    amount: Option<MinorUnits>,
}

/// Every line stands on an ask of its own, all of the same message. They are put in the order in which the customer named
/// them, so that the same payments in another order are the same request.
pub(super) fn propose(asked: &TransferAsked, facts: &Facts) -> Result<Proposal, Refusal> {
    if asked.payments.is_empty() || asked.payments.len() > PAYMENTS_MAX {
        return Err(Refusal::about(ToolCode::InvalidArgument, "payments"));
    }
    for payment in &asked.payments {
        check_amount(payment.amount.as_deref())?;
        check_target(payment.payee, facts)?;
    }
    check_from_account(asked.from_account, facts)?;

    let mut found = find_in_one_message(asked, facts)?;
    found.sort_by_key(|payment| place_among(&facts.grounding.payments, payment.ask));
    let first = found[0].ask;
    let currency = first.currency;
    if found.iter().any(|payment| payment.ask.currency != currency) {
        return Err(Refusal::about(ToolCode::CurrencyMismatch, "currency"));
    }
    check_currency(currency, facts)?;
    let targets: Vec<Option<Target>> = found.iter().map(|payment| payment.target).collect();
    for target in &targets {
        check_not_to_self(*target, facts)?;
        if let Some(Target::Own(id)) = target
            && facts
                .account(*id)
                .is_none_or(|account| account.balance.currency != currency)
        {
            return Err(Refusal::about(ToolCode::CurrencyMismatch, "payee"));
        }
    }
    let named = first.from.as_ref().map(|from| from.value);
    if found
        .iter()
        .any(|payment| payment.ask.from.as_ref().map(|from| from.value) != named)
    {
        return Err(Refusal::about(ToolCode::NotGrounded, "from_account"));
    }

    let mut values = blank(&facts.rules_version);
    values.currency = Some(currency);
    values.from_account = from_account(named, currency, &targets, facts)?;
    values.lines = (1..)
        .zip(&found)
        .map(|(number, payment)| line(number, payment.target, payment.amount))
        .collect();
    let clause = found
        .iter()
        .map(|payment| payment.ask.clause)
        .fold(first.clause, around);
    Ok(Proposal {
        kind: ActionKind::Transfer,
        target_key: "transfer".to_owned(),
        values,
        clause,
    })
}

fn place_among(asks: &[PaymentAsk], ask: &PaymentAsk) -> Option<usize> {
    asks.iter().position(|other| std::ptr::eq(other, ask))
}

/// The asks of the newest message in which every payment has one of its own.
///
/// # Errors
/// Why the payments stand on no asks; [`ToolCode::NotGrounded`] naming `payments` where they stand on those of several
/// messages only.
fn find_in_one_message<'a>(
    asked: &TransferAsked,
    facts: &'a Facts,
) -> Result<Vec<Found<'a>>, Refusal> {
    if let [_] = asked.payments[..] {
        return find(asked, facts, |_| true);
    }
    let mut messages: Vec<i64> = facts
        .grounding
        .payments
        .iter()
        .map(|ask| ask.clause.sequence)
        .collect();
    messages.sort_unstable();
    messages.dedup();
    for message in messages.into_iter().rev() {
        if let Ok(found) = find(asked, facts, |ask| ask.clause.sequence == message) {
            return Ok(found);
        }
    }
    find(asked, facts, |_| true)?;
    Err(Refusal::about(ToolCode::NotGrounded, "payments"))
}

/// An ask for each payment, no ask for two of them.
fn find<'a>(
    asked: &TransferAsked,
    facts: &'a Facts,
    may_stand_on: impl Fn(&PaymentAsk) -> bool,
) -> Result<Vec<Found<'a>>, Refusal> {
    let mut found: Vec<Found<'a>> = Vec::new();
    for payment in &asked.payments {
        let fresh = facts.grounding.payments.iter().filter(|ask| {
            is_payment_now(ask, facts)
                && may_stand_on(ask)
                && !found.iter().any(|other| std::ptr::eq(other.ask, *ask))
        });
        // What an amount is worth depends on the ask's currency, so the proposal's shape does too.
        let amount = |ask: &PaymentAsk| {
            payment
                .amount
                .as_deref()
                .and_then(|text| amount_in(text, ask.currency))
        };
        let proposed = |ask: &PaymentAsk| payment_shape(payment.payee, amount(ask), ask.currency);
        let ask = Narrowing::from(fresh)?
            .naming("payee", payment.payee, |ask, payee| {
                ask.payee
                    .as_ref()
                    .is_some_and(|named| named.value == *payee)
            })?
            .naming("currency", asked.currency, |ask, currency| {
                ask.currency == *currency
            })?
            .naming("amount", payment.amount.as_deref(), |ask, text| {
                ask.amount.as_ref().is_some_and(|named| {
                    amount_in(text, ask.currency).is_some_and(|amount| amount == named.value)
                })
            })?
            .naming("from_account", asked.from_account, |ask, account| {
                ask.from
                    .as_ref()
                    .is_some_and(|named| named.value == *account)
            })?
            .without(|ask| {
                is_used_up(
                    facts,
                    ActionKind::Transfer,
                    &ask_shape(ask),
                    ask.clause,
                    &proposed(ask),
                )
            })?
            .best(|ask| ask_shape(ask).same_slots(&proposed(ask)))
            .ok_or(Refusal::new(ToolCode::ActNotRequested))?;
        found.push(Found {
            ask,
            target: payment.payee,
            amount: amount(ask),
        });
    }
    Ok(found)
}

fn ask_shape(ask: &PaymentAsk) -> Shape {
    payment_shape(
        ask.payee.as_ref().map(|payee| payee.value),
        ask.amount.as_ref().map(|amount| amount.value),
        ask.currency,
    )
}

/// An ask for a standing order, or for another day, is no ask for a payment now.
fn is_payment_now(ask: &PaymentAsk, facts: &Facts) -> bool {
    !recurs(ask)
        && ask
            .start
            .as_ref()
            .is_none_or(|start| date(start.value).is_some_and(|day| day <= facts.today))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        PaymentAsked,
        fixture::{account, ask, earlier, facts, from, pair, payee, units},
    };
    use countersign_domain::{ActionState, Currency};

    fn asked(to: Option<u128>, amount: Option<&str>) -> TransferAsked {
        TransferAsked {
            payments: vec![PaymentAsked {
                payee: to.map(|number| Target::Payee(payee(number))),
                amount: amount.map(str::to_owned),
            }],
            ..TransferAsked::default()
        }
    }

    /// Payments to payees, each with its amount.
    fn all(payments: &[(u128, &str)]) -> TransferAsked {
        TransferAsked {
            payments: payments
                .iter()
                .flat_map(|(to, amount)| asked(Some(*to), Some(amount)).payments)
                .collect(),
            ..TransferAsked::default()
        }
    }

    fn stored(proposal: &Proposal) -> Vec<(i16, Option<Target>, i64)> {
        proposal
            .values
            .lines
            .iter()
            .map(|line| {
                let amount = line.amount.map_or(0, MinorUnits::count);
                (line.line_number, crate::values::target(line), amount)
            })
            .collect()
    }

    fn not_grounded(what: &'static str) -> Refusal {
        Refusal::about(ToolCode::NotGrounded, what)
    }

    #[test]
    fn payee_and_amount_come_from_one_ask() {
        let facts = facts(1, vec![pair(1, 1, 2000), pair(1, 2, 5000)]);
        let stored = propose(&asked(Some(1), Some("20.00")), &facts).unwrap();
        assert_eq!(stored.values.lines[0].amount, Some(units(2000)));
        assert_eq!(
            propose(&asked(Some(1), Some("50.00")), &facts).unwrap_err(),
            not_grounded("amount")
        );
    }

    #[test]
    fn every_pair_of_a_message_is_a_line_in_the_order_the_customer_named_them() {
        let facts = facts(1, vec![pair(1, 1, 3000), pair(1, 2, 4500)]);
        let lines = [
            (1, Some(Target::Payee(payee(1))), 3000),
            (2, Some(Target::Payee(payee(2))), 4500),
        ];
        for order in [[(1, "30.00"), (2, "45.00")], [(2, "45.00"), (1, "30.00")]] {
            assert_eq!(stored(&propose(&all(&order), &facts).unwrap()), lines);
        }
        assert_eq!(
            propose(&all(&[(1, "45.00"), (2, "30.00")]), &facts).unwrap_err(),
            not_grounded("amount")
        );
    }

    #[test]
    fn a_pair_is_paid_as_often_as_it_was_asked_for() {
        let twice = all(&[(1, "20.00"), (1, "20.00")]);
        let once = facts(1, vec![pair(1, 1, 2000)]);
        assert_eq!(
            propose(&twice, &once).unwrap_err().code,
            ToolCode::ActNotRequested
        );
        let asked_twice = facts(1, vec![pair(1, 1, 2000), pair(1, 1, 2000)]);
        assert_eq!(propose(&twice, &asked_twice).unwrap().values.lines.len(), 2);
    }

    #[test]
    fn pairs_of_two_messages_are_two_requests() {
        let both = all(&[(1, "30.00"), (2, "45.00")]);
        let apart = facts(2, vec![pair(1, 1, 3000), pair(2, 2, 4500)]);
        assert_eq!(
            propose(&both, &apart).unwrap_err(),
            not_grounded("payments")
        );
        // A message that repeats one of them does not hide the message that has both.
        let repeated = facts(
            2,
            vec![pair(1, 1, 3000), pair(1, 2, 4500), pair(2, 1, 3000)],
        );
        assert_eq!(propose(&both, &repeated).unwrap().clause.sequence, 1);
    }

    #[test]
    fn lines_share_a_currency_and_an_account() {
        let both = all(&[(1, "30"), (2, "45")]);
        let mut yen = pair(1, 2, 45);
        yen.currency = Currency::Jpy;
        assert_eq!(
            propose(&both, &facts(1, vec![pair(1, 1, 3000), yen])).unwrap_err(),
            Refusal::about(ToolCode::CurrencyMismatch, "currency")
        );
        let elsewhere = from(pair(1, 2, 4500), 2);
        assert_eq!(
            propose(&both, &facts(1, vec![pair(1, 1, 3000), elsewhere])).unwrap_err(),
            not_grounded("from_account")
        );
    }

    #[test]
    fn more_lines_than_a_card_holds_are_refused() {
        let many = |count: usize| {
            let asks: Vec<_> = (0..count).map(|_| pair(1, 1, 2000)).collect();
            propose(&all(&vec![(1, "20.00"); count]), &facts(1, asks))
        };
        assert_eq!(many(PAYMENTS_MAX).unwrap().values.lines.len(), 10);
        assert_eq!(
            many(PAYMENTS_MAX + 1).unwrap_err(),
            Refusal::about(ToolCode::InvalidArgument, "payments")
        );
    }

    #[test]
    fn an_open_payee_is_not_filled_by_a_model() {
        let mut open = ask(1);
        open.amount = pair(1, 1, 2000).amount;
        let facts = facts(1, vec![open]);
        assert_eq!(
            propose(&asked(Some(1), Some("20.00")), &facts).unwrap_err(),
            not_grounded("payee")
        );
        let stored = propose(&asked(None, Some("20.00")), &facts).unwrap();
        assert_eq!(stored.values.lines[0].payee, None);
    }

    #[test]
    fn an_account_is_the_customers_to_name() {
        let mut request = asked(Some(1), Some("20.00"));
        request.from_account = Some(account(2));
        let unnamed = facts(1, vec![pair(1, 1, 2000)]);
        assert_eq!(
            propose(&request, &unnamed).unwrap_err(),
            not_grounded("from_account")
        );
        let named = facts(1, vec![from(pair(1, 1, 2000), 2)]);
        assert_eq!(
            propose(&request, &named).unwrap().values.from_account,
            Some(account(2))
        );
        // A model that leaves the account out does not get another one for it.
        request.from_account = None;
        assert_eq!(
            propose(&request, &named).unwrap().values.from_account,
            Some(account(2))
        );
    }

    #[test]
    fn without_a_default_in_the_currency_two_accounts_leave_the_slot_open() {
        let mut facts = facts(1, vec![pair(1, 1, 2000)]);
        facts.accounts[0].is_default = false;
        let stored = propose(&asked(Some(1), Some("20.00")), &facts).unwrap();
        assert_eq!(stored.values.from_account, None);
        facts.accounts.remove(1);
        let stored = propose(&asked(Some(1), Some("20.00")), &facts).unwrap();
        assert_eq!(stored.values.from_account, Some(account(1)));
    }

    #[test]
    fn money_does_not_leave_the_account_it_goes_to() {
        let mut to_default = ask(1);
        to_default.payee = Some(countersign_provenance::Grounded {
            value: Target::Own(account(1)),
            at: to_default.clause,
        });
        let facts = facts(1, vec![to_default]);
        let mut request = asked(None, None);
        request.payments[0].payee = Some(Target::Own(account(1)));
        let stored = propose(&request, &facts).unwrap();
        assert_eq!(stored.values.from_account, None);
    }

    #[test]
    fn an_account_of_another_currency_is_a_mismatch() {
        let facts = facts(1, vec![from(pair(1, 1, 2000), 3)]);
        assert_eq!(
            propose(&asked(Some(1), Some("20.00")), &facts).unwrap_err(),
            Refusal::about(ToolCode::CurrencyMismatch, "from_account")
        );
    }

    #[test]
    fn an_ask_for_a_standing_order_is_no_ask_for_one_payment() {
        let mut recurring = pair(1, 1, 2000);
        recurring.recurring = true;
        let facts = facts(1, vec![recurring]);
        assert_eq!(
            propose(&asked(Some(1), Some("20.00")), &facts)
                .unwrap_err()
                .code,
            ToolCode::ActNotRequested
        );
    }

    #[test]
    fn another_day_is_not_now() {
        let day = |year, month, day| {
            let mut ask = pair(1, 1, 2000);
            ask.start = Some(countersign_provenance::Grounded {
                value: (year, month, day),
                at: ask.clause,
            });
            facts(1, vec![ask])
        };
        let request = asked(Some(1), Some("20.00"));
        assert!(propose(&request, &day(2026, 11, 30)).is_ok());
        for later in [day(2026, 12, 1), day(2026, 2, 30)] {
            assert_eq!(
                propose(&request, &later).unwrap_err().code,
                ToolCode::ActNotRequested
            );
        }
    }

    #[test]
    fn decimals_that_a_currency_lacks_are_not_rounded_away() {
        let mut yen = pair(1, 1, 5000);
        yen.currency = Currency::Jpy;
        let facts = facts(1, vec![yen]);
        assert_eq!(
            propose(&asked(Some(1), Some("5000.00")), &facts).unwrap_err(),
            not_grounded("amount")
        );
        assert!(propose(&asked(Some(1), Some("5000")), &facts).is_ok());
    }

    #[test]
    fn an_ask_that_a_filled_card_used_up_is_gone_until_it_is_asked_again() {
        let mut open = pair(1, 1, 2000);
        open.amount = None;
        let mut facts = facts(1, vec![open.clone()]);
        let offered = propose(&asked(Some(1), None), &facts).unwrap();
        for state in [ActionState::Confirmed, ActionState::Cancelled] {
            facts.earlier = vec![earlier(&offered, state, 1)];
            assert_eq!(
                propose(&asked(Some(1), None), &facts).unwrap_err().code,
                ToolCode::ActNotRequested
            );
        }
        let mut again = open;
        again.clause.sequence = 2;
        facts.grounding.payments.push(again);
        assert!(propose(&asked(Some(1), None), &facts).is_ok());
    }
}
