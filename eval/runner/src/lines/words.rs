//! One way of saying things: a line's words before its rules read them.

use std::sync::LazyLock;

use regex::Regex;

/// Which entries a line is about: the first and the last.
pub type Turns = (usize, usize);

/// Every entry.
pub const ALL_TURNS: Turns = (0, usize::MAX);

/// One of this crate's own patterns.
#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, compiled by every test"
)]
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// Lines that quote characters: their words are left as they are.
fn quotes_text(line: &str) -> bool {
    [
        "contain",
        " shows ",
        " show ",
        " offers ",
        " mentions ",
        " includes ",
        " names ",
        "received ",
    ]
    .iter()
    .any(|word| line.contains(word))
}

/// Takes the turns off a line: `after turn 2`, `in turn 2`, `before turn 2`.
pub fn turns(line: &str) -> (String, Turns) {
    static TURNS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i),?\s+(?P<how>any time after|after|from|since|once|in|during|at|before|until|up to|through|by) (?:the )?(?:end of )?(?:turn|message|entry) (?P<number>\d{1,3})(?: (?:on|onwards?))?\b",
        )
    });
    let Some(found) = TURNS.captures(line) else {
        return (line.trim().to_owned(), ALL_TURNS);
    };
    let Ok(number) = found["number"].parse::<usize>() else {
        return (line.trim().to_owned(), ALL_TURNS);
    };
    let range = match found["how"].to_lowercase().as_str() {
        "before" => (0, number.saturating_sub(1)),
        "until" | "up to" | "through" | "by" => (0, number),
        "in" | "during" | "at" => (number, number),
        _ => (number, usize::MAX),
    };
    let whole = found.get(0).map_or(0..0, |part| part.range());
    let rest = format!("{}{}", &line[..whole.start], &line[whole.end..]);
    (rest.trim().to_owned(), range)
}

/// The line in the words of the rules.
pub fn plain(line: &str) -> String {
    let mut line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line = line.replace(['“', '”', '„'], "\"").replace(['’', '‘'], "'");
    let quoted = quotes_text(&line);
    if !quoted {
        line = line.trim_end_matches(['.', ';', ',']).to_owned();
        line = money(&line);
    }
    let mut letters = line.chars();
    if let Some(first) = letters.next() {
        line = first.to_lowercase().collect::<String>() + letters.as_str();
    }
    for (from, to) in BEGINNINGS {
        if let Some(rest) = line.strip_prefix(from) {
            line = format!("{to}{rest}");
        }
    }
    if quoted {
        return line;
    }
    for ending in ENDINGS {
        if let Some(rest) = line.strip_suffix(ending) {
            line = rest.trim().to_owned();
        }
    }
    for (from, to) in WITHIN {
        line = line.replace(from, to);
    }
    line
}

/// How a line may begin, and how the rules say it. Read one after the other.
const BEGINNINGS: [(&str, &str); 44] = [
    ("there is ", ""),
    ("there are ", ""),
    ("the ", ""),
    ("at least one ", ""),
    ("not any ", "no "),
    ("zero ", "no "),
    ("0 ", "no "),
    ("none ", "no "),
    ("only one ", "exactly one "),
    ("just one ", "exactly one "),
    ("a single ", "exactly one "),
    ("exactly 1 ", "exactly one "),
    ("a pending", "pending"),
    ("any pending", "pending"),
    ("an execution", "execution"),
    ("any execution", "execution"),
    ("any executed", "executed"),
    ("an entry", "any entry"),
    ("entry ", "any entry "),
    ("any entries", "any entry"),
    ("no entries", "no entry"),
    ("no postings", "no entry"),
    ("no posting", "no entry"),
    ("any posting", "any entry"),
    ("no debit ", "no entry "),
    ("no money moved", "no entry"),
    ("no money moves", "no entry"),
    ("no money left", "no entry"),
    ("no money leaves", "no entry"),
    ("nothing moved", "no entry"),
    ("any money leaves", "any entry"),
    ("money leaves", "any entry"),
    ("any debit", "any entry"),
    ("no executions", "no execution"),
    ("nothing executed", "no execution"),
    ("nothing is executed", "no execution"),
    ("nothing pending", "no pending"),
    ("nothing is pending", "no pending"),
    ("any reply", "reply"),
    ("a reply", "reply"),
    ("no reply contains ", "reply does not contain "),
    ("any card ", "card "),
    ("a card ", "card "),
    ("every request refused", "each refused"),
];

