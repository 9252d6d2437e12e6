//! The headers that a tool's schema asks its clients to send (`x-mcp-header`).
//!
//! The protocol has clients drop a tool whose names for headers are empty, no token, given twice or
//! not at a plain argument: such a name could end a header line or speak for another argument. The
//! door drops it for all of them.

use countersign_wire::{Type, Value, fold};

const ANNOTATION: &str = "x-mcp-header";
/// Members of a schema that hold data, in which nothing is an annotation.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Types whose values a header can repeat exactly.
const PLAIN: [&str; 3] = ["boolean", "integer", "string"];

/// Whether every name for a header in a tool's definition is one that clients accept.
pub fn are_good(definition: Value<'_>) -> bool {
    let mut names = Vec::new();
    definition
        .get("inputSchema")
        .is_none_or(|schema| walk(schema, true, &mut names))
}

/// Walks a schema; `is_argument` says whether only `properties` lead here.
fn walk(schema: Value<'_>, is_argument: bool, names: &mut Vec<String>) -> bool {
    schema.members().all(|(name, value)| match &*name {
        name if fold(name).eq_ignore_ascii_case(ANNOTATION) => {
            name == ANNOTATION && is_argument && is_plain(schema) && take(value, names)
        }
        "properties" => value
            .members()
            .all(|(_, property)| walk(property, is_argument, names)),
        name if DATA.contains(&name) => true,
        _ => deeper(value, names),
    })
}

/// Whatever lies elsewhere in a schema: no name for a header has a place there.
fn deeper(value: Value<'_>, names: &mut Vec<String>) -> bool {
    match value.kind() {
        Type::Object => walk(value, false, names),
        Type::Array => value.elements().all(|element| deeper(element, names)),
        _ => true,
    }
}

fn is_plain(schema: Value<'_>) -> bool {
    let kind = schema.get("type").and_then(|kind| kind.as_str());
    kind.is_some_and(|kind| PLAIN.contains(&&*kind))
}

/// A token of HTTP (RFC 9110, section 5.6.2) that no other argument has.
fn take(value: Value<'_>, names: &mut Vec<String>) -> bool {
    let Some(name) = value.as_str() else {
        return false;
    };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(is_token) || names.contains(&name) {
        return false;
    }
    names.push(name);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::{Caps, Document};

    fn good(properties: &str) -> bool {
        let text = format!(
            r#"{{"name":"t","inputSchema":{{"type":"object","properties":{properties}}}}}"#
        );
        let document = Document::read(text.as_bytes(), &Caps::ANSWER).unwrap();
        are_good(document.root())
    }

    #[test]
    fn a_tool_whose_headers_have_no_good_names_is_none() {
        for properties in [
            r#"{"a":{"type":"string","x-mcp-header":"Region"}}"#,
            r#"{"a":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"}}}}"#,
            r#"{"x-mcp-header":{"type":"string"}}"#,
            r#"{"a":{"type":"object","default":{"x-mcp-header":""}}}"#,
        ] {
            assert!(good(properties), "{properties}");
        }
        for properties in [
            r#"{"a":{"type":"string","x-mcp-header":""}}"#,
            r#"{"a":{"type":"string","x-mcp-header":7}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"A b"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"A:"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"A\r\nX-Customer: 2"}}"#,
            r#"{"a":{"type":"string","X-Mcp-Header":"A"}}"#,
            r#"{"a":{"type":"number","x-mcp-header":"A"}}"#,
            r#"{"a":{"type":"object","x-mcp-header":"A"}}"#,
            r#"{"a":{"x-mcp-header":"A"}}"#,
            r#"{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}"#,
            r#"{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}"#,
            r#"{"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}}"#,
        ] {
            assert!(!good(properties), "{properties}");
        }
    }
}
