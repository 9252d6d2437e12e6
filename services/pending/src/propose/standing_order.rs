//! A standing order set up, changed or ended.

use countersign_domain::{ActionKind, Currency, OrderOperation, ToolCode};
use countersign_provenance::{Act, ActAsk, PaymentAsk, Target};
use countersign_store::read::order::Order;

use super::{
    Proposal, asks, check_currency, check_from_account, check_not_to_self, check_target, date,
    from_account, is_used_up, payment_shape, recurs, settle,
};
use crate::{
    OrderAsked, Refusal,
    asks::{Narrowing, amount_in, check_amount},
    facts::Facts,
    values::{blank, line},
};

/// Which values may stand depends on the operation; one that may not is an invalid argument.
pub(super) fn propose(asked: &OrderAsked, facts: &Facts) -> Result<Proposal, Refusal> {
    let refuse = |given: bool, what| {
        if given {
            Err(Refusal::about(ToolCode::InvalidArgument, what))
        } else {
            Ok(())
        }
    };
    match asked.operation {
        OrderOperation::Create => {
            refuse(asked.order.is_some(), "order")?;
            create(asked, facts)
        }
        OrderOperation::Change => {
            refuse(asked.payee.is_some(), "payee")?;
            refuse(asked.from_account.is_some(), "from_account")?;
            change(asked, facts)
        }
        OrderOperation::Cancel => {
            refuse(asked.payee.is_some(), "payee")?;
            refuse(asked.amount.is_some(), "amount")?;
            refuse(asked.currency.is_some(), "currency")?;
            refuse(asked.frequency.is_some(), "frequency")?;
            refuse(asked.start_date.is_some(), "start_date")?;
            refuse(asked.from_account.is_some(), "from_account")?;
            cancel(asked, facts)
        }
    }
}

fn create(asked: &OrderAsked, facts: &Facts) -> Result<Proposal, Refusal> {
    check_amount(asked.amount.as_deref())?;
    check_target(asked.payee, facts)?;
    check_from_account(asked.from_account, facts)?;
    let kind = ActionKind::StandingOrderCreate;
    let ask_shape = |ask: &PaymentAsk| {
        payment_shape(
            ask.payee.as_ref().map(|payee| payee.value),
            ask.amount.as_ref().map(|amount| amount.value),
            ask.currency,
        )
    };
    let proposed = |ask: &PaymentAsk| {
        let amount = asked
            .amount
            .as_deref()
            .and_then(|text| amount_in(text, ask.currency));
        payment_shape(asked.payee, amount, ask.currency)
    };
    let asks = Narrowing::from(facts.grounding.payments.iter())?
        .naming("payee", asked.payee, |ask, payee| {
            ask.payee
                .as_ref()
                .is_some_and(|named| named.value == *payee)
        })?
        .naming("currency", asked.currency, |ask, currency| {
            ask.currency == *currency
        })?
        .naming("amount", asked.amount.as_deref(), |ask, text| {
            ask.amount.as_ref().is_some_and(|named| {
                amount_in(text, ask.currency).is_some_and(|amount| amount == named.value)
            })
        })?
        // A payment asked for once is no standing order, whatever rhythm is proposed.
        .naming("frequency", asked.frequency, |ask, frequency| {
            ask.frequency
                .as_ref()
                .is_some_and(|named| named.value == *frequency)
        })?
        .without(|ask| !recurs(ask))?
        .naming("start_date", asked.start_date, |ask, day| {
            ask.start
                .as_ref()
                .is_some_and(|named| date(named.value) == Some(*day))
        })?
        .naming("from_account", asked.from_account, |ask, account| {
            ask.from
                .as_ref()
                .is_some_and(|named| named.value == *account)
        })?;
    let ask = asks
        .without(|ask| is_used_up(facts, kind, &ask_shape(ask), ask.clause, &proposed(ask)))?
        .best(|ask| ask_shape(ask).same_slots(&proposed(ask)))
        .ok_or(Refusal::new(ToolCode::ActNotRequested))?;

    check_currency(ask.currency, facts)?;
    check_not_to_self(asked.payee, facts)?;
    if matches!(asked.payee, Some(Target::Own(_))) {
        return Err(Refusal::about(ToolCode::NotPossibleNow, "payee"));
    }
    if asked.start_date.is_some_and(|day| day < facts.today) {
        return Err(Refusal::about(ToolCode::NotPossibleNow, "start_date"));
    }
    let mut values = blank(&facts.rules_version);
    values.currency = Some(ask.currency);
    values.from_account = from_account(
        ask.from.as_ref().map(|from| from.value),
        ask.currency,
        &[],
        facts,
    )?;
    values.frequency = asked.frequency;
    values.start_date = asked.start_date;
    let amount = asked
        .amount
        .as_deref()
        .and_then(|text| amount_in(text, ask.currency));
    values.lines = vec![line(1, asked.payee, amount)];
    Ok(Proposal {
        kind,
        target_key: "order:new".to_owned(),
        values,
        clause: ask.clause,
    })
}

