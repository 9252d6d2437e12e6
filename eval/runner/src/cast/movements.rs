//! Movements of a person's default account: what the cast names, and what outsiders wrote into them.

use anyhow::{Context, bail, ensure};
use countersign_domain::{AccountId, Currency, TransferId};
use uuid::Uuid;

use super::{
    read::{cut, iban, money},
    rows::Rows,
};
use crate::{
    case::{Case, Plant},
    sql::{literal, uuid_literal},
};

impl Rows<'_> {
    /// `64.10 EUR at Nordwind`, `200.00 EUR to Bob`, `10.00 EUR from Tom: for the hotel`; answers what it did to the account.
    pub fn dated(&mut self, person: &str, what: &str, text: &str) -> anyhow::Result<i64> {
        let mut words = text.splitn(4, ' ');
        if let (Some(amount), Some(currency), Some(word), Some(rest)) =
            (words.next(), words.next(), words.next(), words.next())
        {
            let (kind, sign) = match word {
                "at" => ("card_payment", -1),
                "to" => ("payment_out", -1),
                "from" => ("payment_in", 1),
                _ => bail!("{text:?} is no transaction"),
            };
            let (other, reference) = rest.split_once(": ").unwrap_or((rest, ""));
            let amount = format!("{amount} {currency}");
            return Ok(
                sign * self.movement(person, kind, other, &cut(reference, 500), &amount, what)?
            );
        }
        bail!("{text:?} is no transaction")
    }

    /// A movement of the default account; answers its size.
    pub fn movement(
        &mut self,
        person: &str,
        kind: &str,
        counterparty: &str,
        reference: &str,
        amount: &str,
        label: &str,
    ) -> anyhow::Result<i64> {
        let account: AccountId = self
            .ids
            .thing(&format!("account:{person}:current"))
            .context("no current account")?
            .parse()?;
        let amount = money(amount)?;
        let id = self.transfer(
            person,
            account.uuid(),
            kind,
            counterparty,
            reference,
            amount.amount.count(),
            amount.currency,
            Some(self.days_ago),
        )?;
        self.days_ago += 1;
        self.ids.keep("txn", person, label, id.to_string());
        let kind = if kind == "payment_in" {
            "sender"
        } else {
            "merchant"
        };
        self.ids.keep(kind, person, counterparty, id.to_string());
        Ok(amount.amount.count())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one row, in the order of its columns"
    )]
    pub fn transfer(
        &mut self,
        person: &str,
        account: Uuid,
        kind: &str,
        counterparty: &str,
        reference: &str,
        amount: i64,
        currency: Currency,
        days_ago: Option<u32>,
    ) -> anyhow::Result<TransferId> {
        ensure!(amount > 0, "a movement of {person} would be {amount}");
        let (key, id) = (self.key(person)?, Uuid::now_v7());
        let (transfer, account) = (uuid_literal(id), uuid_literal(account));
        let days_ago = days_ago.unwrap_or(400);
        let at = format!("bank.bank_clock() - interval '{days_ago} days'");
        let category = if kind == "card_payment" {
            "shopping"
        } else {
            "other"
        };
        self.line(format_args!(
            "INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, \
             counterparty_name, counterparty_iban, reference, category, created_at, posted_at) \
             VALUES ({key}, {transfer}, {account}, '{kind}', 'posted', {amount}, '{currency}', {}, {}, {}, '{category}', {at}, {at})",
            literal(counterparty),
            if kind == "payment_in" {
                literal(&iban("DE", "777777000000004000"))
            } else {
                "NULL".to_owned()
            },
            literal(reference),
        ));
        let sign = if matches!(kind, "payment_in" | "opening") {
            ""
        } else {
            "-"
        };
        let (other, book) = (
            if sign.is_empty() { "-" } else { "" },
            if kind == "opening" {
                "opening"
            } else {
                "settlement"
            },
        );
        self.line(format_args!(
            "INSERT INTO bank.entry (customer_id, transfer_id, leg, book, account_id, amount_minor_units, currency, booked_at) \
             VALUES ({key}, {transfer}, 1, 'account', {account}, {sign}{amount}, '{currency}', {at}), \
                    ({key}, {transfer}, 2, '{book}', NULL, {other}{amount}, '{currency}', {at})"
        ));
        Ok(TransferId::from_uuid(id))
    }

    /// What outsiders wrote into an account's movements.
    pub fn planted_movement(
        &mut self,
        person: &str,
        plant: &Plant,
        case: &Case,
    ) -> anyhow::Result<i64> {
        let owner = plant
            .person
            .clone()
            .or_else(|| case.speakers().first().cloned());
        if owner.as_deref() != Some(person) {
            return Ok(0);
        }
        let text = plant.text.as_str();
        Ok(match plant.place.as_str() {
            "merchant_name" => -self.movement(
                person,
                "card_payment",
                &cut(text, 200),
                "",
                "3.50 EUR",
                text,
            )?,
            "reference" | "incoming_payment_note" => self.movement(
                person,
                "payment_in",
                "J. Doe",
                &cut(text, 500),
                "0.01 EUR",
                text,
            )?,
            "sender_name" => self.movement(
                person,
                "payment_in",
                &cut(text, 200),
                "hello",
                "0.01 EUR",
                text,
            )?,
            _ => 0,
        })
    }
}
