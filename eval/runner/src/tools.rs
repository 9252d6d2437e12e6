//! From a tool named by its meaning to the product's own tool and ids.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use crate::cast::Ids;

/// What stands for `{action:kabir:1}` and its like in one run.
#[derive(Debug)]
pub struct Names<'a> {
    /// The ids of the cast's things.
    pub ids: &'a Ids,
    /// The requests that people's turns made, in order.
    pub actions: &'a BTreeMap<String, Vec<String>>,
    /// The panel's address.
    pub panel_origin: &'a str,
    /// The cursor of the last page.
    pub cursor: Option<&'a str>,
    /// Who types at this moment.
    pub speaker: &'a str,
}

impl Names<'_> {
    /// Replaces every placeholder; what stands for nothing stays as it is written.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let Some(length) = rest[start..].find('}') else {
                break;
            };
            let inside = &rest[start + 1..start + length];
            filled.push_str(&rest[..start]);
            match self.stands_for(inside) {
                Some(value) => filled.push_str(&value),
                None => filled.push_str(&rest[start..=start + length]),
            }
            rest = &rest[start + length + 1..];
        }
        filled + rest
    }

    fn stands_for(&self, inside: &str) -> Option<String> {
        let (name, change) = match inside.split_once('|') {
            Some((name, change)) => (name, Some(change)),
            None => (inside, None),
        };
        let mut parts = name.splitn(3, ':');
        let (kind, first, second) = (parts.next()?, parts.next(), parts.next());
        let value = match (kind, first, second) {
            ("canary", Some(person), None) => self.ids.canary(person)?.to_owned(),
            ("action", Some(person), Some(number)) => {
                let number: usize = number.parse().ok()?;
                self.actions
                    .get(person)?
                    .get(number.checked_sub(1)?)?
                    .clone()
            }
            ("merchant", Some(merchant), _) => {
                let name = merchant.to_owned()
                    + second
                        .map(|rest| format!(":{rest}"))
                        .as_deref()
                        .unwrap_or("");
                self.ids
                    .thing(&format!("merchant:{}:{name}", self.speaker))?
                    .to_owned()
            }
            (kind, Some(person), Some(name)) => self
                .ids
                .thing(&format!("{kind}:{person}:{name}"))?
                .to_owned(),
            ("panel_origin", None, None) => self.panel_origin.to_owned(),
            ("next", None, None) => self.cursor?.to_owned(),
            _ => return None,
        };
        Some(match change {
            None => value,
            Some("reversed") => value.chars().rev().collect(),
            Some("base64") => STANDARD.encode(value),
            Some("spaced") => value
                .chars()
                .map(String::from)
                .collect::<Vec<_>>()
                .join(" "),
            Some("hex") => value.bytes().map(|byte| format!("{byte:02x}")).collect(),
            Some("lower") => value.to_lowercase(),
            Some("rot13") => value.chars().map(rot13).collect(),
            Some("dashed") => value
                .chars()
                .map(String::from)
                .collect::<Vec<_>>()
                .join("-"),
            Some(_) => return None,
        })
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (key.clone(), self.filled(value)))
                .collect(),
            other => other.clone(),
        }
    }

    /// An id of the speaker's by name; else the text itself, which is what a fooled model would send.
    fn thing(&self, kinds: &[&str], value: &Value) -> Value {
        let Value::String(text) = value else {
            return value.clone();
        };
        for kind in kinds {
            if let Some(id) = self.ids.thing(&format!("{kind}:{}:{text}", self.speaker)) {
                return Value::String(id.to_owned());
            }
            let same = self
                .ids
                .names(kind, self.speaker)
                .find(|name| name.to_lowercase() == text.to_lowercase());
            if let Some(name) = same {
                return self
                    .ids
                    .thing(&format!("{kind}:{}:{name}", self.speaker))
                    .into();
            }
        }
        value.clone()
    }

    /// The product's tool and arguments.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: Option<&Value>) -> (String, Value) {
        let arguments = arguments.map_or(Value::Null, |value| self.filled(value));
        let given = match arguments {
            Value::Object(given) => given,
            Value::Null => Map::new(),
            other => return (tool.to_owned(), other),
        };
        match tool {
            "request_transfer" => (tool.to_owned(), self.transfer(given)),
            "spending_by_category" => (
                "get_spending_by_category".to_owned(),
                Value::Object(Map::new()),
            ),
            "get_transactions" | "search_transactions" => {
                ("list_transactions".to_owned(), self.renamed(given))
            }
            "get_standing_orders" => ("list_standing_orders".to_owned(), json!({})),
            "get_cards" => ("list_cards".to_owned(), json!({})),
            "get_payees" => ("list_payees".to_owned(), json!({})),
            "get_accounts" => ("list_accounts".to_owned(), json!({})),
            other => (other.to_owned(), self.renamed(given)),
        }
    }

    fn renamed(&self, given: Map<String, Value>) -> Value {
        given
            .into_iter()
            .map(|(key, value)| {
                let value = match key.as_str() {
                    "payee" => self.thing(&["payee_id", "account"], &value),
                    "account" | "from_account" => self.thing(&["account"], &value),
                    "card" => self.thing(&["card"], &value),
                    "order" => self.thing(&["order"], &value),
                    "transaction" => self.thing(&["txn", "merchant", "sender"], &value),
                    "document" => self.thing(&["document"], &value),
                    _ => value,
                };
                (key, value)
            })
            .collect()
    }

    /// One payment is written `{payee, amount, currency}`; several as `payments`.
    fn transfer(&self, mut given: Map<String, Value>) -> Value {
        let payments = match given.remove("payments") {
            Some(Value::Array(payments)) => payments,
            Some(other) => {
                given.insert("payments".to_owned(), other);
                return Value::Object(given);
            }
            None => {
                let one: Map<String, Value> = ["payee", "amount"]
                    .into_iter()
                    .filter_map(|key| Some((key.to_owned(), given.remove(key)?)))
                    .collect();
                vec![Value::Object(one)]
            }
        };
        let payments: Vec<Value> = payments
            .into_iter()
            .map(|payment| match payment {
                Value::Object(payment) => self.renamed(payment),
                other => other,
            })
            .collect();
        let Value::Object(mut call) = self.renamed(given) else {
            return Value::Null;
        };
        call.insert("payments".to_owned(), Value::Array(payments));
        Value::Object(call)
    }
}

fn rot13(letter: char) -> char {
    let turned = |base: u8| ((letter as u8 - base + 13) % 26 + base) as char;
    match letter {
        'a'..='z' => turned(b'a'),
        'A'..='Z' => turned(b'A'),
        other => other,
    }
}
