//! Words that say a tool pays or writes.
//!
//! A name that holds one of them, in any of its forms, is a payment or write tool, whatever its
//! server says about it. Such a tool passes only by its exact name and with an acknowledgement. A
//! policy may add words; none can be taken away.

use std::collections::HashSet;
use std::sync::LazyLock;

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
    more: HashSet<Box<str>>,
}

/// The published words with all their forms.
static PUBLISHED: LazyLock<HashSet<Box<str>>> = LazyLock::new(|| {
    let mut forms = HashSet::new();
    for word in WRITE_WORDS {
        forms.extend(forms_of(word).map(String::into_boxed_str));
    }
    forms
});

/// Words of payment that are long enough to be one even where nothing parts them from others:
/// `makepayment`, `transferfunds`.
const INSIDE: [&str; 8] = [
    "transfer",
    "payment",
    "payout",
    "withdraw",
    "refund",
    "purchase",
    "disburse",
    "reimburse",
];

impl WriteWords {
    /// The published words and these more.
    #[must_use]
    pub fn with(more: &[String]) -> Self {
        let more = more.iter().map(|word| word.to_ascii_lowercase());
        Self {
            more: more
                .flat_map(|word| forms_of(&word).collect::<Vec<_>>())
                .map(String::into_boxed_str)
                .collect(),
        }
    }

    /// Whether a name holds one of them.
    #[must_use]
    pub fn in_name(&self, name: &str) -> bool {
        self.found_in(name).is_some()
    }

    /// The first word of a name that is one of them, as the name has it in lower case.
    #[must_use]
    pub fn found_in(&self, name: &str) -> Option<String> {
        name_tokens(name).into_iter().find(|token| {
            let token = token.as_str();
            PUBLISHED.contains(token)
                || self.more.contains(token)
                || INSIDE.iter().any(|word| token.contains(word))
        })
    }
}

/// A word, its regular forms and those no ending makes.
pub fn forms_of(word: &str) -> impl Iterator<Item = String> {
    let irregular = IRREGULAR
        .iter()
        .filter(|(of, _)| *of == word)
        .flat_map(|(_, forms)| forms.iter().map(|form| (*form).to_owned()));
    let mut forms = regular_forms(word);
    forms.extend(irregular);
    forms.into_iter()
}

/// The word and what English endings make of it. Too many forms are no harm: they only deny.
fn regular_forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    let mut add = |text: String| forms.push(text);
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
    forms
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
            "makepayment",
            "wiretransfer",
            "transferfunds",
            "autopayout",
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
            "get_changelog",
            "payee_names",
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
