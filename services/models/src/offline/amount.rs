//! Amounts in what a customer typed, in digits or in English words.
//!
//! Only a reading that leaves no doubt gets a value. An amount that could be two amounts is found, so that
//! nobody takes a part of it, and has no value: the customer then fills it in on the panel.

use std::ops::Range;

use super::{
    number_words,
    text::{HIDDEN, pattern},
};

/// An amount as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Where it stands in the text, currency included.
    pub(crate) span: Range<usize>,
    /// Its wire form, such as `64.10`; `None` when it could mean two amounts.
    pub(crate) value: Option<String>,
    /// The ISO 4217 code the customer named with it.
    pub(crate) currency: Option<&'static str>,
}

/// Every amount of a text, in order. Parts that are no amounts (dates, card digits) are to be blanked before.
pub(crate) fn amounts(text: &str) -> Vec<Amount> {
    let mut found = in_digits(text);
    for amount in number_words::amounts(text) {
        let apart = |other: &Amount| {
            amount.span.end <= other.span.start || other.span.end <= amount.span.start
        };
        if found.iter().all(apart) {
            found.push(amount);
        }
    }
    found.sort_by_key(|amount| amount.span.start);
    for amount in &mut found {
        if is_hedged(&text[..amount.span.start]) {
            amount.value = None;
        }
    }
    found
}

/// The currency a word or sign stands for.
pub(crate) fn currency_of(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "€" | "eur" | "euro" | "euros" => "EUR",
        "£" | "gbp" | "pound" | "pounds" | "quid" | "sterling" => "GBP",
        "$" | "usd" | "dollar" | "dollars" | "bucks" => "USD",
        "chf" | "franc" | "francs" => "CHF",
        "pln" | "zloty" | "złoty" | "zlotys" => "PLN",
        "¥" | "jpy" | "yen" => "JPY",
        "kwd" | "dinar" | "dinars" => "KWD",
        _ => return None,
    })
}

fn in_digits(text: &str) -> Vec<Amount> {
    let numbers = pattern!(
        r"(?P<before>[€£$¥]|\b(?:eur|gbp|usd|chf|pln|jpy|kwd))? ?(?P<number>\d{1,3}(?: \d{3})+(?:[.,]\d{1,3})?|\d[\d.,']*)(?P<scale> ?(?:k|m|grand|thousand|million|lakh|crore)\b)?(?: ?(?P<after>[€£$¥]|(?:euros?|eur|pounds?|quid|sterling|gbp|dollars?|bucks|usd|yen|jpy|francs?|chf|zlotys?|złoty|pln|dinars?|kwd)\b))?(?: and (?P<cents>\d{1,2}) ?(?:cents?|pence)\b)?"
    );
    let mut found = Vec::new();
    for captures in numbers.captures_iter(text) {
        let number = captures
            .name("number")
            .expect("the pattern always has a number");
        let whole = captures.get(0).expect("a match has a whole");
        // Sentence punctuation is no part of a number.
        let digits = number.as_str().trim_end_matches(['.', ',', '\'']);
        let end = if captures
            .name("scale")
            .or(captures.name("after"))
            .or(captures.name("cents"))
            .is_some()
        {
            whole.end()
        } else {
            number.start() + digits.len()
        };
        let start = captures
            .name("before")
            .map_or(number.start(), |sign| sign.start());
        if touches_a_word(text, number.start(), start, end) {
            continue;
        }
        let currency = captures
            .name("before")
            .or(captures.name("after"))
            .and_then(|word| currency_of(word.as_str()));
        let mut value = plain(digits, currency);
        if let Some(scale) = captures.name("scale") {
            let zeros = match scale.as_str().trim().to_lowercase().as_str() {
                "m" | "million" => 6,
                "lakh" => 5,
                "crore" => 7,
                _ => 3,
            };
            value = value.and_then(|value| scaled(&value, zeros));
        }
        if let Some(cents) = captures.name("cents") {
            value = value
                .filter(|value| !value.contains('.'))
                .map(|value| format!("{value}.{:0>2}", cents.as_str()));
        }
        found.push(Amount {
            span: start..end,
            value,
            currency,
        });
    }
    found
}

/// Whether the number is a part of something longer: `2yo`, `A4`, `50%`, `1st`, `#3`, `12:30`.
fn touches_a_word(text: &str, number_start: usize, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let glued = |c: char| {
        c.is_alphanumeric() || matches!(c, '#' | '_' | '*' | '·' | '/' | ':' | '-' | '.' | HIDDEN)
    };
    if start == number_start && before.is_some_and(glued) {
        return true;
    }
    let mut after = text[end..].chars();
    match after.next() {
        Some(c) if c.is_alphanumeric() || matches!(c, '%' | '_' | '/' | HIDDEN) => true,
        Some('-' | ':') => after.next().is_some_and(char::is_alphanumeric),
        Some(' ') => text[end + 1..].starts_with('%'),
        _ => false,
    }
}

/// Words before an amount that make it a bound, a share or a guess.
fn is_hedged(before: &str) -> bool {
    pattern!(r"\b(?:at most|at least|up to|max(?:imum)?(?: of)?|no more than|(?:more|less) than|around|about|roughly|approximately|half(?: of)?|a third of|a quarter of|% of)(?: the)? ?$")
        .is_match(before)
}

