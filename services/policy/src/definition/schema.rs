//! JSON Schema, as far as the policy's words reach.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Gap;
use crate::file::{ARGUMENTS_MAX, ArgumentFile, ArgumentType};
use crate::shape;

/// Deepest nesting that is looked at, references included.
const DEPTH_MAX: usize = 8;
/// Greatest length of a string whose schema names none, in characters.
const LENGTH_MAX: u32 = 1024;
/// Most properties that are looked at, all levels together: references may say the same again and
/// again.
const PROPERTIES_MAX: usize = 2_048;

/// The arguments a definition declares, and what about them a policy cannot say.
pub(crate) fn propose(definition: &Value) -> (BTreeMap<String, ArgumentFile>, Vec<Gap>) {
    let mut reading = Reading {
        root: definition.get("inputSchema").unwrap_or(&Value::Null),
        gaps: Vec::new(),
        left: PROPERTIES_MAX,
    };
    let arguments = reading.properties("", reading.root, DEPTH_MAX);
    (arguments, reading.gaps)
}

struct Reading<'d> {
    root: &'d Value,
    gaps: Vec<Gap>,
    left: usize,
}

impl<'d> Reading<'d> {
    fn gap(&mut self, property: &str, message: impl Into<String>) {
        self.gaps.push(Gap {
            property: property.to_owned(),
            message: message.into(),
        });
    }

    fn properties(
        &mut self,
        inside: &str,
        schema: &'d Value,
        depth: usize,
    ) -> BTreeMap<String, ArgumentFile> {
        let mut arguments = BTreeMap::new();
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return arguments;
        };
        let required: Vec<_> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, schema) in properties {
            let path = match inside {
                "" => name.clone(),
                inside => format!("{inside}.{name}"),
            };
            if arguments.len() == ARGUMENTS_MAX {
                self.gap(&path, format!("a policy declares {ARGUMENTS_MAX} at most"));
                continue;
            }
            if let Some(mut argument) = self.property(&path, schema, depth) {
                argument.required = required.contains(&name.as_str());
                arguments.insert(name.clone(), argument);
            }
        }
        arguments
    }

    /// One property; none, and a gap, where a policy cannot say what it is.
    fn property(&mut self, path: &str, schema: &'d Value, depth: usize) -> Option<ArgumentFile> {
        let (Some(depth), Some(left)) = (depth.checked_sub(1), self.left.checked_sub(1)) else {
            self.gap(
                path,
                "it is declared too deep, by itself, or with too much in it",
            );
            return None;
        };
        self.left = left;
        let Some(object) = schema.as_object() else {
            self.gap(path, "it may be anything: declare what you want of it");
            return None;
        };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#');
            return match target.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => self.property(path, target, depth),
                None => {
                    self.gap(
                        path,
                        "it is declared elsewhere: declare what you want of it",
                    );
                    None
                }
            };
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(choices) = object.get(key).and_then(Value::as_array) {
                return self.choice(path, key, choices, depth);
            }
        }
        match self.kind(path, object)? {
            ArgumentType::String => Some(self.text(path, object)),
            ArgumentType::Array => {
                let items = object.get("items").unwrap_or(&Value::Null);
                let items = self.property(&format!("{path}[]"), items, depth)?;
                Some(ArgumentFile {
                    items: Some(Box::new(items)),
                    min_items: number(object, "minItems"),
                    max_items: number(object, "maxItems"),
                    ..plain(ArgumentType::Array)
                })
            }
            ArgumentType::Object => {
                if !object.get("properties").is_some_and(Value::is_object) {
                    self.gap(path, "an object of any members: declare those you want");
                    return None;
                }
                Some(ArgumentFile {
                    properties: Some(self.properties(path, schema, depth)),
                    ..plain(ArgumentType::Object)
                })
            }
            kind @ (ArgumentType::Integer | ArgumentType::Number) => Some(ArgumentFile {
                min: bound(object, "minimum"),
                max: bound(object, "maximum"),
                ..plain(kind)
            }),
            ArgumentType::Boolean => Some(plain(ArgumentType::Boolean)),
        }
    }

    /// One of several schemas, where all but one only say that it may be missing.
    fn choice(
        &mut self,
        path: &str,
        key: &str,
        choices: &'d [Value],
        depth: usize,
    ) -> Option<ArgumentFile> {
        let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) == Some("null");
        let mut others = choices.iter().filter(|choice| !is_null(choice));
        match (others.next(), others.next()) {
            (Some(only), None) => {
                if choices.len() > 1 {
                    self.gap(path, "it may be null there; here it is left out instead");
                }
                self.property(path, only, depth)
            }
            _ => {
                let message = format!("it may be several things ({key}): declare the one you want");
                self.gap(path, message);
                None
            }
        }
    }

    fn kind(&mut self, path: &str, object: &Map<String, Value>) -> Option<ArgumentType> {
        let names: Vec<&str> = match object.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if object.contains_key("enum") || object.contains_key("const") => vec!["string"],
            _ => Vec::new(),
        };
        let others: Vec<_> = names.iter().filter(|name| **name != "null").collect();
        let kind = match others[..] {
            [name] => type_of(name),
            [] => None,
            _ => {
                let message = "it may be of several types: declare the one you want";
                self.gap(path, message);
                return None;
            }
        };
        let texts = object.get("enum").and_then(Value::as_array);
        let only_texts = texts.is_none_or(|values| values.iter().all(Value::is_string))
            && object.get("const").is_none_or(Value::is_string);
        let Some(kind) = kind else {
            self.gap(path, "it may be anything: declare what you want of it");
            return None;
        };
        if !only_texts {
            self.gap(
                path,
                "a list of values that are no strings: declare a range instead",
            );
            return None;
        }
        if others.len() < names.len() {
            self.gap(path, "it may be null there; here it is left out instead");
        }
        Some(kind)
    }

    fn text(&mut self, path: &str, object: &Map<String, Value>) -> ArgumentFile {
        let texts = |values: &[Value]| -> Vec<String> {
            let texts = values.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        let one_of = match (object.get("enum"), object.get("const")) {
            (_, Some(Value::String(only))) => Some(vec![only.clone()]),
            (Some(Value::Array(values)), _) => Some(texts(values)),
            _ => None,
        };
        let mut pattern = match object.get("format").and_then(Value::as_str) {
            Some("date") => Some("[0-9]{4}-[0-9]{2}-[0-9]{2}".to_owned()),
            Some("uuid") => Some("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}".to_owned()),
            _ => None,
        };
        if let Some(theirs) = object.get("pattern").and_then(Value::as_str) {
            // A pattern of a schema looks anywhere in the text; ours are about all of it.
            let whole = theirs
                .strip_prefix('^')
                .and_then(|theirs| theirs.strip_suffix('$'));
            match whole.filter(|whole| shape::pattern(path, whole).is_ok()) {
                Some(whole) => pattern = Some(whole.to_owned()),
                None => self.gap(
                    path,
                    format!("its pattern `{theirs}` has to be written anew"),
                ),
            }
        }
        let max_length = number(object, "maxLength").unwrap_or(LENGTH_MAX);
        ArgumentFile {
            max_length: one_of.is_none().then_some(max_length),
            min_length: number(object, "minLength").filter(|least| *least <= max_length),
            pattern: pattern.filter(|_| one_of.is_none()),
            one_of,
            ..plain(ArgumentType::String)
        }
    }
}