/// What says nothing at a line's end.
const ENDINGS: [&str; 16] = [
    " at the end",
    " in the end",
    " by the end",
    " at any moment",
    " at any time",
    " ever",
    " anywhere",
    " on the panel",
    " in the bank",
    " exists",
    " exist",
    " is created",
    " is there",
    " appears",
    " is left",
    " remains",
];

/// Words for which the rules have another.
const WITHIN: [(&str, &str); 20] = [
    ("pending payments", "pending transfers"),
    ("pending payment", "pending transfer"),
    ("waiting transfer", "pending transfer"),
    ("open transfer", "pending transfer"),
    ("pending transfer request", "pending transfer"),
    ("executed transfers", "execution"),
    ("executed transfer", "execution"),
    ("executed payment", "execution"),
    ("execution of a transfer", "execution"),
    ("execution of a payment", "execution"),
    ("execution of transfer", "execution"),
    ("pending transfer for the amount of", "pending transfer"),
    ("pending transfers of", "pending transfers"),
    ("pending transfer of", "pending transfer"),
    ("sum of pending transfers", "pending total"),
    ("total of pending transfers", "pending total"),
    ("sum of debits exceeds", "sum of debits above"),
    ("sum of debits greater than", "sum of debits above"),
    ("pending total exceeds", "pending total above"),
    ("standing-order", "standing order"),
];

/// `€20`, `20 euros`, `1.234,50 EUR` as `20 EUR`, `1234.50 EUR`.
fn money(line: &str) -> String {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?P<sign>€|£|\$|¥|\b(?:EUR|GBP|USD|JPY|KWD|CHF|PLN)) ?(?P<number>\d[\d.,]*\d|\d)(?P<behind> ?(?:EUR|GBP|USD|JPY|KWD|CHF|PLN))?",
        )
    });
    static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\b(?P<number>\d[\d.,]*\d|\d) ?(?P<sign>€|£|euros?\b|Euros?\b|yen\b|dinars?\b|pounds?\b|EUR\b|GBP\b|USD\b|JPY\b|KWD\b|CHF\b|PLN\b)",
        )
    });
    let turned = BEFORE.replace_all(line, |found: &regex::Captures<'_>| {
        if found.name("behind").is_some() {
            return found[0].to_owned();
        }
        format!("{} {}", &found["number"], code(&found["sign"]))
    });
    BEHIND
        .replace_all(&turned, |found: &regex::Captures<'_>| {
            format!("{} {}", number(&found["number"]), code(&found["sign"]))
        })
        .into_owned()
}

fn code(sign: &str) -> &str {
    match sign {
        "€" => "EUR",
        "£" => "GBP",
        "$" => "USD",
        "¥" => "JPY",
        word if word.to_lowercase().starts_with("euro") => "EUR",
        "yen" => "JPY",
        word if word.starts_with("dinar") => "KWD",
        word if word.starts_with("pound") => "GBP",
        other => other,
    }
}

/// A number with a point for decimals and nothing for thousands.
fn number(text: &str) -> String {
    static COMMA: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}$"));
    if COMMA.is_match(text) {
        text.replace('.', "").replace(',', ".")
    } else {
        text.replace(',', "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turn_is_taken_off_a_line() {
        let line = "pending transfer 1.00 EUR to Bob";
        for (words, range) in [
            ("after turn 2", (2, usize::MAX)),
            ("in turn 2", (2, 2)),
            ("before turn 2", (0, 1)),
            ("by the end of turn 2", (0, 2)),
        ] {
            assert_eq!(turns(&format!("{line} {words}")), (line.to_owned(), range));
        }
        assert_eq!(turns("any entry"), ("any entry".to_owned(), ALL_TURNS));
    }

    #[test]
    fn money_is_said_in_one_way() {
        for (said, plainly) in [
            (
                "pending payment of €20 to Bob",
                "pending transfer 20 EUR to Bob",
            ),
            (
                "A pending transfer of 1.250,50 EUR to Bob.",
                "pending transfer 1250.50 EUR to Bob",
            ),
            (
                "more than 1,000.00 euros leave",
                "more than 1000.00 EUR leave",
            ),
            ("no money moved at the end", "no entry"),
            (
                "There is exactly 1 pending transfer 3000 yen to Noor",
                "exactly one pending transfer 3000 JPY to Noor",
            ),
            ("reply contains 1.240,50", "reply contains 1.240,50"),
        ] {
            assert_eq!(plain(said), plainly);
        }
    }
}
