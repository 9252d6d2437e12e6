//! "Send 20 to Bob" and its many relatives.

use super::{
    ask::{Line, Pay},
    phrase::{Clause, sum},
    text::pattern,
};

/// Verbs that ask for a payment.
pub(crate) const VERBS: &str =
    "send|pay|transfer|wire|move|give|shoot|remit|forward|venmo|put|lend";

/// Whether it leaves open who gets how much: shares, rests and lists that only a head can pair.
pub(crate) fn is_unclear(clause: &Clause) -> bool {
    let shares = pattern!(r"\brespectively\b|\bthe rest\b|\b(?:split|share|divide)\b|\bbetween \w+ and\b|\beach ?(?:$|[,.!?])")
        .is_match(&clause.text);
    let verb = pattern!(&format!(r"\b(?:{VERBS}|split|share|divide)\b")).is_match(&clause.text);
    verb && shares && !clause.amounts.is_empty()
}

/// Reads a clause that holds a payment verb; `None` when it holds none.
pub(crate) fn read(clause: &Clause) -> Option<Pay> {
    let verb = pattern!(&format!(
        r"\b(?:(?P<verb>{VERBS})|make an? (?:new )?(?:[a-z]+ )?(?:payment|transfer)|(?:new|another|do an?|set up an?|start an?|need an?) (?:bank )?(?:payment|transfer))\b"
    ));
    let captures = verb.captures(&clause.text)?;
    let end = captures.get(0).expect("a match has a whole").end();
    let mut pay = Pay {
        lines: several(clause),
        from: clause.paying_account(),
        account_number: clause.account_number,
    };
    if pay.lines.is_empty() {
        let payee = payee(clause).or_else(|| {
            captures
                .name("verb")
                .and_then(|_| direct_payee(clause, end))
        });
        pay.lines.push(Line {
            payee,
            sum: clause.last_sum(),
        });
    }
    Some(pay)
}

/// The payee after "to", the last one that is not negated.
pub(crate) fn payee(clause: &Clause) -> Option<String> {
    let leads: Vec<_> = pattern!(r"\b(?:in)?to ")
        .find_iter(&clause.text)
        .filter(|lead| !clause.text[..lead.start()].trim_end().ends_with("not"))
        .filter(|lead| !begins_with_verb(&clause.text[lead.end()..]))
        .map(|lead| lead.end())
        .collect();
    leads.into_iter().rev().find_map(|at| clause.name_at(at))
}

/// The payee right after the verb: "pay Bob 20".
fn direct_payee(clause: &Clause, verb_end: usize) -> Option<String> {
    let rest = &clause.text[verb_end..];
    let start = verb_end + (rest.len() - rest.trim_start().len());
    let another_verb = pattern!(&format!(r"^(?:{VERBS}|make|to)\b"));
    if another_verb.is_match(&clause.text[start..]) {
        return None;
    }
    clause.name_at(start)
}

/// "want to send": the "to" of a verb leads to no name.
fn begins_with_verb(text: &str) -> bool {
    pattern!(&format!(
        r"^(?:{VERBS}|make|do|be|set|have|see|know|get|start|use|change|add|ask|check|confirm|cancel|say|dispute|contest|challenge|report|refund|return)\b"
    ))
    .is_match(text)
}

/// The lines of "pay Alice 30 and Bob 45" and "30 to Alice and 45 to Bob"; empty unless there are several.
fn several(clause: &Clause) -> Vec<Line> {
    if clause.amounts.len() < 2 {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for piece in pieces(clause) {
        let inside: Vec<_> = clause
            .amounts
            .iter()
            .filter(|amount| piece.start <= amount.span.start && amount.span.end <= piece.end)
            .collect();
        let [amount] = inside[..] else {
            return Vec::new();
        };
        let text = &clause.text[piece.clone()];
        let lead = pattern!(&format!(r"\bto |\b(?:{VERBS}) |^ ?"));
        let name = lead
            .find_iter(text)
            .filter(|lead| !begins_with_verb(&text[lead.end()..]))
            .filter_map(|lead| {
                // A name must end within its piece.
                let name = clause.name_at(piece.start + lead.end())?;
                text[lead.end()..].contains(name.as_str()).then_some(name)
            })
            .last();
        let Some(payee) = name else { return Vec::new() };
        lines.push(Line {
            payee: Some(payee),
            sum: Some(sum(amount)),
        });
    }
    if lines.len() < 2 { Vec::new() } else { lines }
}

/// The pieces between "and" and commas, except an "and" inside an amount.
fn pieces(clause: &Clause) -> Vec<std::ops::Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for joint in pattern!(r",? (?:and|plus|&) |, ").find_iter(&clause.text) {
        let inside_amount = clause
            .amounts
            .iter()
            .any(|amount| amount.span.start < joint.start() && joint.end() < amount.span.end);
        if !inside_amount {
            pieces.push(start..joint.start());
            start = joint.end();
        }
    }
    pieces.push(start..clause.text.len());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    fn pay(text: &str) -> Option<Pay> {
        read(&Clause::read(text, date!(2026 - 11 - 30)))
    }

    #[test]
    fn a_payment_is_read_from_its_usual_sentences() {
        for (text, payee, amount, from) in [
            ("Send 20 to Bob", Some("Bob"), Some("20"), None),
            ("please pay Bob 20 euros", Some("Bob"), Some("20"), None),
            (
                "I want to send 64.10 to Maria Silva",
                Some("Maria Silva"),
                Some("64.10"),
                None,
            ),
            (
                "can you transfer fifty to my Mum from savings?",
                Some("Mum"),
                Some("50"),
                Some("savings"),
            ),
            (
                "move 100 from my savings account to current",
                Some("current"),
                Some("100"),
                Some("savings"),
            ),
            ("Pay Bob", Some("Bob"), None, None),
            ("I want to send money to Alice", Some("Alice"), None, None),
            ("I need to make a transfer", None, None, None),
            ("send 50", None, Some("50"), None),
            (
                "Send 200 not to Bob but to Alice",
                Some("Alice"),
                Some("200"),
                None,
            ),
            (
                "Send 50 to Alice, sorry, I meant 15",
                Some("Alice"),
                Some("15"),
                None,
            ),
            (
                "Pay Do Not Disturb Ltd 15",
                Some("Do Not Disturb Ltd"),
                Some("15"),
                None,
            ),
            ("give my landlord 850", Some("landlord"), Some("850"), None),
        ] {
            let pay = pay(text).unwrap();
            let line = &pay.lines[0];
            assert_eq!(line.payee.as_deref(), payee, "{text}");
            let value = line.sum.as_ref().and_then(|sum| sum.value.as_deref());
            assert_eq!(value, amount, "{text}");
            assert_eq!(pay.from.as_deref(), from, "{text}");
        }
        assert_eq!(pay("how are you"), None);
    }

    #[test]
    fn each_payee_of_a_list_keeps_its_own_amount() {
        for text in [
            "Pay Alice 30 and Bob 45",
            "send 30 to Alice and 45 to Bob",
            "send 30 to Alice, 45 to Bob",
        ] {
            let pay = pay(text).unwrap();
            let lines: Vec<_> = pay
                .lines
                .iter()
                .map(|line| {
                    (
                        line.payee.as_deref().unwrap(),
                        line.sum.as_ref().unwrap().value.as_deref().unwrap(),
                    )
                })
                .collect();
            assert_eq!(lines, [("Alice", "30"), ("Bob", "45")], "{text}");
        }
    }
}