const fn plain(kind: ArgumentType) -> ArgumentFile {
    ArgumentFile {
        kind,
        required: false,
        min: None,
        max: None,
        min_length: None,
        max_length: None,
        pattern: None,
        one_of: None,
        items: None,
        min_items: None,
        max_items: None,
        properties: None,
    }
}

fn number(object: &Map<String, Value>, key: &str) -> Option<u32> {
    object.get(key)?.as_u64()?.try_into().ok()
}

fn bound(object: &Map<String, Value>, key: &str) -> Option<i64> {
    const EXACT_MAX: u64 = (1 << 53) - 1;
    let bound = object.get(key)?.as_i64()?;
    (bound.unsigned_abs() <= EXACT_MAX).then_some(bound)
}

fn type_of(name: &str) -> Option<ArgumentType> {
    Some(match name {
        "string" => ArgumentType::String,
        "integer" => ArgumentType::Integer,
        "number" => ArgumentType::Number,
        "boolean" => ArgumentType::Boolean,
        "array" => ArgumentType::Array,
        "object" => ArgumentType::Object,
        _ => return None,
    })
}

/// The name of a type in the file.
pub(super) const fn type_name(kind: ArgumentType) -> &'static str {
    match kind {
        ArgumentType::String => "string",
        ArgumentType::Integer => "integer",
        ArgumentType::Number => "number",
        ArgumentType::Boolean => "boolean",
        ArgumentType::Array => "array",
        ArgumentType::Object => "object",
    }
}
