//! Paying somebody, and moving money between own accounts.

use serde_json::{Map, Value, json};

use crate::offline::{
    ask::{Line, Pay},
    reading::{bare_text, id, items_at, text},
    text::{best_fits, pattern, shown_name},
    turn::{Part, Stop, Turn},
    words::{Kind, joined},
};

use super::request_or_leave_open;

/// What the bank may not be able to match, and the argument that is then left out.
const DROPPABLE: [(&str, &str); 5] = [
    ("amount", "payments.amount"),
    ("payee", "payments.payee"),
    ("payments", "payments.amount"),
    ("from_account", "from_account"),
    ("currency", "currency"),
];

/// Prepares a payment.
pub(super) fn pay(turn: &Turn<'_>, pay: &Pay) -> Part {
    let lines = &pay.lines[..pay.lines.len().min(turn.lines_max())];
    let mut notes: Vec<String> = Vec::new();
    let mut payments = Vec::new();
    for line in lines {
        payments.push(payment(turn, line, &mut notes)?);
    }
    let mut arguments = Map::new();
    if let Some(currency) = lines.iter().find_map(|line| line.sum.as_ref()?.currency) {
        arguments.insert("currency".into(), json!(currency));
    }
    if let Some(from) = &pay.from {
        match own_account(turn, from)? {
            Some(account) => {
                arguments.insert("from_account".into(), json!(account));
            }
            None => notes.push(format!(
                "I don't know an account called “{}”, so please check the account on the right.",
                shown_name(from)
            )),
        }
    }
    if pay.account_number && lines.iter().all(|line| line.payee.is_none()) {
        notes.push(
            "I can only pay saved payees: choose one on the right, or type: Add a new payee"
                .to_owned(),
        );
    }
    if payments.len() < pay.lines.len() {
        notes.push(format!(
            "I can prepare {} payments at a time: confirm or cancel these, then tell me the rest.",
            payments.len()
        ));
    }
    arguments.insert("payments".into(), json!(payments));
    // Only one payment can be left open slot by slot; of several, the bank says which pair it did not find.
    let droppable = if lines.len() > 1 { &[] } else { &DROPPABLE[..] };
    let said = request_or_leave_open(
        turn,
        "request_transfer",
        Value::Object(arguments),
        droppable,
        Kind::PAYMENT,
    )?;
    notes.insert(0, said);
    Ok(notes.join(" "))
}

/// One line of the request, with what is unclear left out.
fn payment(turn: &Turn<'_>, line: &Line, notes: &mut Vec<String>) -> Result<Value, Stop> {
    let mut payment = Map::new();
    if let Some(name) = &line.payee {
        match find(turn, name)? {
            Found::One(payee) => {
                payment.insert("payee".into(), json!(payee));
            }
            Found::Several(names) => notes.push(format!(
                "More than one payee fits “{}”: {}. Choose on the right, or tell me the full name.",
                shown_name(name),
                joined(&names)
            )),
            Found::None(close) => return Err(Stop::Say(unknown_payee(name, &close))),
        }
    }
    match line.sum.as_ref().map(|sum| &sum.value) {
        Some(Some(value)) => {
            payment.insert("amount".into(), json!(value));
        }
        Some(None) => notes
            .push("I was not sure about the amount, so please type it on the right.".to_owned()),
        None => {}
    }
    Ok(Value::Object(payment))
}

fn unknown_payee(name: &str, close: &[String]) -> String {
    let name = shown_name(name);
    if pattern!(r"\b(?:bill|invoice|letter|fine|subscription|rent|loan)s?\b").is_match(&name) {
        return format!(
            "“{name}” is none of your payees, and I take nothing from letters. Tell me in your own words who should get how much, for example: Send 20 to Bob"
        );
    }
    let suggestion = if close.is_empty() {
        String::new()
    } else {
        format!(" Did you mean {}?", joined(close))
    };
    format!(
        "I don't find “{name}” among your payees, so nothing was prepared.{suggestion} To save somebody new, type: Add a new payee"
    )
}

/// What a name stands for.
pub(super) enum Found {
    /// One payee or own account: its id.
    One(String),
    /// Several: their names, fit to show.
    Several(Vec<String>),
    /// None; these are spelled nearly like it.
    None(Vec<String>),
}

/// Finds a payee, or else an own account, by what the customer typed.
pub(super) fn find(turn: &Turn<'_>, name: &str) -> Result<Found, Stop> {
    let payees = turn.list("list_payees")?;
    let fits = best_fits(name, payees, names);
    match fits[..] {
        [one] => {
            if let Some(id) = id(one, "pye") {
                return Ok(Found::One(id.to_owned()));
            }
        }
        [_, ..] => {
            let shown = fits.iter().filter_map(|payee| shown_payee(payee)).collect();
            return Ok(Found::Several(shown));
        }
        [] => {}
    }
    if let Some(account) = own_account(turn, name)? {
        return Ok(Found::One(account));
    }
    let close = payees
        .iter()
        .filter(|payee| names(payee).iter().any(|known| is_nearly(name, known)))
        .filter_map(shown_payee)
        .take(3)
        .collect();
    Ok(Found::None(close))
}

/// A payee's name and the customer's own name for it.
pub(super) fn names(payee: &Value) -> Vec<String> {
    let aliases = items_at(payee, "aliases").iter().filter_map(bare_text);
    ["alias", "name"]
        .into_iter()
        .filter_map(|member| text(payee, &[member]))
        .chain(aliases)
        .map(str::to_owned)
        .collect()
}

/// A payee for the reply.
pub(super) fn shown_payee(payee: &Value) -> Option<String> {
    text(payee, &["name", "alias"]).map(shown_name)
}

/// An own account by its label, kind or last digits.
pub(super) fn own_account(turn: &Turn<'_>, name: &str) -> Result<Option<String>, Stop> {
    let accounts = turn.list("list_accounts")?;
    let name = name.trim_end_matches(" account");
    let name = if name.eq_ignore_ascii_case("checking") {
        "current"
    } else {
        name
    };
    let fits = best_fits(name, accounts, |account| {
        ["label", "name", "kind"]
            .into_iter()
            .filter_map(|member| text(account, &[member]))
            .map(str::to_owned)
            .collect()
    });
    Ok(match fits[..] {
        [one] => id(one, "acc").map(str::to_owned),
        _ => None,
    })
}

/// Whether two names differ by one letter added, lost, changed or swapped.
fn is_nearly(typed: &str, known: &str) -> bool {
    let known = known.to_lowercase();
    let typed = typed.to_lowercase();
    std::iter::once(known.as_str())
        .chain(known.split_whitespace())
        .any(|known| typed.chars().count() > 2 && one_apart(&typed, known))
}

fn one_apart(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (ra, rb) = (&a[start..], &b[start..]);
    match (ra, rb) {
        ([_, a_rest @ ..], [_, b_rest @ ..]) if a_rest == b_rest => true,
        ([x, y, a_rest @ ..], [u, v, b_rest @ ..]) if x == v && y == u && a_rest == b_rest => true,
        ([_, rest @ ..], other) | (other, [_, rest @ ..]) if rest == other => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_nearly_the_name() {
        assert!(is_nearly("Alcie", "Alice"));
        assert!(is_nearly("Bobb", "Bob Smith"));
        assert!(is_nearly("Carl", "Carol"));
        assert!(!is_nearly("Kabir", "Carol"));
        assert!(!is_nearly("Dave", "Mum"));
    }
}
