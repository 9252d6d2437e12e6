//! From a request to the action it would store: one file for each kind, each a pure decision over the facts.
//!
//! Each checks that the things named are the customer's, that the customer asked for the act, and that every value proposed
//! is in one and the same ask.

mod card;
mod dispute;
mod payee;
mod profile_change;
mod refund;
mod standing_order;
mod transfer;

use countersign_domain::{AccountId, ActionKind, Currency, MinorUnits, ToolCode};
use countersign_provenance::{Act, ActAsk, MessageSpan, PaymentAsk, Target};
use countersign_store::StoredVersion;
use time::{Date, Month};

use crate::{
    Refusal, Request,
    asks::Narrowing,
    facts::Facts,
    shape::{Shape, shapes, uses_up},
};

/// An action that may be stored, if the place it takes and the money it moves allow it.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub(crate) kind: ActionKind,
    /// What at most one open action of the conversation may be about.
    pub(crate) target_key: String,
    pub(crate) values: StoredVersion,
    /// The words it stands on.
    pub(crate) clause: MessageSpan,
}

/// Turns a request into the action it would store.
pub(crate) fn propose(request: &Request, facts: &Facts) -> Result<Proposal, Refusal> {
    match request {
        Request::Transfer(asked) => transfer::propose(asked, facts),
        Request::Refund { transaction } => refund::propose(*transaction, facts),
        Request::StandingOrder(asked) => standing_order::propose(asked, facts),
        Request::CardFreeze { card } => card::propose(ActionKind::CardFreeze, *card, facts),
        Request::CardUnfreeze { card } => card::propose(ActionKind::CardUnfreeze, *card, facts),
        Request::Dispute {
            transaction,
            reason,
        } => dispute::propose(*transaction, *reason, facts),
        Request::Payee => payee::propose(facts),
        Request::ProfileChange { field } => profile_change::propose(*field, facts),
    }
}

/// The asks for an act.
fn asks(act: Act, facts: &Facts) -> Result<Narrowing<'_, ActAsk>, Refusal> {
    Narrowing::from(facts.grounding.acts.iter().filter(|ask| ask.act == act))
}

/// Whether a Confirm or Cancel after the words of an ask has used it up, or the customer took its line out of a card.
fn is_used_up(
    facts: &Facts,
    kind: ActionKind,
    ask: &Shape,
    clause: MessageSpan,
    proposed: &Shape,
) -> bool {
    facts
        .earlier
        .iter()
        .filter(|earlier| earlier.kind == kind && earlier.is_consumed())
        .filter(|earlier| earlier.consumed_through >= clause.sequence)
        .flat_map(|earlier| shapes(kind, &earlier.first))
        .chain(
            facts
                .dropped
                .iter()
                .filter(|_| kind == ActionKind::Transfer)
                .filter(|dropped| dropped.through >= clause.sequence)
                .map(|dropped| dropped.shape.clone()),
        )
        .any(|ended| uses_up(&ended, ask, proposed))
}

/// The one ask for an act whose only slot is its target, used up or not considered.
fn settle<'a>(
    kind: ActionKind,
    asks: Narrowing<'a, ActAsk>,
    target: impl Fn(&ActAsk) -> Option<String>,
    proposed: Option<String>,
    facts: &Facts,
) -> Result<&'a ActAsk, Refusal> {
    let proposed = Shape(vec![proposed]);
    asks.without(|ask| {
        is_used_up(
            facts,
            kind,
            &Shape(vec![target(ask)]),
            ask.clause,
            &proposed,
        )
    })?
    .best(|ask| Shape(vec![target(ask)]).same_slots(&proposed))
    .ok_or(Refusal::new(ToolCode::ActNotRequested))
}

/// Whether an ask is for a standing order, with or without a rhythm.
fn recurs(ask: &PaymentAsk) -> bool {
    ask.recurring || ask.frequency.is_some()
}

/// A target that is not the customer's is not there.
fn check_target(target: Option<Target>, facts: &Facts) -> Result<(), Refusal> {
    let known = match target {
        None => true,
        Some(Target::Payee(id)) => facts.payee(id).is_some(),
        Some(Target::Own(id)) => facts.account(id).is_some(),
    };
    if known {
        Ok(())
    } else {
        Err(Refusal::about(ToolCode::NotFound, "payee"))
    }
}

/// An account that is not the customer's is not there.
fn check_from_account(account: Option<AccountId>, facts: &Facts) -> Result<(), Refusal> {
    match account {
        Some(id) if facts.account(id).is_none() => {
            Err(Refusal::about(ToolCode::NotFound, "from_account"))
        }
        _ => Ok(()),
    }
}

/// A saved payee whose number is one of the customer's own accounts is not paid: the money would come back.
fn check_not_to_self(target: Option<Target>, facts: &Facts) -> Result<(), Refusal> {
    match target {
        Some(Target::Payee(id))
            if facts
                .payee(id)
                .is_none_or(|payee| facts.is_own_number(&payee.iban)) =>
        {
            Err(Refusal::about(ToolCode::NotPossibleNow, "payee"))
        }
        _ => Ok(()),
    }
}

/// The account money leaves: the one the customer named, else their own default. Never a model's choice.
///
/// Left open where the customer named none and neither a default nor a single account of the currency decides.
fn from_account(
    named: Option<AccountId>,
    currency: Currency,
    targets: &[Option<Target>],
    facts: &Facts,
) -> Result<Option<AccountId>, Refusal> {
    let is_target = |id: AccountId| targets.contains(&Some(Target::Own(id)));
    if let Some(id) = named {
        let account = facts
            .account(id)
            .ok_or(Refusal::about(ToolCode::NotFound, "from_account"))?;
        if account.balance.currency != currency {
            return Err(Refusal::about(ToolCode::CurrencyMismatch, "from_account"));
        }
        if is_target(id) {
            return Err(Refusal::about(ToolCode::NotPossibleNow, "from_account"));
        }
        return Ok(Some(id));
    }
    let mut of_currency = facts
        .accounts
        .iter()
        .filter(|account| account.balance.currency == currency);
    let chosen = match of_currency.clone().find(|account| account.is_default) {
        Some(default) => Some(default),
        None => of_currency.next().filter(|_| of_currency.next().is_none()),
    };
    // Money does not move to where it is: then the customer says where from.
    Ok(chosen
        .map(|account| account.id)
        .filter(|id| !is_target(*id)))
}

/// A currency the customer keeps no account in cannot be sent.
fn check_currency(currency: Currency, facts: &Facts) -> Result<(), Refusal> {
    if facts
        .accounts
        .iter()
        .any(|account| account.balance.currency == currency)
    {
        Ok(())
    } else {
        Err(Refusal::about(ToolCode::CurrencyMismatch, "currency"))
    }
}

/// A day as the grammar reads it. `None` for one that no calendar has.
fn date((year, month, day): (i32, u8, u8)) -> Option<Date> {
    Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
}

/// The slots of a payment, as an ask or a proposal holds them.
fn payment_shape(target: Option<Target>, amount: Option<MinorUnits>, currency: Currency) -> Shape {
    Shape(vec![
        target.map(Target::id_text),
        amount.map(|amount| crate::shape::money(Some(currency), amount)),
    ])
}
