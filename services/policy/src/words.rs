//! Words that say a tool pays or writes.
//!
//! A name that holds one of them, in any of its forms, is a payment or write tool, whatever its
//! server says about it. Such a tool passes only by its exact name and with an acknowledgement. A
//! policy may add words; none can be taken away.

use std::collections::HashSet;

use crate::name::name_tokens;

/// The published words, each standing for its forms too (`pay`: pays, paid, paying, payment …).
pub const WRITE_WORDS: [&str; 60] = [
    "pay",
    "transfer",
    "send",
    "wire",
    "remit",
    "refund",
    "charge",
    "withdraw",
    "deposit",
    "buy",
    "purchase",
    "sell",
    "trade",
    "donate",
    "settle",
    "disburse",
    "reimburse",
    "redeem",
    "create",
    "add",
    "insert",
    "write",
    "set",
    "update",
    "edit",
    "modify",
    "change",
    "patch",
    "put",
    "replace",
    "rename",
    "move",
    "delete",
    "remove",
    "drop",
    "destroy",
    "erase",
    "purge",
    "cancel",
    "revoke",
    "grant",
    "approve",
    "confirm",
    "authorize",
    "authorise",
    "accept",
    "execute",
    "submit",
    "publish",
    "upload",
    "dispute",
    "freeze",
    "unfreeze",
    "block",
    "unblock",
    "enable",
    "disable",
    "close",
    "reset",
    "disconnect",
];

/// Forms that no ending makes.
const IRREGULAR: [(&str, &[&str]); 12] = [
    ("pay", &["paid", "payout", "payouts"]),
    ("send", &["sent"]),
    ("buy", &["bought", "buyer"]),
    ("sell", &["sold"]),
    (
        "withdraw",
        &["withdrew", "withdrawn", "withdrawal", "withdrawals"],
    ),
    ("write", &["wrote", "written"]),
    ("freeze", &["froze", "frozen"]),
    ("unfreeze", &["unfroze", "unfrozen"]),
    ("remit", &["remittance", "remittances"]),
    ("donate", &["donation", "donations"]),
    ("delete", &["deletion", "del"]),
    ("authorize", &["auth"]),
];

/// The words with all their forms, ready to look up.
#[derive(Clone, Debug)]
pub struct WriteWords {
    forms: HashSet<Box<str>>,
}

impl WriteWords {
    /// The published words and these more.
    #[must_use]
    pub fn with(more: &[String]) -> Self {
        let mut forms = HashSet::new();
        let more = more.iter().map(|word| word.to_ascii_lowercase());
        for word in WRITE_WORDS.map(String::from).into_iter().chain(more) {
            add_forms(&word, &mut forms);
        }
        for (_, irregular) in IRREGULAR {
            forms.extend(irregular.iter().map(|form| Box::from(*form)));
        }
        Self { forms }
    }

    /// Whether a name holds one of them.
    #[must_use]
    pub fn in_name(&self, name: &str) -> bool {
        name_tokens(name)
            .iter()
            .any(|token| self.forms.contains(token.as_str()))
    }
}

/// The word and what English endings make of it. Too many forms are no harm: they only deny.
fn add_forms(word: &str, forms: &mut HashSet<Box<str>>) {
    let mut add = |text: String| {
        forms.insert(text.into_boxed_str());
    };
    add(word.to_owned());
    for ending in [
        "s", "es", "ed", "ing", "ings", "ment", "ments", "er", "ers", "al", "als",
    ] {
        add(format!("{word}{ending}"));
    }
    if let Some(stem) = word.strip_suffix('e') {
        for ending in [
            "ed", "ing", "ings", "er", "ers", "al", "als", "ion", "ions", "ation",
        ] {
            add(format!("{stem}{ending}"));
        }
    }
    if let Some(stem) = word.strip_suffix('y') {
        for ending in ["ies", "ied", "ication", "ications"] {
            add(format!("{stem}{ending}"));
        }
    }
    if let Some(last) = word.chars().last() {
        // set: setting; submit: submitted.
        for ending in ["ed", "ing", "er", "ers", "al", "als"] {
            add(format!("{word}{last}{ending}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_a_name_is_seen_through() {
        let words = WriteWords::with(&[]);
        for name in [
            "pay",
            "request_transfer",
            "send-money",
            "sendMoney",
            "SendMoney",
            "bank.delete",
            "PAYUser",
            "doPAY",
            "pay2user",
            "write_file",
            "list_payments",
            "request_card_unfreeze",
            "request_profile_change",
            "submitted_forms",
            "paying",
            "user_creation",
            "settings_updater",
            "applyRefunds",
            "x__set",
        ] {
            assert!(words.in_name(name), "{name}");
        }
        for name in [
            "list_accounts",
            "get_balance",
            "list_payees",
            "get_spending_by_category",
            "list_standing_orders",
            "list_open_requests",
            "read_document",
            "display",
            "assets",
            "address",
            "search_nodes",
            "offset",
        ] {
            assert!(!words.in_name(name), "{name}");
        }
    }

    #[test]
    fn a_policy_adds_words_and_their_forms() {
        let words = WriteWords::with(&["Launch".to_owned()]);
        assert!(words.in_name("rocket_launching"));
        assert!(words.in_name("transfer"));
        assert!(!WriteWords::with(&[]).in_name("rocket_launching"));
    }

    #[test]
    fn no_word_is_published_twice() {
        let unique: HashSet<_> = WRITE_WORDS.iter().collect();
        assert_eq!(unique.len(), WRITE_WORDS.len());
        let published = |word: &str| WRITE_WORDS.contains(&word);
        assert!(IRREGULAR.iter().all(|(word, _)| published(word)));
    }
}
