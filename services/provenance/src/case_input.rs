//! What the customer of a case has, as the grounding wants it.

use countersign_domain::{AccountId, Currency};
use uuid::Uuid;

use crate::{Input, Locale, Message, OwnAccount, Payee, fold::folded_name, lexicon, table::Case};

/// The own accounts of a case: four usual ones, and those among its payees that bear the name of a kind of
/// account, each in the place of the usual one of its kind.
fn accounts(case: &Case) -> Vec<OwnAccount> {
    let currency = case.currency;
    let account = |number: u128, names: &[&str], currency| OwnAccount {
        id: AccountId::from_uuid(Uuid::from_u128(number)),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        iban: String::new(),
        currency,
    };
    let mut accounts = vec![
        account(1, &["current", "checking", "current account"], currency),
        account(2, &["savings", "savings account"], currency),
        account(3, &["travel"], Currency::Jpy),
        account(4, &["reserve"], Currency::Kwd),
    ];
    for (number, payee) in case.payees.iter().enumerate() {
        let Some(kind) = own_kind(payee) else {
            continue;
        };
        let usual = if kind == "current" { "checking" } else { kind };
        accounts.retain(|account| !account.names.iter().any(|name| name == usual));
        accounts.push(account(5 + number as u128, &[&payee.name, kind], currency));
    }
    accounts
}

/// The kind of own account that a name in the payees' column stands for.
fn own_kind(payee: &Payee) -> Option<&'static str> {
    let name = folded_name(&payee.name);
    lexicon::all()
        .iter()
        .flat_map(|language| &language.account_kinds)
        .find(|(words, _)| *words == name)
        .map(|(_, kind)| *kind)
}

/// The input a case stands for: all messages a minute apart, nothing consumed or stale.
pub fn input_of(case: &Case) -> Input {
    let message = |(index, text): (usize, &String)| {
        let sequence = i64::try_from(index).unwrap_or(i64::MAX);
        Message {
            sequence,
            text: text.clone(),
            pasted: Vec::new(),
            sent_at_unix_seconds: 1_796_000_000 + sequence * 60,
        }
    };
    Input {
        messages: case.turns.iter().enumerate().map(message).collect(),
        payees: case
            .payees
            .iter()
            .filter(|payee| own_kind(payee).is_none())
            .cloned()
            .collect(),
        accounts: accounts(case),
        cards: Vec::new(),
        orders: Vec::new(),
        transactions: Vec::new(),
        consumed: Vec::new(),
        consumed_acts: Vec::new(),
        account_currency: case.currency,
        locale: Locale(case.locale.clone()),
        now_unix_seconds: 1_796_000_000 + 3_600,
        stale_after_seconds: 86_400,
        stale_after_messages: 100,
    }
}
