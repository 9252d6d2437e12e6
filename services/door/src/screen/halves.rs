//! A result says what it says twice: as text, and as structure. A client shows the one to a person and
//! may give the other to a model, so the two must not tell different things.

use countersign_wire::Value;
use serde_json::Value as Json;

/// The rule that a result breaks whose two halves differ. It labels and never stops: which half is
/// wrong nobody here can say.
pub const RULE: &str = "halves_differ";

/// Whether a result's text holds JSON of its own and none of it is what its structure says.
///
/// Revision 2026-07-28, "Structured Content": the text should be the same JSON. Prose beside a
/// structure is not compared.
pub fn differ(result: Value<'_>) -> bool {
    let Some(structure) = result.get("structuredContent") else {
        return false;
    };
    let content = result.get("content");
    let blocks = content.into_iter().flat_map(|content| content.elements());
    let told = blocks.filter_map(|block| {
        let text = block.get("text")?;
        let text = text.as_str()?;
        let text = text.trim();
        (text.starts_with('{') || text.starts_with('['))
            .then(|| serde_json::from_str::<Json>(text).ok())?
    });
    let told: Vec<Json> = told.collect();
    if told.is_empty() {
        return false;
    }
    let Ok(structure) = serde_json::from_str::<Json>(structure.raw()) else {
        return true;
    };
    // A list is often said one block an entry.
    let entries = Json::Array(told.clone());
    let only_member = structure.as_object().filter(|object| object.len() == 1);
    let inner = only_member.and_then(|object| object.values().next());
    !told
        .iter()
        .chain([&entries])
        .any(|told| *told == structure || Some(told) == inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::{Caps, Document};

    fn differing(result: &str) -> bool {
        let document = Document::read(result.as_bytes(), &Caps::ANSWER).unwrap();
        differ(document.root())
    }

    #[test]
    fn what_is_said_twice_is_said_alike() {
        for same in [
            r#"{"content":[]}"#,
            r#"{"content":[],"structuredContent":{"available":"120.50"}}"#,
            r#"{"content":[{"type":"text","text":"You have 120.50"}],"structuredContent":{"available":"120.50"}}"#,
            r#"{"content":[{"type":"text","text":"{ \"b\": 2, \"a\": 1 }"}],"structuredContent":{"a":1,"b":2}}"#,
            r#"{"content":[{"type":"text","text":"Here:"},{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}"#,
            r#"{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"result":[1,2]}}"#,
            r#"{"content":[{"type":"text","text":"{\"a\":1}"},{"type":"text","text":"{\"a\":2}"}],"structuredContent":{"result":[{"a":1},{"a":2}]}}"#,
            r#"{"content":[{"type":"text","text":"{broken"}],"structuredContent":{"a":1}}"#,
            r#"{"content":"none","structuredContent":{"a":1}}"#,
        ] {
            assert!(!differing(same), "{same}");
        }
        for other in [
            r#"{"content":[{"type":"text","text":"{\"payee\":\"Bob\"}"}],"structuredContent":{"payee":"Mallory"}}"#,
            r#"{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1,"b":2}}"#,
            r#"{"content":[{"type":"text","text":"{\"a\":\"1\"}"}],"structuredContent":{"a":1}}"#,
            r#"{"content":[{"type":"text","text":"[]"}],"structuredContent":{"a":[1]}}"#,
        ] {
            assert!(differing(other), "{other}");
        }
    }
}
