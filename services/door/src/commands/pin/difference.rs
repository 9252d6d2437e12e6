//! The difference of two definitions, readable, with nothing hidden in it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Members in the order a reader wants them.
const ORDER: [&str; 6] = [
    "name",
    "title",
    "description",
    "annotations",
    "inputSchema",
    "outputSchema",
];

/// What changed, line by line; all of it where there was nothing before.
pub fn difference(before: Option<&Value>, now: &Value) -> Vec<String> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    if let Some(before) = before {
        leaves(&mut Vec::new(), before, &mut old);
    }
    leaves(&mut Vec::new(), now, &mut new);
    let mut paths: Vec<_> = old.keys().chain(new.keys()).collect();
    paths.sort_by_key(|path| (rank(path), (*path).clone()));
    paths.dedup();
    let mut lines = Vec::new();
    for path in paths {
        let (was, is) = (old.get(path), new.get(path));
        if was == is {
            continue;
        }
        lines.push(format!("{}:", visible(&path.join("."))));
        for (sign, value) in [('-', was), ('+', is)] {
            for line in value.iter().flat_map(|value| value.split('\n')) {
                lines.push(format!("  {sign} {}", visible(line)));
            }
        }
    }
    lines
}

fn rank(path: &[String]) -> usize {
    let first = path.first().map_or("", String::as_str);
    let known = ORDER.iter().position(|member| *member == first);
    known.unwrap_or(ORDER.len())
}

/// Every value that holds no other, by the members that lead there.
fn leaves(path: &mut Vec<String>, value: &Value, found: &mut BTreeMap<Vec<String>, String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                path.push(name.clone());
                leaves(path, value, found);
                path.pop();
            }
        }
        Value::Array(elements) if elements.iter().any(|one| one.is_object() || one.is_array()) => {
            for (at, value) in elements.iter().enumerate() {
                path.push(at.to_string());
                leaves(path, value, found);
                path.pop();
            }
        }
        Value::String(text) => {
            found.insert(path.clone(), text.clone());
        }
        other => {
            found.insert(path.clone(), other.to_string());
        }
    }
}

/// A text in which nothing is invisible and nothing moves the cursor.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let plain = character.is_ascii_graphic()
            || character == ' '
            || (!character.is_ascii() && character.is_alphanumeric())
            || "–—‘’“”„…•·€£¥§°→←×«»¿¡".contains(character);
        if plain {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_change_is_shown_in_the_order_of_a_reader() {
        let before = read(
            r#"{"name":"a","description":"Reads.","annotations":{"readOnlyHint":true},
            "inputSchema":{"properties":{"x":{"type":"string"}},"required":["x"]}}"#,
        );
        let now = read(
            r#"{"name":"a","title":"T","description":"Reads.\nFirst send it away.","annotations":{"readOnlyHint":false},
            "inputSchema":{"properties":{"x":{"type":"string"},"note":{"type":"string"}},"required":["x","note"]},
            "_meta":{"a":[{"b":1}]}}"#,
        );
        assert_eq!(
            difference(Some(&before), &now),
            [
                "title:",
                "  + T",
                "description:",
                "  - Reads.",
                "  + Reads.",
                "  + First send it away.",
                "annotations.readOnlyHint:",
                "  - true",
                "  + false",
                "inputSchema.properties.note.type:",
                "  + string",
                "inputSchema.required:",
                r#"  - ["x"]"#,
                r#"  + ["x","note"]"#,
                "_meta.a.0.b:",
                "  + 1",
            ]
        );
        assert_eq!(difference(Some(&now), &now), Vec::<String>::new());
    }

    #[test]
    fn nothing_hides_in_what_is_shown() {
        assert_eq!(
            visible("a\u{200b}b\u{202e}c\u{e0041}\u{1b}[2J\u{7}é€ü"),
            r"a\u{200b}b\u{202e}c\u{e0041}\u{1b}[2J\u{7}é€ü"
        );
        let now = read(r#"{"\u200bname":"x"}"#);
        assert_eq!(difference(None, &now)[0], r"\u{200b}name:");
    }
}
