//! A payment, or a move between own accounts.

use countersign_domain::{ActionKind, MinorUnits, ToolCode};
use countersign_provenance::{PaymentAsk, Target};

use super::{
    Proposal, check_currency, check_from_account, check_not_to_self, check_target, date,
    from_account, is_used_up, payment_shape, recurs,
};
use crate::{
    PAYMENTS_MAX, Refusal, TransferAsked,
    asks::{Narrowing, amount_in, check_amount},
    facts::Facts,
    values::{blank, line},
};

/// Every line stands on an ask of its own, all of the same message.
pub(super) fn propose(asked: &TransferAsked, facts: &Facts) -> Result<Proposal, Refusal> {
    if asked.payments.is_empty() || asked.payments.len() > PAYMENTS_MAX {
        return Err(Refusal::about(ToolCode::InvalidArgument, "payments"));
    }
    for payment in &asked.payments {
        check_amount(payment.amount.as_deref())?;
        check_target(payment.payee, facts)?;
    }
    check_from_account(asked.from_account, facts)?;

    let mut found: Vec<(&PaymentAsk, Option<MinorUnits>)> = Vec::new();
    for payment in &asked.payments {
        let first = found.first().map(|(ask, _)| *ask);
        let fresh = facts.grounding.payments.iter().filter(|ask| {
            is_payment_now(ask, facts) && !found.iter().any(|(taken, _)| std::ptr::eq(*taken, *ask))
        });
        let ask_shape = |ask: &PaymentAsk| {
            payment_shape(
                ask.payee.as_ref().map(|payee| payee.value),
                ask.amount.as_ref().map(|amount| amount.value),
                ask.currency,
            )
        };
        // What an amount is worth depends on the ask's currency, so the proposal's shape does too.
        let proposed = |ask: &PaymentAsk| {
            let amount = payment
                .amount
                .as_deref()
                .and_then(|text| amount_in(text, ask.currency));
            payment_shape(payment.payee, amount, ask.currency)
        };
        let ask = Narrowing::from(fresh)?
            .naming("payments", first, |ask, first| {
                ask.clause.sequence == first.clause.sequence
            })?
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
        let amount = payment
            .amount
            .as_deref()
            .and_then(|text| amount_in(text, ask.currency));
        found.push((ask, amount));
    }

    let (first, _) = found[0];
    let currency = first.currency;
    if found.iter().any(|(ask, _)| ask.currency != currency) {
        return Err(Refusal::about(ToolCode::CurrencyMismatch, "currency"));
    }
    check_currency(currency, facts)?;
    let targets: Vec<Option<Target>> = asked.payments.iter().map(|payment| payment.payee).collect();
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
        .any(|(ask, _)| ask.from.as_ref().map(|from| from.value) != named)
    {
        return Err(Refusal::about(ToolCode::NotGrounded, "from_account"));
    }

    let mut values = blank(&facts.rules_version);
    values.currency = Some(currency);
    values.from_account = from_account(named, currency, &targets, facts)?;
    values.lines = (1..)
        .zip(targets.iter().zip(&found))
        .map(|(number, (target, (_, amount)))| line(number, *target, *amount))
        .collect();
    Ok(Proposal {
        kind: ActionKind::Transfer,
        target_key: "transfer".to_owned(),
        values,
        clause: first.clause,
    })
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
