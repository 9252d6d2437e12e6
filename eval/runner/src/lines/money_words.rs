//! What a line says about a payment: how much, to whom, whose.

use countersign_domain::{CustomerId, Money};

use crate::{cast, evidence, lines::Played};

/// `20.00 EUR to Bob for kabir from savings`, every part optional.
#[derive(Clone, Debug, Default)]
pub struct Payment {
    amount: Option<Money>,
    /// The line names an amount that its currency cannot have: no row ever matches.
    impossible: bool,
    payee: Option<String>,
    from: Option<String>,
    person: Option<CustomerId>,
}

impl Payment {
    /// Reads it. Nothing where words are left over.
    #[must_use]
    pub fn read(text: &str, played: &Played<'_>) -> Option<Self> {
        let mut payment = Self::default();
        let mut rest = text.trim();
        if let Some((before, person)) = rest
            .rsplit_once(" for ")
            .or_else(|| Some(("", rest.strip_prefix("for ")?)))
            && let Some(customer) = played.recording.ids.customer(person.trim())
        {
            payment.person = Some(customer);
            rest = before.trim();
        }
        let mut words = rest.splitn(3, ' ');
        if let (Some(amount), Some(currency)) = (words.next(), words.next())
            && amount.starts_with(|letter: char| letter.is_ascii_digit())
            && currency.len() == 3
        {
            match cast::money(&format!("{} {currency}", amount.replace(',', ""))) {
                Ok(money) => payment.amount = Some(money),
                Err(_) => payment.impossible = true,
            }
            rest = words.next().unwrap_or_default().trim();
        }
        if let Some((before, account)) = rest
            .rsplit_once(" from ")
            .or_else(|| Some(("", rest.strip_prefix("from ")?)))
        {
            payment.from = Some(account.trim().to_lowercase());
            rest = before.trim();
        }
        if let Some(payee) = rest.strip_prefix("to ") {
            payment.payee = Some(payee.trim().to_owned());
            rest = "";
        }
        rest.is_empty().then_some(payment)
    }

    fn is_whose(&self, customer: uuid::Uuid) -> bool {
        self.person.is_none_or(|person| person.uuid() == customer)
    }

    /// Whether one of the request's payments is this.
    #[must_use]
    pub fn is_in(&self, action: &evidence::Action) -> bool {
        if self.impossible || !self.is_whose(action.customer) {
            return false;
        }
        let from = self.from.as_ref().is_none_or(|from| {
            action
                .from_account
                .as_ref()
                .is_some_and(|account| account.to_lowercase().starts_with(from.as_str()))
        });
        let currency = self
            .amount
            .is_none_or(|money| action.currency.as_deref() == Some(money.currency.code()));
        let line = action.lines.iter().any(|line| {
            self.amount
                .is_none_or(|money| line.amount == Some(money.amount.count()))
                && self
                    .payee
                    .as_ref()
                    .is_none_or(|payee| line.payee.as_ref().is_some_and(|name| same(name, payee)))
        });
        from && currency && (line || (self.amount.is_none() && self.payee.is_none()))
    }

    /// Whether the movement is this.
    #[must_use]
    pub fn is_move(&self, row: &evidence::Move) -> bool {
        !self.impossible
            && self.is_whose(row.customer)
            && self.amount.is_none_or(|money| {
                (row.amount, row.currency.as_str()) == (money.amount.count(), money.currency.code())
            })
            && self
                .payee
                .as_ref()
                .is_none_or(|payee| same(&row.counterparty, payee))
    }
}

/// Two names of one payee: as saved, without regard to case.
pub fn same(name: &str, other: &str) -> bool {
    name.to_lowercase() == other.to_lowercase()
}

/// `20.00 EUR to Bob and 5.00 EUR to Alice`
pub fn several(text: &str, played: &Played<'_>) -> Option<Vec<Payment>> {
    text.split(" and ")
        .map(|part| Payment::read(part, played))
        .collect()
}
