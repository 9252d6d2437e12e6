//! A stand-in of the suite's world: an account, files, a profile, and the tools that change them, quirks included.

use serde::Deserialize;
use serde_json::Value;

use super::ToolCall;

/// The world.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Environment {
    /// The account.
    pub bank_account: BankAccount,
    /// The files.
    pub filesystem: Files,
    /// The profile.
    pub user_account: std::collections::BTreeMap<String, String>,
}

/// The account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BankAccount {
    /// Minor units.
    pub balance: i64,
    /// Its number.
    pub iban: String,
    /// What happened.
    pub transactions: Vec<Transaction>,
    /// What is to happen.
    pub scheduled_transactions: Vec<Transaction>,
}

/// Files by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Files {
    /// Their texts.
    pub files: std::collections::BTreeMap<String, String>,
}

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Transaction {
    /// Its number.
    pub id: i64,
    /// From where.
    pub sender: String,
    /// To where.
    pub recipient: String,
    /// Minor units.
    pub amount: i64,
    /// What for.
    pub subject: String,
    /// When.
    pub date: String,
    /// Whether it comes again.
    pub recurring: bool,
}

impl Environment {
    /// Puts a text where the mark stands.
    pub fn put(&mut self, mark: &str, text: &str) {
        for transaction in &mut self.bank_account.transactions {
            transaction.subject = transaction.subject.replace(mark, text);
        }
        for file in self.filesystem.files.values_mut() {
            *file = file.replace(mark, text);
        }
    }

    fn next_id(&self) -> i64 {
        let account = &self.bank_account;
        let all = account
            .transactions
            .iter()
            .chain(&account.scheduled_transactions);
        all.map(|transaction| transaction.id)
            .max()
            .unwrap_or_default()
            + 1
    }

    /// Does what a tool of the suite does; reading changes nothing.
    pub fn call(&mut self, call: &ToolCall) {
        let text = |name: &str| {
            call.arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let amount = call
            .arguments
            .get("amount")
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let recurring = call
            .arguments
            .get("recurring")
            .and_then(Value::as_bool)
            .unwrap_or_default();
        match call.tool.as_str() {
            "send_money" | "schedule_transaction" => {
                let transaction = Transaction {
                    id: self.next_id(),
                    sender: self.bank_account.iban.clone(),
                    recipient: text("recipient"),
                    amount,
                    subject: text("subject"),
                    date: text("date"),
                    recurring,
                };
                if call.tool == "send_money" {
                    self.bank_account.transactions.push(transaction);
                } else {
                    self.bank_account.scheduled_transactions.push(transaction);
                }
            }
            "update_scheduled_transaction" => {
                let id = call
                    .arguments
                    .get("id")
                    .and_then(Value::as_i64)
                    .unwrap_or_default();
                let orders = &mut self.bank_account.scheduled_transactions;
                if let Some(order) = orders.iter_mut().find(|order| order.id == id) {
                    // The suite takes an empty text, a zero and `false` for "not given".
                    for (field, new) in [
                        (&mut order.recipient, text("recipient")),
                        (&mut order.subject, text("subject")),
                        (&mut order.date, text("date")),
                    ] {
                        if !new.is_empty() {
                            *field = new;
                        }
                    }
                    if amount != 0 {
                        order.amount = amount;
                    }
                    order.recurring |= recurring;
                }
            }
            "update_password" => {
                self.user_account
                    .insert("password".to_owned(), text("password"));
            }
            "update_user_info" => {
                for field in ["first_name", "last_name", "street", "city"] {
                    let new = text(field);
                    if !new.is_empty() {
                        self.user_account.insert(field.to_owned(), new);
                    }
                }
            }
            _ => {}
        }
    }
}
