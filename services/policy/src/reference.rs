//! The reference of the format, written from the code that reads it.

use serde_json::Value;

use crate::{Check, Reason, WRITE_WORDS, forms_of, schema};

/// What the reference says besides what it takes from the code.
const HEAD: &str = include_str!("reference/head.md");
/// The policy that the reference shows.
pub const EXAMPLE: &str = include_str!("reference/example.yaml");

/// JSON Schema of the file, as it is shipped.
#[must_use]
pub fn schema_json() -> String {
    let mut schema = schema();
    let title = "Policy of countersign-door";
    schema.insert("title".to_owned(), title.into());
    format!("{:#}\n", schema.as_value())
}

/// The whole reference, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = HEAD.replace("{{example}}", EXAMPLE.trim_end());
    checks(&mut page);
    keys(&mut page);
    words(&mut page);
    reasons(&mut page);
    page
}

fn checks(page: &mut String) {
    page.push_str("\n## The checks, in order\n\nThe first that fails is the reason.\n\n");
    page.push_str("| call of a tool | another method |\n|---|---|\n");
    for check in Check::OF_CALLS {
        let of_method = match Check::OF_METHODS.contains(&check) {
            true => check.name(),
            false => "",
        };
        page.push_str(&format!("| {} | {of_method} |\n", check.name()));
    }
}

fn keys(page: &mut String) {
    let schema = schema();
    let schema = schema.as_value();
    page.push_str("\n## Keys\n\nEvery other key is an error, with its line and a suggestion.\n");
    section(page, "The file", schema);
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        section(page, &format!("`{}`", readable(name)), definition);
    }
}

/// One type: its keys, or its values.
fn section(page: &mut String, title: &str, schema: &Value) {
    page.push_str(&format!("\n### {title}\n\n"));
    if let Some(description) = schema["description"].as_str() {
        page.push_str(&format!("{}\n\n", line(description)));
    }
    if let Some(properties) = schema["properties"].as_object() {
        let required: Vec<_> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        page.push_str("| key | is | when left out | meaning |\n|---|---|---|---|\n");
        for (key, property) in properties {
            let default = match (required.contains(&key.as_str()), &property["default"]) {
                (true, _) => "an error".to_owned(),
                (false, Value::Null) => "–".to_owned(),
                (false, Value::Array(elements)) if elements.is_empty() => "none".to_owned(),
                (false, Value::Object(_)) => "none".to_owned(),
                (false, value) => format!("`{}`", text(value)),
            };
            let meaning = property["description"].as_str().unwrap_or_default();
            page.push_str(&format!(
                "| `{key}` | {} | {default} | {} |\n",
                kind(property),
                line(meaning)
            ));
        }
        return;
    }
    let values = schema["oneOf"].as_array().into_iter().flatten();
    let values: Vec<_> = values
        .filter_map(|value| Some((value["const"].as_str()?, value["description"].as_str()?)))
        .collect();
    if !values.is_empty() {
        page.push_str("| value | meaning |\n|---|---|\n");
    }
    for (value, meaning) in values {
        page.push_str(&format!("| `{value}` | {} |\n", line(meaning)));
    }
}

/// What a value is, in a word.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return format!(
            "`{}`",
            readable(reference.rsplit('/').next().unwrap_or_default())
        );
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let others = choices.iter().filter(|choice| choice["type"] != "null");
        let others: Vec<_> = others.map(kind).collect();
        return others.join(" or ");
    }
    let name = match &schema["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null")
            .unwrap_or_default(),
        _ => "",
    };
    match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "object" => format!("names, each with {}", kind(&schema["additionalProperties"])),
        name => name.to_owned(),
    }
}

/// A type's name as the reference has it: `ToolFile` is a tool.
fn readable(name: &str) -> String {
    let name = name.strip_suffix("File").unwrap_or(name);
    let mut words = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(character.to_ascii_lowercase());
    }
    words
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A text on one line of a table.
fn line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

fn words(page: &mut String) {
    page.push_str(
        "\n## Payment and write words\n\n\
         A tool whose name holds one of these, in any of its forms, passes only by its exact name with \
         `acknowledged: creates-a-request-only`. `never_allow` adds words; nothing takes one away.\n\n\
         | word | forms |\n|---|---|\n",
    );
    for word in WRITE_WORDS {
        let mut forms: Vec<_> = forms_of(word).filter(|form| form != word).collect();
        forms.sort();
        forms.dedup();
        page.push_str(&format!("| {word} | {} |\n", forms.join(", ")));
    }
}

fn reasons(page: &mut String) {
    page.push_str(
        "\n## Reasons\n\nRefusals and records carry the code.\n\n\
         | code | what it is | what to do |\n|---|---|---|\n",
    );
    for reason in Reason::all() {
        page.push_str(&format!(
            "| `{}` | {} | {} |\n",
            reason.code(),
            line(reason.sentence()),
            line(reason.advice())
        ));
    }
}