fn find_order<'a>(asked: &OrderAsked, facts: &'a Facts) -> Result<Option<&'a Order>, Refusal> {
    asked
        .order
        .map(|id| {
            facts
                .orders
                .iter()
                .find(|order| order.id == id)
                .ok_or(Refusal::about(ToolCode::NotFound, "order"))
        })
        .transpose()
}

fn target_key(asked: &OrderAsked) -> String {
    asked
        .order
        .map_or_else(|| "order:open".to_owned(), |id| format!("order:{id}"))
}

fn order_of(ask: &ActAsk) -> Option<countersign_domain::OrderId> {
    ask.order.as_ref().map(|named| named.value)
}

fn change(asked: &OrderAsked, facts: &Facts) -> Result<Proposal, Refusal> {
    check_amount(asked.amount.as_deref())?;
    let order = find_order(asked, facts)?;
    let currency = currency_of_change(asked, order, facts)?;
    let asks = asks(Act::OrderChange, facts)?
        .naming("order", asked.order, |ask, id| order_of(ask) == Some(*id))?
        .naming("amount", asked.amount.as_deref(), |ask, text| {
            ask.amount.as_ref().is_some_and(|named| {
                amount_in(text, currency).is_some_and(|amount| amount == named.value)
            })
        })?
        .naming("frequency", asked.frequency, |ask, frequency| {
            ask.frequency
                .as_ref()
                .is_some_and(|named| named.value == *frequency)
        })?
        .naming("start_date", asked.start_date, |ask, day| {
            ask.start
                .as_ref()
                .is_some_and(|named| date(named.value) == Some(*day))
        })?;
    let ask = settle(
        ActionKind::StandingOrderChange,
        asks,
        |ask| order_of(ask).map(|id| id.to_string()),
        asked.order.map(|id| id.to_string()),
        facts,
    )?;
    if asked.start_date.is_some_and(|day| day < facts.today) {
        return Err(Refusal::about(ToolCode::NotPossibleNow, "start_date"));
    }
    let amount = asked
        .amount
        .as_deref()
        .and_then(|text| amount_in(text, currency));
    let mut values = blank(&facts.rules_version);
    values.order = asked.order;
    values.currency = Some(currency);
    values.frequency = asked.frequency;
    values.start_date = asked.start_date;
    values.lines = vec![line(1, None, amount)];
    Ok(Proposal {
        kind: ActionKind::StandingOrderChange,
        target_key: target_key(asked),
        values,
        clause: ask.clause,
    })
}

/// An order keeps its currency. While the order itself is open, amounts are in the main account's.
fn currency_of_change(
    asked: &OrderAsked,
    order: Option<&Order>,
    facts: &Facts,
) -> Result<Currency, Refusal> {
    let currency = match order {
        Some(order) => order.amount.currency,
        None => facts
            .accounts
            .first()
            .map(|account| account.balance.currency)
            .ok_or(Refusal::about(ToolCode::CurrencyMismatch, "currency"))?,
    };
    match asked.currency {
        Some(named) if named != currency => {
            Err(Refusal::about(ToolCode::CurrencyMismatch, "currency"))
        }
        _ => Ok(currency),
    }
}

fn cancel(asked: &OrderAsked, facts: &Facts) -> Result<Proposal, Refusal> {
    find_order(asked, facts)?;
    let asks = asks(Act::OrderCancel, facts)?
        .naming("order", asked.order, |ask, id| order_of(ask) == Some(*id))?;
    let ask = settle(
        ActionKind::StandingOrderCancel,
        asks,
        |ask| order_of(ask).map(|id| id.to_string()),
        asked.order.map(|id| id.to_string()),
        facts,
    )?;
    let mut values = blank(&facts.rules_version);
    values.order = asked.order;
    Ok(Proposal {
        kind: ActionKind::StandingOrderCancel,
        target_key: target_key(asked),
        values,
        clause: ask.clause,
    })
}
