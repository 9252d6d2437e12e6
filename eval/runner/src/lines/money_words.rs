//! What a line says about a payment: how much, to whom, whose.

use std::sync::LazyLock;

use countersign_domain::{CustomerId, Money};
use regex::Regex;

use super::{rows::unquoted, words::pattern};
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
    /// The conversation it came from.
    conversation: Option<uuid::Uuid>,
}

impl Payment {
    /// Reads it. Nothing where words are left over.
    #[must_use]
    pub fn read(text: &str, played: &Played<'_>) -> Option<Self> {
        static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"(?:^|\s)(?:(?:for|of) )?(?P<number>\d[\d.,]*) (?P<currency>[A-Z]{3})\b")
        });
        let mut payment = Self::default();
        let mut rest = text.trim().to_owned();
        if let Some(found) = AMOUNT.captures(&rest) {
            match cast::money(&format!("{} {}", &found["number"], &found["currency"])) {
                Ok(money) => payment.amount = Some(money),
                Err(_) => payment.impossible = true,
            }
            let whole = found.get(0)?.range();
            rest = format!("{}{}", &rest[..whole.start], &rest[whole.end..])
                .trim()
                .to_owned();
        }
        static SESSION: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"\s*\bin session (?P<number>\d+)$"));
        if let Some(found) = SESSION.captures(&rest) {
            let number: u32 = found["number"].parse().ok()?;
            payment.conversation = Some(played.recording.conversation(number)?);
            let start = found.get(0)?.start();
            rest.truncate(start);
        }
        for joint in ["for", "by", "of"] {
            if let Some((before, person)) = split_last(&rest, joint)
                && let Some(customer) = played.recording.ids.customer(&person.to_lowercase())
            {
                payment.person = Some(customer);
                rest = before;
            }
        }
        if let Some((before, account)) = split_last(&rest, "from") {
            let account = account.to_lowercase();
            let account = account
                .trim_start_matches("the ")
                .trim_end_matches(" account")
                .trim();
            payment.from = Some(account.to_owned());
            rest = before;
        }
        if let Some(payee) = rest.strip_prefix("to ") {
            payment.payee = Some(unquoted(payee).to_owned());
            rest.clear();
        }
        matches!(rest.trim(), "" | "of" | "for").then_some(payment)
    }

    fn is_whose(&self, customer: uuid::Uuid) -> bool {
        self.person.is_none_or(|person| person.uuid() == customer)
    }

    /// Whether one of the request's payments is this.
    #[must_use]
    pub fn is_in(&self, action: &evidence::Action) -> bool {
        if self.impossible
            || !self.is_whose(action.customer)
            || self
                .conversation
                .is_some_and(|id| id != action.conversation)
        {
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

/// `Bob from savings` at its last `from`; also where the text begins with it.
fn split_last(text: &str, joint: &str) -> Option<(String, String)> {
    if let Some((before, after)) = text.rsplit_once(&format!(" {joint} ")) {
        return Some((before.trim().to_owned(), after.trim().to_owned()));
    }
    let after = text.strip_prefix(&format!("{joint} "))?;
    Some((String::new(), after.trim().to_owned()))
}

/// Two names of one payee: as saved, without regard to case.
pub fn same(name: &str, other: &str) -> bool {
    name.to_lowercase() == other.to_lowercase()
}

/// `20.00 EUR to Bob and 5.00 EUR to Alice`
pub fn several(text: &str, played: &Played<'_>) -> Option<Vec<Payment>> {
    // A payee's own name may hold an "and".
    if let Some(one) = Payment::read(text, played)
        && !text.contains(" and ")
    {
        return Some(vec![one]);
    }
    text.split(" and ")
        .flat_map(|part| part.split(" or "))
        .map(|part| Payment::read(part.trim().trim_start_matches("of "), played))
        .collect()
}
