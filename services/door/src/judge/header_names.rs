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

/// An argument that a header repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The header's name, in small letters.
    pub header: Box<str>,
    /// The members that lead to the argument.
    pub path: Box<[Box<str>]>,
}

/// The arguments of a tool that headers repeat; none where a name is one that clients do not accept.
pub fn repeated(definition: Value<'_>) -> Option<Vec<Repeated>> {
    let mut found = Vec::new();
    let is_good = definition
        .get("inputSchema")
        .is_none_or(|schema| walk(schema, Some(&mut Vec::new()), &mut found));
    is_good.then_some(found)
}

/// Walks a schema; `path` is how an argument is reached, where only `properties` lead here.
fn walk(
    schema: Value<'_>,
    mut path: Option<&mut Vec<Box<str>>>,
    found: &mut Vec<Repeated>,
) -> bool {
    schema.members().all(|(name, value)| match &*name {
        name if fold(name).eq_ignore_ascii_case(ANNOTATION) => {
            let path = path.as_deref().filter(|path| !path.is_empty());
            name == ANNOTATION
                && path.is_some_and(|path| is_plain(schema) && take(value, path, found))
        }
        "properties" => value.members().all(|(member, property)| match &mut path {
            None => walk(property, None, found),
            Some(path) => {
                path.push(Box::from(&*member));
                let is_good = walk(property, Some(path), found);
                path.pop();
                is_good
            }
        }),
        name if DATA.contains(&name) => true,
        _ => deeper(value, found),
    })
}

/// Whatever lies elsewhere in a schema: no name for a header has a place there.
fn deeper(value: Value<'_>, found: &mut Vec<Repeated>) -> bool {
    match value.kind() {
        Type::Object => walk(value, None, found),
        Type::Array => value.elements().all(|element| deeper(element, found)),
        _ => true,
    }
}

fn is_plain(schema: Value<'_>) -> bool {
    let kind = schema.get("type").and_then(|kind| kind.as_str());
    kind.is_some_and(|kind| PLAIN.contains(&&*kind))
}

/// A token of HTTP (RFC 9110, section 5.6.2) that no other argument has.
fn take(value: Value<'_>, path: &[Box<str>], found: &mut Vec<Repeated>) -> bool {
    let Some(name) = value.as_str() else {
        return false;
    };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = name.to_ascii_lowercase();
    let is_known = found.iter().any(|known| *known.header == *name);
    if name.is_empty() || !name.bytes().all(is_token) || is_known {
        return false;
    }
    found.push(Repeated {
        header: name.into(),
        path: path.into(),
    });
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
        repeated(document.root()).is_some()
    }

    #[test]
    fn the_arguments_that_headers_repeat_are_known_by_their_place() {
        let text = r#"{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"object","properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}}"#;
        let document = Document::read(text.as_bytes(), &Caps::ANSWER).unwrap();
        let found = repeated(document.root()).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|one| (&*one.header, one.path.join(".")))
            .collect();
        assert_eq!(found, [("region", "a".into()), ("c", "b.c".to_owned())]);
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
