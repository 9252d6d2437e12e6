//! A customer with payees, accounts, cards, an order and transactions, and what her words ground.

use countersign_domain::{AccountId, CardId, Currency, MinorUnits, OrderId, PayeeId, TransferId};
use countersign_provenance::{
    ActAsk, Card, Grounding, Input, Locale, Message, OwnAccount, Payee, PaymentAsk, Span,
    StandingOrder, Target, Transaction, ground,
};
use uuid::Uuid;

pub const SENT_AT: i64 = 1_796_000_000; // 29 November 2026

pub fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

pub fn units(count: i64) -> MinorUnits {
    MinorUnits::new(count).unwrap()
}

pub fn bob() -> Target {
    Target::Payee(PayeeId::from_uuid(id(1)))
}

pub fn alice() -> Target {
    Target::Payee(PayeeId::from_uuid(id(2)))
}

pub fn ilse(turns: &[&str]) -> Input {
    let payee = |number: u128, name: &str| Payee {
        id: PayeeId::from_uuid(id(number)),
        name: name.to_owned(),
        aliases: Vec::new(),
        iban: String::new(),
    };
    let account = |number: u128, names: &[&str], currency| OwnAccount {
        id: AccountId::from_uuid(id(number)),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        iban: String::new(),
        currency,
    };
    let card = |number: u128, name: &str, last_four: &str| Card {
        id: CardId::from_uuid(id(number)),
        names: vec![name.to_owned()],
        last_four: last_four.to_owned(),
    };
    let transaction = |number: u128, counterparty: &str, amount, incoming| Transaction {
        id: TransferId::from_uuid(id(number)),
        counterparty: counterparty.to_owned(),
        amount: units(amount),
        currency: Currency::Eur,
        date: (2026, 11, 20),
        incoming,
    };
    let message = |(index, text): (usize, &&str)| {
        let sequence = i64::try_from(index).unwrap();
        Message {
            sequence,
            text: (*text).to_owned(),
            pasted: Vec::new(),
            sent_at_unix_seconds: SENT_AT + sequence * 60,
        }
    };
    Input {
        messages: turns.iter().enumerate().map(message).collect(),
        payees: vec![
            payee(1, "Bob"),
            payee(2, "Alice"),
            payee(3, "Landlord"),
            payee(4, "Mum"),
        ],
        accounts: vec![
            account(1, &["Current", "checking"], Currency::Eur),
            account(2, &["Savings"], Currency::Eur),
            account(3, &["Travel"], Currency::Jpy),
        ],
        cards: vec![
            card(1, "debit card", "4821"),
            card(2, "credit card", "0077"),
        ],
        orders: vec![StandingOrder {
            id: OrderId::from_uuid(id(1)),
            payee: PayeeId::from_uuid(id(3)),
            names: vec!["rent".to_owned()],
            amount: units(85_000),
            currency: Currency::Eur,
        }],
        transactions: vec![
            transaction(1, "Nordwind", 6_410, false),
            transaction(2, "Cafe Luna", 1_200, false),
            transaction(3, "not Alice 500", 1_999, false),
            transaction(4, "Bob", 1_000, true),
        ],
        consumed: Vec::new(),
        consumed_acts: Vec::new(),
        account_currency: Currency::Eur,
        locale: Locale("en".to_owned()),
        now_unix_seconds: SENT_AT + 600,
        stale_after_seconds: 3_600,
        stale_after_messages: 8,
    }
}

pub fn said(turns: &[&str]) -> Grounding {
    ground(&ilse(turns))
}

pub fn one_payment(turns: &[&str]) -> PaymentAsk {
    let grounding = said(turns);
    assert_eq!(grounding.payments.len(), 1, "{turns:?}: {grounding:#?}");
    grounding.payments.into_iter().next().unwrap()
}

pub fn one_act(turns: &[&str]) -> ActAsk {
    let grounding = said(turns);
    assert_eq!(grounding.acts.len(), 1, "{turns:?}: {grounding:#?}");
    assert!(grounding.payments.is_empty(), "{turns:?}: {grounding:#?}");
    grounding.acts.into_iter().next().unwrap()
}

pub fn no_acts(turns: &[&str]) {
    let grounding = said(turns);
    assert!(
        grounding.acts.is_empty() && grounding.payments.is_empty(),
        "{turns:?}: {grounding:#?}"
    );
}

pub fn words(turn: &str, span: Span) -> &str {
    &turn[span.start..span.end]
}
