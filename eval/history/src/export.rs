//! The ledger's export, read line by line.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde_json::Value;

/// A receipt: what the log says was confirmed.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Whose.
    pub customer: String,
    /// Which action.
    pub action: String,
    /// H of what ran.
    pub confirm_hash: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The payments: transfer and amount.
    pub lines: Vec<(String, i64)>,
}

/// One leg.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Whose.
    pub customer: String,
    /// Of which transfer.
    pub transfer: String,
    /// The account; nothing where the leg stands in another book.
    pub account: Option<String>,
    /// In the smallest unit.
    pub amount: i64,
    /// When.
    pub at: i64,
}

/// What the bank ended up with.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What was confirmed.
    pub receipts: Vec<Receipt>,
    /// Whose each action is.
    pub owners: BTreeMap<String, String>,
    /// Actions that were undone, and when.
    pub undone: Vec<(String, i64)>,
    /// Actions that were cancelled by somebody.
    pub cancelled: Vec<String>,
    /// Transfers: state, and the action that ordered them.
    pub transfers: BTreeMap<String, (String, Option<String>)>,
    /// All legs.
    pub legs: Vec<Leg>,
    /// From which account each action pays.
    pub accounts: BTreeMap<String, String>,
}

impl Ledger {
    /// Reads an export.
    ///
    /// # Errors
    /// When a line is not of the export's form.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let mut ledger = Self::default();
        for (number, line) in text.lines().enumerate() {
            let value: Value =
                serde_json::from_str(line).with_context(|| format!("line {}", number + 1))?;
            ledger
                .take(&value)
                .with_context(|| format!("line {}", number + 1))?;
        }
        Ok(ledger)
    }

    fn take(&mut self, line: &Value) -> anyhow::Result<()> {
        match line["is"].as_str() {
            Some("event") => self.event(line),
            Some("transfer") => {
                let place = (
                    text(line, "state")?,
                    line["action"].as_str().map(str::to_owned),
                );
                let before = self.transfers.insert(text(line, "transfer")?, place);
                ensure!(before.is_none(), "a transfer stands there twice");
                Ok(())
            }
            Some("entry") => {
                self.legs.push(Leg {
                    customer: text(line, "customer")?,
                    transfer: text(line, "transfer")?,
                    account: line["account"].as_str().map(str::to_owned),
                    amount: cents(&text(line, "amount")?)?,
                    at: milliseconds(&text(line, "booked")?)?,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn event(&mut self, line: &Value) -> anyhow::Result<()> {
        let customer = text(line, "customer")?;
        let said: Value = serde_json::from_str(&text(line, "payload")?)?;
        let Some(action) = said["action"].as_str().map(str::to_owned) else {
            return Ok(());
        };
        let owner = self
            .owners
            .entry(action.clone())
            .or_insert_with(|| customer.clone());
        ensure!(
            *owner == customer,
            "{action} stands in two customers' chains"
        );
        match said["event"].as_str() {
            Some("confirmed") => {
                let mut lines = Vec::new();
                for line in said["lines"].as_array().into_iter().flatten() {
                    lines.push((text(line, "transfer")?, cents(&text(line, "amount")?)?));
                }
                if let Some(from) = said["from"].as_str() {
                    self.accounts.insert(action.clone(), from.to_owned());
                }
                self.receipts.push(Receipt {
                    customer,
                    action,
                    confirm_hash: text(&said, "confirm_hash")?,
                    at: milliseconds(&text(&said, "at")?)?,
                    lines,
                });
            }
            Some("undone") => self
                .undone
                .push((action, milliseconds(&text(&said, "at")?)?)),
            Some("cancelled") => self.cancelled.push(action),
            _ => {}
        }
        Ok(())
    }
}

fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    value[name]
        .as_str()
        .map(str::to_owned)
        .with_context(|| format!("no {name}"))
}

/// An amount with two decimals or none, as a count of its smallest unit. Other exponents do not take part.
fn cents(text: &str) -> anyhow::Result<i64> {
    let digits: String = text.chars().filter(|letter| *letter != '.').collect();
    digits.parse().with_context(|| format!("an amount: {text}"))
}

/// `2026-11-30T10:00:00.000Z` in milliseconds since 1970 (days by the civil-calendar count, proleptic Gregorian).
pub fn milliseconds(text: &str) -> anyhow::Result<i64> {
    let part = |from: usize, to: usize| -> anyhow::Result<i64> {
        text.get(from..to)
            .and_then(|part| part.parse().ok())
            .with_context(|| format!("a time: {text}"))
    };
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100
        + day_of_year
        - 719_468;
    Ok(((days * 24 + part(11, 13)?) * 60 + part(14, 16)?) * 60_000
        + part(17, 19)? * 1_000
        + part(20, 23)?)
}
