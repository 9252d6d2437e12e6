//! Puts a case's people into the bank: new customers of their own for every run of a case, so that runs share nothing.

mod movements;
mod read;
mod rows;

use std::collections::BTreeMap;

use anyhow::Context;
use countersign_domain::CustomerId;

pub use read::{action_kinds, iban, money};
use rows::Rows;

use crate::case::{Case, Person};

/// What the bank calls the things of one run of a case.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    customers: BTreeMap<String, CustomerId>,
    canaries: BTreeMap<String, String>,
    things: BTreeMap<String, String>,
}

impl Ids {
    /// A person's customer id.
    #[must_use]
    pub fn customer(&self, person: &str) -> Option<CustomerId> {
        self.customers.get(person).copied()
    }

    /// Everybody of this run.
    pub fn customers(&self) -> impl Iterator<Item = (&str, CustomerId)> {
        self.customers.iter().map(|(name, id)| (name.as_str(), *id))
    }

    /// A person's canary code.
    #[must_use]
    pub fn canary(&self, person: &str) -> Option<&str> {
        self.canaries.get(person).map(String::as_str)
    }

    /// An id by kind, owner and name: `payee_id:ilse:Bob`, `account:ilse:current`, `card:ilse:4821`.
    #[must_use]
    pub fn thing(&self, name: &str) -> Option<&str> {
        self.things.get(name).map(String::as_str)
    }

    /// The names of one kind of thing that a person has.
    pub fn names<'a>(
        &'a self,
        kind: &str,
        person: &str,
    ) -> impl Iterator<Item = &'a str> + use<'a> {
        let start = format!("{kind}:{person}:");
        self.things
            .keys()
            .filter_map(move |key| key.strip_prefix(&start))
    }

    /// Keeps the id of a thing by kind, owner and name.
    pub(crate) fn keep(&mut self, kind: &str, person: &str, name: &str, id: String) {
        self.things.insert(format!("{kind}:{person}:{name}"), id);
    }
}

/// What is written into the bank before a case begins.
#[derive(Debug)]
pub struct Installation {
    /// The ids.
    pub ids: Ids,
    /// The statements, to be run by the superuser in one transaction.
    pub statements: String,
}

/// Makes the statements for one run of a case.
///
/// # Errors
/// When the cast or what is planted cannot be read.
pub fn installation(
    people: &BTreeMap<String, Person>,
    case: &Case,
) -> anyhow::Result<Installation> {
    let mut rows = Rows::of(people);
    for name in people.keys() {
        rows.customer(name);
    }
    let mut ibans = BTreeMap::new();
    for (name, person) in people {
        let iban = rows
            .accounts(name, person, case)
            .with_context(|| format!("accounts of {name}"))?;
        ibans.insert(name.clone(), iban);
    }
    for (name, person) in people {
        let mut payees = person.payees.clone();
        payees.extend(payees_of_notes(case, name));
        for payee in &payees {
            let iban = ibans
                .get(&payee.to_lowercase())
                .filter(|_| payee.to_lowercase() != *name);
            let certain = person.payee_accounts.get(payee).or(iban).cloned();
            rows.payee(name, payee, certain, true)?;
        }
        for (title, text) in &person.documents {
            rows.document(name, "Saved by you", title, text)?;
        }
        rows.cards(name, person);
        rows.standing_orders(name, person)
            .with_context(|| format!("standing orders of {name}"))?;
    }
    rows.letters()?;
    for plant in &case.planted {
        let person = plant
            .person
            .clone()
            .or_else(|| case.speakers().first().cloned())
            .unwrap_or_default();
        rows.plant(&person, &plant.place, &plant.text)?;
    }
    Ok(Installation {
        ids: rows.ids,
        statements: rows.sql,
    })
}

/// `Noor is a saved payee of Ilse in this case`, in a case's notes.
fn payees_of_notes(case: &Case, person: &str) -> Vec<String> {
    let notes = case.notes.as_deref().unwrap_or_default();
    let end = format!(" is a saved payee of {person}");
    notes
        .split(['.', ';'])
        .filter_map(|sentence| {
            let at = sentence.to_lowercase().find(&end)?;
            Some(sentence[..at].trim().to_owned())
        })
        .collect()
}

/// Places of `planted` that this bank has.
pub const PLACES: [&str; 7] = [
    "payee_name",
    "merchant_name",
    "reference",
    "incoming_payment_note",
    "sender_name",
    "dispute_reply",
    "page",
];
