//! Facts built by hand, for the tests of the pure decisions.

use countersign_domain::{
    AccountId, ActionId, ActionKind, ActionState, CardId, Currency, MinorUnits, Money, PayeeId,
};
use countersign_provenance::{Grounded, Grounding, MessageSpan, PaymentAsk, Span, Target};
use countersign_store::{
    StoredVersion,
    read::{account::Account, card::Card, payee::Payee},
};
use time::{OffsetDateTime, macros::datetime};
use uuid::Uuid;

use crate::{earlier::Earlier, facts::Facts, propose::Proposal};

/// The moment of the facts.
pub(crate) const NOW: OffsetDateTime = datetime!(2026-11-30 10:00 UTC);

pub(crate) fn payee(number: u128) -> PayeeId {
    PayeeId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn account(number: u128) -> AccountId {
    AccountId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn units(count: i64) -> MinorUnits {
    MinorUnits::new(count).expect("an amount")
}

fn at<T>(sequence: i64, value: T) -> Grounded<T> {
    Grounded {
        value,
        at: clause(sequence),
    }
}

pub(crate) fn clause(sequence: i64) -> MessageSpan {
    MessageSpan {
        sequence,
        span: Span { start: 0, end: 1 },
    }
}

/// An ask of a message, in euros, with nothing named.
pub(crate) fn ask(sequence: i64) -> PaymentAsk {
    PaymentAsk {
        payee: None,
        typed_iban: None,
        amount: None,
        currency: Currency::Eur,
        from: None,
        recurring: false,
        frequency: None,
        start: None,
        open_because: None,
        clause: clause(sequence),
    }
}

/// An ask of a message for a payee and an amount.
pub(crate) fn pair(sequence: i64, to: u128, amount: i64) -> PaymentAsk {
    PaymentAsk {
        payee: Some(at(sequence, Target::Payee(payee(to)))),
        amount: Some(at(sequence, units(amount))),
        ..ask(sequence)
    }
}

/// The ask, from an account that the customer named.
pub(crate) fn from(mut ask: PaymentAsk, number: u128) -> PaymentAsk {
    ask.from = Some(at(ask.clause.sequence, account(number)));
    ask
}

fn own(number: u128, currency: Currency, is_default: bool) -> Account {
    Account {
        id: account(number),
        label: format!("Account {number}"),
        kind: "current".to_owned(),
        iban: format!("DE{number:020}"),
        balance: Money {
            amount: units(100_000),
            currency,
        },
        is_default,
    }
}

fn saved(number: u128, iban: String) -> Payee {
    Payee {
        id: payee(number),
        name: format!("Payee {number}"),
        alias: None,
        iban,
        saved: NOW.date(),
        payments: 1,
    }
}

/// A customer with accounts 1 (EUR, default), 2 (EUR) and 3 (JPY), payees 1 and 2, payee 9 whose number is account 1's, and a
/// card that works; `payments` are what their words ask for, up to the message `newest`.
pub(crate) fn facts(newest: i64, payments: Vec<PaymentAsk>) -> Facts {
    Facts {
        grounding: Grounding {
            payments,
            ..Grounding::default()
        },
        newest_message: newest,
        accounts: vec![
            own(1, Currency::Eur, true),
            own(2, Currency::Eur, false),
            own(3, Currency::Jpy, false),
        ],
        payees: vec![
            saved(1, format!("GB{:020}", 1)),
            saved(2, format!("GB{:020}", 2)),
            saved(9, format!("DE{:020}", 1)),
        ],
        cards: vec![Card {
            id: CardId::from_uuid(Uuid::from_u128(1)),
            label: "Everyday card".to_owned(),
            kind: "debit".to_owned(),
            last_four: "4821".to_owned(),
            frozen: false,
        }],
        orders: Vec::new(),
        movement: None,
        earlier: Vec::new(),
        dropped: Vec::new(),
        now: NOW,
        today: NOW.date(),
        rules_version: "rules/1".to_owned(),
    }
}

/// An earlier request with the values of a proposal, made when `through` was the newest message.
pub(crate) fn earlier(proposal: &Proposal, state: ActionState, through: i64) -> Earlier {
    Earlier {
        id: ActionId::from_uuid(Uuid::from_u128(77)),
        kind: proposal.kind,
        state,
        target_key: proposal.target_key.clone(),
        grounded_through: through,
        consumed_through: through,
        expires_at: NOW + time::Duration::minutes(5),
        first: proposal.values.clone(),
        current: proposal.values.clone(),
    }
}

/// A transfer of some values that stands on a message.
pub(crate) fn proposal(sequence: i64, values: StoredVersion) -> Proposal {
    Proposal {
        kind: ActionKind::Transfer,
        target_key: "transfer".to_owned(),
        values,
        clause: clause(sequence),
    }
}
