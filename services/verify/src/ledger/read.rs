//! The lines of an export.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::verdict::Verdict;

/// Decimals that amounts are compared with: enough for every currency.
const DECIMALS: usize = 3;

/// One event of the log.
pub struct Event {
    /// Its place in the log.
    pub leaf: Option<u64>,
    /// Whose chain it stands in, and where.
    pub customer: String,
    pub sequence: u64,
    /// The bytes that were hashed.
    pub payload: String,
    /// The same, read.
    pub said: Value,
}

/// One side of a movement of money.
pub struct Transfer {
    pub customer: String,
    pub id: String,
    pub account: String,
    pub kind: String,
    pub state: String,
    /// In thousandths.
    pub amount: i128,
    pub currency: String,
    pub counterparty: Option<String>,
    pub action: Option<String>,
    pub origin: Option<String>,
    pub made: String,
}

/// One leg.
pub struct Entry {
    pub customer: String,
    pub transfer: String,
    pub leg: i64,
    pub book: String,
    pub account: Option<String>,
    /// In thousandths.
    pub amount: i128,
    pub currency: String,
}

/// A whole export.
#[derive(Default)]
pub struct Export {
    pub head: String,
    pub events: Vec<Event>,
    /// Of each customer: how many events, and the hash they lead to.
    pub chains: BTreeMap<String, (u64, String)>,
    pub transfers: Vec<Transfer>,
    pub entries: Vec<Entry>,
}

/// One line, with its number for whoever has to look at it.
struct Line {
    number: usize,
    value: Value,
}

impl Line {
    fn bad(&self, what: &str) -> Verdict {
        Verdict::Malformed(format!("line {}: {what}", self.number))
    }

    fn text(&self, name: &str) -> Result<String, Verdict> {
        self.value[name]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| self.bad(&format!("no {name}")))
    }

    fn maybe(&self, name: &str) -> Result<Option<String>, Verdict> {
        if self.value[name].is_null() {
            Ok(None)
        } else {
            self.text(name).map(Some)
        }
    }

    fn count(&self, name: &str) -> Result<u64, Verdict> {
        self.value[name]
            .as_u64()
            .ok_or_else(|| self.bad(&format!("no {name}")))
    }

    fn amount(&self) -> Result<i128, Verdict> {
        thousandths(&self.text("amount")?).ok_or_else(|| self.bad("the amount is none"))
    }
}

impl Export {
    /// Reads an export.
    pub fn read(text: &str) -> Result<Self, Verdict> {
        let mut export = Self::default();
        for (place, text) in text.lines().enumerate() {
            let value = serde_json::from_str(text)
                .map_err(|_| Verdict::Malformed(format!("line {}: not JSON", place + 1)))?;
            let line = Line {
                number: place + 1,
                value,
            };
            match line.text("is")?.as_str() {
                "head" if place == 0 => export.head = line.text("note")?,
                "event" => {
                    let payload = line.text("payload")?;
                    export.events.push(Event {
                        leaf: line.value["leaf"].as_u64(),
                        customer: line.text("customer")?,
                        sequence: line.count("sequence")?,
                        said: serde_json::from_str(&payload)
                            .map_err(|_| line.bad("the payload is not JSON"))?,
                        payload,
                    });
                }
                "chain" => {
                    let before = export.chains.insert(
                        line.text("customer")?,
                        (line.count("sequence")?, line.text("hash")?),
                    );
                    if before.is_some() {
                        return Err(line.bad("a second head of one chain"));
                    }
                }
                "transfer" => export.transfers.push(Transfer {
                    customer: line.text("customer")?,
                    id: line.text("transfer")?,
                    account: line.text("account")?,
                    kind: line.text("kind")?,
                    state: line.text("state")?,
                    amount: line.amount()?,
                    currency: line.text("currency")?,
                    counterparty: line.maybe("counterparty")?,
                    action: line.maybe("action")?,
                    origin: line.maybe("origin")?,
                    made: line.text("made")?,
                }),
                "entry" => export.entries.push(Entry {
                    customer: line.text("customer")?,
                    transfer: line.text("transfer")?,
                    leg: line.value["leg"]
                        .as_i64()
                        .ok_or_else(|| line.bad("no leg"))?,
                    book: line.text("book")?,
                    account: line.maybe("account")?,
                    amount: line.amount()?,
                    currency: line.text("currency")?,
                }),
                _ => return Err(line.bad("of no known kind, or not in its place")),
            }
        }
        if export.head.is_empty() {
            return Err(Verdict::Malformed(
                "the first line is no signed head".to_owned(),
            ));
        }
        Ok(export)
    }
}

/// A decimal as a count of thousandths; nothing where it is none.
pub fn thousandths(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let right = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || whole.len() > 20
        || decimals.len() > DECIMALS
        || !right(whole)
        || !right(decimals)
    {
        return None;
    }
    format!("{whole}{decimals:0<DECIMALS$}")
        .parse::<i128>()
        .ok()
        .map(|count| sign * count)
}

#[cfg(test)]
mod tests {
    use super::thousandths;

    #[test]
    fn amounts_of_every_exponent_are_read_alike() {
        for (text, wanted) in [
            ("20.00", 20_000),
            ("-0.05", -50),
            ("1200", 1_200_000),
            ("95.250", 95_250),
        ] {
            assert_eq!(thousandths(text), Some(wanted), "{text}");
        }
        for bad in ["", "-", ".5", "1.2345", "1,50", "+1", "1e3", "--1"] {
            assert_eq!(thousandths(bad), None, "{bad}");
        }
    }
}