/// The wire form of a typed number; `None` when its separators can be read two ways.
fn plain(typed: &str, currency: Option<&str>) -> Option<String> {
    // The pattern has seen to it that spaces stand before groups of three.
    let typed = typed.replace(' ', "").replace('\'', ",");
    let dots = typed.matches('.').count();
    let commas = typed.matches(',').count();
    let (whole, decimals) = match (dots, commas) {
        (0, 0) => (typed.as_str(), ""),
        (0, 1) | (1, 0) => {
            let mark = if dots == 1 { '.' } else { ',' };
            let (whole, rest) = typed.split_once(mark)?;
            match rest.len() {
                1 | 2 => (whole, rest),
                // "1,050" is a thousand and fifty in English; "1.050" may be either.
                3 if mark == ',' && is_group_head(whole) => {
                    return whole_number(&format!("{whole}{rest}"));
                }
                3 if currency == Some("KWD") && mark == '.' => (whole, rest),
                _ => return None,
            }
        }
        _ => {
            let (decimal, group) = if typed.rfind('.') > typed.rfind(',') {
                ('.', ',')
            } else {
                (',', '.')
            };
            let one_decimal_mark = typed.matches(decimal).count() == 1 && typed.contains(group);
            if !one_decimal_mark {
                let groups: Vec<&str> = typed.split(['.', ',']).collect();
                let same = dots == 0 || commas == 0;
                return (same && are_groups(&groups))
                    .then(|| whole_number(&groups.concat()))
                    .flatten();
            }
            let (whole, rest) = typed.split_once(decimal)?;
            let groups: Vec<&str> = whole.split(group).collect();
            if !are_groups(&groups) || rest.is_empty() || rest.len() > 3 {
                return None;
            }
            return whole_number(&groups.concat()).map(|whole| format!("{whole}.{rest}"));
        }
    };
    if decimals.is_empty() {
        return whole_number(whole);
    }
    let whole = whole_number(whole).or_else(|| (whole == "0").then(|| "0".to_owned()))?;
    Some(format!("{whole}.{decimals}"))
}

fn is_group_head(whole: &str) -> bool {
    (1..=3).contains(&whole.len()) && !whole.starts_with('0')
}

fn are_groups(groups: &[&str]) -> bool {
    let Some((head, rest)) = groups.split_first() else {
        return false;
    };
    // Thousands everywhere, or the Indian way: three last, two before.
    let western = rest.iter().all(|group| group.len() == 3);
    let indian = rest.split_last().is_some_and(|(last, middle)| {
        last.len() == 3 && !middle.is_empty() && middle.iter().all(|group| group.len() == 2)
    });
    is_group_head(head) && (western || indian)
}

fn whole_number(digits: &str) -> Option<String> {
    let plain =
        !digits.is_empty() && digits.len() <= 13 && digits.bytes().all(|b| b.is_ascii_digit());
    (plain && !digits.starts_with('0')).then(|| digits.to_owned())
}

/// The number with its decimal point moved to the right.
fn scaled(value: &str, zeros: usize) -> Option<String> {
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    if decimals.len() > zeros {
        return None;
    }
    let digits = format!("{whole}{decimals:0<zeros$}");
    whole_number(digits.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<Option<String>> {
        amounts(text)
            .into_iter()
            .map(|amount| amount.value)
            .collect()
    }

    #[test]
    fn an_amount_in_digits_has_one_value_or_none() {
        for (text, value) in [
            ("send 20 to Bob", Some("20")),
            ("64.10", Some("64.10")),
            ("64,10", Some("64.10")),
            ("£20", Some("20")),
            ("20€, please", Some("20")),
            ("send 20.", Some("20")),
            ("1,050", Some("1050")),
            ("1 050", Some("1050")),
            ("1.050", None),
            ("1.234,56", Some("1234.56")),
            ("1,234.56", Some("1234.56")),
            ("1,00,000", Some("100000")),
            ("1,2,3", None),
            ("50k", Some("50000")),
            ("1.2 million", Some("1200000")),
            ("20 euros and 5 cents", Some("20.05")),
            ("0.50", Some("0.50")),
            ("0", None),
            ("at most 100", None),
            ("half of 80", None),
            ("1.500 KWD", Some("1.500")),
            ("1 234,56", Some("1234.56")),
            ("USD34.6 million", Some("34600000")),
            ("2 lakh", Some("200000")),
            ("half a million", Some("500000")),
            ("one point two million", None),
        ] {
            assert_eq!(values(text), [value.map(str::to_owned)], "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_not_found() {
        for text in [
            "2yo",
            "A4",
            "50%",
            "the 1st",
            "12:30",
            "no. #3",
            "2026-12-01",
            "Studio54",
        ] {
            assert_eq!(values(text), Vec::<Option<String>>::new(), "{text}");
        }
    }

    #[test]
    fn a_currency_is_taken_from_sign_or_word() {
        for (text, currency) in [
            ("20 euros", Some("EUR")),
            ("$5", Some("USD")),
            ("EUR 20", Some("EUR")),
            ("3000 yen", Some("JPY")),
            ("20", None),
            ("twenty pounds", Some("GBP")),
        ] {
            assert_eq!(amounts(text)[0].currency, currency, "{text}");
        }
    }
}
