//! Rules for what a customer and an assistant say to each other: what asks for a secret, what has nothing to do with
//! money, what speaks with another's address, what is shaped like a control,
//! what only a swindler advises. Deterministic, in eight languages.
//!
//! None of them keeps money safe. They keep a reply from phishing in the bank's voice, which is the harm that chat text can do.

pub mod contacts;
pub mod credentials;
pub mod safe_account;
pub mod shape;
pub mod topic;

use crate::redact::{RuleError, Rules};

/// Names an account number in the eight languages, in front of the number itself.
const ACCOUNT_NUMBER: &str = r"(?i)\b(?:account\s+(?:number|no\.?|nr\.?)|acct\.?\s+(?:number|no\.?)|kontonummer|konto-?nr\.?|num[ée]ro\s+de\s+compte|n[úu]mero\s+(?:de\s+cuenta|d[ae]\s+conta)|numero\s+(?:di|del)\s+conto|rekeningnummer|numer\s+(?:konta|rachunku))(?:\s+(?:is|ist|est|es|[èe]|to|[ée]))?\s*:?\s*\d(?:[ -]?\d){6,17}\b";

/// The rules by which a reply's secrets are masked: keys, passwords, cards, IBANs, account numbers written out.
///
/// # Errors
/// [`RuleError`], which the tests rule out.
pub fn reply_rules() -> Result<Rules, RuleError> {
    Rules::standard().with_custom("account_number", ACCOUNT_NUMBER)
}

/// A sentence that is longer than this, in bytes, is taken in parts.
const SENTENCE_BYTES_MAX: usize = 600;
/// A run without a place to cut at is cut anywhere beyond this many bytes.
const RUN_BYTES_MAX: usize = 4096;

/// Up to where a text that still comes can be looked at by itself: the end of a sentence, and no number goes on behind
/// it. Nothing while there is none.
#[must_use]
pub fn whole_sentences(held: &str) -> usize {
    let mut sentence = 0;
    let mut any = 0;
    let mut before = ' ';
    let mut previous = ' ';
    for (at, character) in held.char_indices() {
        if !character.is_whitespace() && previous.is_whitespace() && at > 0 {
            let number = |c: char| c.is_numeric() || "+-(/".contains(c);
            if !number(character) && !"[(@.,".contains(character) {
                if matches!(before, '.' | '!' | '?' | '…') || held[..at].ends_with("\n\n") {
                    sentence = at;
                }
                if !number(before) && !"])@.,".contains(before) {
                    any = at;
                }
            }
        }
        if !character.is_whitespace() {
            before = character;
        }
        previous = character;
    }
    if sentence > 0 {
        return sentence;
    }
    if held.len() > SENTENCE_BYTES_MAX && any > 0 {
        return any;
    }
    if held.len() > RUN_BYTES_MAX {
        return held.len();
    }
    0
}

/// The words of a text in lower case, with their place.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace(['’', '‘'], "'")
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The sentences of a text, their marks included. An amount's point ends none, nor does the end of a line within one.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut ends = false;
    for (at, character) in text.char_indices() {
        let paragraph = character == '\n' && text[..at].ends_with('\n');
        if (ends && character.is_whitespace()) || paragraph {
            sentences.push(text[from..at].trim());
            from = at;
        }
        ends = matches!(character, '.' | '!' | '?' | '…' | ';');
    }
    sentences.push(text[from..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests;
