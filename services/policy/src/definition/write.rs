//! Declared arguments, written as lines of a policy.

use std::collections::BTreeMap;

use super::schema::type_name;
use crate::file::ArgumentFile;

/// `args:` and what belongs under it.
pub(super) fn args(arguments: &BTreeMap<String, ArgumentFile>, indent: usize) -> String {
    let space = " ".repeat(indent);
    if arguments.is_empty() {
        return format!("{space}args: {{}}\n");
    }
    let mut lines = format!("{space}args:\n");
    for (name, argument) in arguments {
        lines.push_str(&format!("{space}  {}: {}\n", key(name), flow(argument)));
    }
    lines
}

/// One argument on one line.
fn flow(argument: &ArgumentFile) -> String {
    let mut parts = vec![format!("type: {}", type_name(argument.kind))];
    if argument.required {
        parts.push("required: true".to_owned());
    }
    for (name, bound) in [("min", argument.min), ("max", argument.max)] {
        parts.extend(bound.map(|bound| format!("{name}: {bound}")));
    }
    for (name, count) in [
        ("min_length", argument.min_length),
        ("max_length", argument.max_length),
        ("min_items", argument.min_items),
        ("max_items", argument.max_items),
    ] {
        parts.extend(count.map(|count| format!("{name}: {count}")));
    }
    if let Some(pattern) = &argument.pattern {
        parts.push(format!("pattern: {}", text(pattern)));
    }
    if let Some(one_of) = &argument.one_of {
        let texts: Vec<_> = one_of.iter().map(|one| text(one)).collect();
        parts.push(format!("enum: [{}]", texts.join(", ")));
    }
    if let Some(items) = &argument.items {
        parts.push(format!("items: {}", flow(items)));
    }
    if let Some(properties) = &argument.properties {
        let members: Vec<_> = properties
            .iter()
            .map(|(name, member)| format!("{}: {}", key(name), flow(member)))
            .collect();
        parts.push(format!("properties: {{{}}}", members.join(", ")));
    }
    format!("{{{}}}", parts.join(", "))
}

/// A key, in quotes unless every reader takes it for the same text without.
fn key(name: &str) -> String {
    let plain = name.len() > 1
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.starts_with(|first: char| first.is_ascii_alphabetic());
    let word = ["true", "false", "null", "yes", "no", "on", "off"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word));
    match plain && !word {
        true => name.to_owned(),
        false => text(name),
    }
}

/// A text in double quotes: JSON's strings are YAML's.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
