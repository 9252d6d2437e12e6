//! What a client is told about the screening of a result: `_meta` of the result, in one member.

use std::collections::BTreeMap;

use countersign_wire::{Span, Value};
use serde::Serialize;

use crate::judge::edits::Edits;

/// The member of a result's `_meta`. Only the door writes it: a server's own is taken out.
pub const LABEL: &str = "dev.countersign/screening";

/// How often each rule found something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Secrets that were taken out, by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub redacted: BTreeMap<Box<str>, u32>,
    /// Texts that give orders to a model, by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flagged: BTreeMap<&'static str, u32>,
}

impl Counts {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.redacted.is_empty() && self.flagged.is_empty()
    }
}

/// Where a server wrote the door's own label.
pub fn forged(result: Value<'_>) -> Option<Span> {
    let label = result.get("_meta")?.get(LABEL)?;
    Some(label.span())
}

/// What to change in a result so that it says what was found, and nothing that the server says of it.
pub fn edits(result: Value<'_>, counts: &Counts) -> Edits {
    let mut edits = Edits::NONE;
    let label = (!counts.is_empty())
        .then(|| serde_json::to_string(counts).ok())
        .flatten()
        .map(|counts| format!("\"{LABEL}\":{counts}"));
    let Some(meta) = result.get("_meta") else {
        if let Some(label) = label {
            insert(&mut edits, result, &format!("\"_meta\":{{{label}}}"));
        }
        return edits;
    };
    if !meta.is_object() {
        // Nobody reads members of it; the protocol knows no such result.
        return edits;
    }
    match (meta.get(LABEL), label) {
        (Some(forged), Some(label)) => {
            let counts = &label[LABEL.len() + 3..];
            edits.replace(forged.span(), counts);
        }
        (Some(forged), None) => edits.replace(forged.span(), "null"),
        (None, Some(label)) => insert(&mut edits, meta, &label),
        (None, None) => {}
    }
    edits
}

/// Puts a member at the front of an object.
fn insert(edits: &mut Edits, object: Value<'_>, member: &str) {
    let at = object.span().start + 1;
    let comma = if object.is_empty() { "" } else { "," };
    edits.replace(at..at, format!("{member}{comma}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::{Caps, Document};

    fn labelled(result: &str, counts: &Counts) -> String {
        let document = Document::read(result.as_bytes(), &Caps::ANSWER).unwrap();
        let edits = edits(document.root(), counts);
        String::from_utf8(edits.apply(result.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn a_label_joins_what_is_there_and_cannot_be_forged() {
        let mut counts = Counts::default();
        counts.redacted.insert("card".into(), 2);
        counts.flagged.insert("conceal", 1);
        let label =
            r#""dev.countersign/screening":{"redacted":{"card":2},"flagged":{"conceal":1}}"#;
        for (result, expected) in [
            ("{}".to_owned(), format!(r#"{{"_meta":{{{label}}}}}"#)),
            (
                r#"{"a":1}"#.to_owned(),
                format!(r#"{{"_meta":{{{label}}},"a":1}}"#),
            ),
            (
                r#"{"_meta":{}}"#.to_owned(),
                format!(r#"{{"_meta":{{{label}}}}}"#),
            ),
            (
                r#"{"_meta":{"k":2},"a":1}"#.to_owned(),
                format!(r#"{{"_meta":{{{label},"k":2}},"a":1}}"#),
            ),
            (
                format!(r#"{{"_meta":{{"{LABEL}":{{}}}}}}"#),
                format!(r#"{{"_meta":{{{label}}}}}"#),
            ),
        ] {
            assert_eq!(labelled(&result, &counts), expected);
        }
        let forged = format!(r#"{{"_meta":{{"{LABEL}":{{"flagged":{{}}}}}}}}"#);
        let clean = Counts::default();
        assert_eq!(
            labelled(&forged, &clean),
            format!(r#"{{"_meta":{{"{LABEL}":null}}}}"#)
        );
        assert_eq!(labelled(r#"{"a":1}"#, &clean), r#"{"a":1}"#);
    }
}
