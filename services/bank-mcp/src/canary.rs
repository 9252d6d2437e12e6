//! Another customer's canary in what a tool was given, or in what it is about to answer.
//!
//! Row-level security already keeps other customers' rows away. This notices what slips past it: a row that another
//! customer wrote into this one's data, or an agent that carries what it learnt in one turn into another.

use countersign_screening::canary::runs_in_text;
use serde_json::Value;

/// Which side of a call holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What the tool was given.
    Arguments,
    /// What it would answer.
    Result,
}

impl Side {
    /// As the record holds it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Result => "result",
        }
    }
}

/// Every run of ten characters in a value's texts that could be part of a code, folded as the database keeps them.
pub fn runs(value: &Value) -> Vec<String> {
    let mut texts = String::new();
    collect(value, &mut texts);
    runs_in_text(&texts)
        .iter()
        .map(|run| run.iter().copied().map(char::from).collect())
        .collect()
}

/// The texts, each ended by a letter that no code has: two of them make no run together.
fn collect(value: &Value, into: &mut String) {
    match value {
        Value::String(text) if !is_id(text) => {
            into.push_str(text);
            into.push_str(" A\n");
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            collect(&Value::String(name.clone()), into);
            collect(member, into);
        }),
        _ => {}
    }
}

/// Whether a text is one of the bank's own ids: a prefix and a UUID. Half of an answer is ids, and their hexadecimal
/// digits would make most of the accidental runs. No ASCII text in hexadecimal has a UUID's variant bits.
fn is_id(text: &str) -> bool {
    let Some((prefix, digits)) = text.split_once('_') else {
        return false;
    };
    (2..=8).contains(&prefix.len())
        && prefix.bytes().all(|b| b.is_ascii_lowercase())
        && digits.len() == 32
        && digits
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && matches!(digits.as_bytes()[12], b'4' | b'5' | b'7' | b'8')
        && matches!(digits.as_bytes()[16], b'8' | b'9' | b'a' | b'b')
}

#[cfg(test)]
mod tests {
    use countersign_screening::canary::runs_of_code;
    use serde_json::json;

    use super::*;

    const CODE: &str = "7KQ2XW9ZL4BTM3HD";

    fn holds(value: &Value) -> bool {
        let code: Vec<String> = runs_of_code(CODE)
            .iter()
            .map(|run| run.iter().copied().map(char::from).collect())
            .collect();
        runs(value).iter().any(|run| code.contains(run))
    }

    #[test]
    fn a_code_is_found_anywhere_in_a_value_and_in_disguise() {
        for value in [
            json!({"payee": "Q2XW9ZL4BT"}),
            json!({"rows": [{"reference": {"untrusted_text": "q2-xw9-zl4-bt"}}]}),
            json!({"Q2XW9ZL4BT": 1}),
            json!({"text": "UTJYVzlaTDRCVA=="}),
            json!({"id": "act_513258573957335a4c34425451325857"}),
        ] {
            let hex = value["id"].is_string();
            assert!(hex || holds(&value), "{value}");
            assert!(!hex || !is_id(value["id"].as_str().unwrap()), "{value}");
        }
    }

    #[test]
    fn two_texts_make_no_run_and_ids_are_passed_over() {
        assert!(!holds(&json!(["Q2XW9", "ZL4BT"])));
        assert!(runs(&json!({"id": "act_0198f0c2b7d37c1f8b2d4f6c9d3b5c7f"})).is_empty());
    }

    /// Prints what the alarm costs at 10 million customers: an ordinary answer has few runs that could be a code's.
    #[test]
    fn false_alarms_for_ten_million_customers_over_tool_calls() {
        const NAMES: [&str; 4] = [
            "Nordwind GmbH",
            "Bottega Verdi",
            "REWE SAGT DANKE 4711",
            "Kiran 10eur",
        ];
        const REFERENCES: [&str; 4] = [
            "Rechnung 2026-0415",
            "INV-20431 / PO 88231",
            "RF18 5390 0754 7034",
            "Thanks, 2x30",
        ];
        let row = |n: usize| {
            let (name, reference) = (NAMES[n % 4], REFERENCES[n % 4]);
            json!({
                "id": format!("txn_0198f0c2b7d37c1f8b2d4f6c9d3b{n:04x}"),
                "booked_on": format!("2026-11-{:02}", n % 28 + 1),
                "amount": format!("{}.{:02}", n * 37 % 900, n % 100),
                "currency": "EUR",
                "counterparty": {"untrusted_text": name},
                "reference": {"untrusted_text": reference},
            })
        };
        let answers = 100_u32;
        let mut found = 0_usize;
        for answer in 0..answers as usize {
            let rows: Vec<Value> = (0..20).map(|n| row(answer * 20 + n)).collect();
            found += runs(&json!({"transactions": rows})).len();
        }
        let found = u32::try_from(found).unwrap();
        let chance_of_a_run = 7.0 * 1e7 / 30_f64.powi(10);
        let per_answer = f64::from(found) / f64::from(answers) * chance_of_a_run;
        println!(
            "canary over tool answers: {:.1} runs an answer of 20 rows, {:.2e} false alarms an answer, {:.1} in a million answers",
            f64::from(found) / f64::from(answers),
            per_answer,
            per_answer * 1e6
        );
        assert!(per_answer < 5e-5, "{per_answer:e}");
    }
}
