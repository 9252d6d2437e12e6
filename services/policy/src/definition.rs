//! What a server says about a tool's arguments, in the policy's words.
//!
//! It is a proposal for whoever writes the policy, and decides nothing. What the policy's words
//! cannot say is named, by property, and never guessed.

mod schema;
mod write;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::file::{ArgumentFile, ArgumentType, ToolFile};
use crate::lint::{Finding, Severity};
use crate::places::Places;
use crate::read::read;
use crate::{PolicyError, WriteWords};

pub(crate) use schema::propose;

/// Something about a property that a policy cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The property, with the properties that lead there.
    pub property: String,
    /// What the server says about it.
    pub message: String,
}

/// A tool as a policy could allow it.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its name at its server.
    pub name: String,
    /// The first payment or write word of its name, if there is one.
    pub write_word: Option<String>,
    /// What the policy cannot say about its arguments.
    pub gaps: Vec<Gap>,
    arguments: BTreeMap<String, ArgumentFile>,
}

impl Proposal {
    /// Reads a tool's definition. None when it has no name.
    #[must_use]
    pub fn read(definition: &Value) -> Option<Self> {
        let name = definition.get("name")?.as_str()?.to_owned();
        let (arguments, gaps) = propose(definition);
        Some(Self {
            write_word: WriteWords::with(&[]).found_in(&name),
            name,
            gaps,
            arguments,
        })
    }

    /// Its arguments as lines of a policy: `args:` and what belongs under it, indented by so many
    /// spaces.
    #[must_use]
    pub fn args_yaml(&self, indent: usize) -> String {
        write::args(&self.arguments, indent)
    }
}

/// Compares what a policy declares with what servers say now. `definitions` are tools by their
/// names in the policy.
///
/// # Errors
/// [`PolicyError`] when it is no policy.
pub fn lint_definitions(
    yaml: &str,
    definitions: &BTreeMap<String, Value>,
) -> Result<Vec<Finding>, PolicyError> {
    let file = read(yaml)?;
    let places = Places::read(yaml);
    let mut findings = Vec::new();
    let mut find = |code, path: String, message: String| {
        let (line, column) = places.of(&path);
        findings.push(Finding {
            severity: Severity::Warning,
            code,
            path,
            line,
            column,
            message,
        });
    };
    for (key, tool) in &file.tools {
        let path = format!("tools.{key}");
        let Some(definition) = definitions.get(key) else {
            find("not_offered", path, "no server offers it now".to_owned());
            continue;
        };
        compare(&path, tool, definition, &mut find);
    }
    for name in definitions.keys() {
        if !file.tools.contains_key(name) {
            let message = format!("`{name}` is offered, and the policy does not allow it");
            find("not_allowed", "tools".to_owned(), message);
        }
    }
    Ok(findings)
}

fn compare(
    path: &str,
    tool: &ToolFile,
    definition: &Value,
    find: &mut impl FnMut(&'static str, String, String),
) {
    let (offered, gaps) = propose(definition);
    let path = format!("{path}.args");
    for gap in &gaps {
        let (name, _) = gap
            .property
            .split_once(['.', '['])
            .unwrap_or((&gap.property, ""));
        // Whoever declared it has decided what it may be.
        if !tool.args.contains_key(name) {
            let message = format!("`{}`: {}", gap.property, gap.message);
            find("cannot_be_said", path.clone(), message);
        }
    }
    for (name, declared) in &tool.args {
        let Some(offered) = offered.get(name) else {
            if !gaps
                .iter()
                .any(|gap| gap.property.starts_with(name.as_str()))
            {
                let message = "the server knows no such argument".to_owned();
                find("unknown_argument", format!("{path}.{name}"), message);
            }
            continue;
        };
        let fits = declared.kind == offered.kind
            || (declared.kind == ArgumentType::Integer && offered.kind == ArgumentType::Number);
        if !fits {
            let message = format!("the server wants {}", schema::type_name(offered.kind));
            find("other_type", format!("{path}.{name}.type"), message);
        }
        if offered.required && !declared.required {
            let message = "the server takes no call without it: write `required: true`".to_owned();
            find("required_there", format!("{path}.{name}"), message);
        }
    }
    for (name, offered) in &offered {
        if offered.required && !tool.args.contains_key(name) {
            let message =
                format!("the server takes no call without `{name}`, and the policy refuses it");
            find("required_there", path.clone(), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    fn proposal(schema: &str) -> Proposal {
        let definition = format!(r#"{{"name":"read_it","inputSchema":{schema}}}"#);
        Proposal::read(&serde_json::from_str(&definition).unwrap()).unwrap()
    }

    #[test]
    fn a_proposal_is_a_policy() {
        let proposal = proposal(
            r##"{"type":"object","required":["path","n"],"properties":{
                "path":{"type":"string","maxLength":20},
                "n":{"type":"integer","minimum":1,"maximum":9},
                "ratio":{"type":"number","minimum":0},
                "deep":{"type":"boolean"},
                "yes":{"type":"boolean"},
                "a b":{"type":"string","pattern":"^[a-z]+$"},
                "kind":{"enum":["one","no"]},
                "day":{"type":"string","format":"date"},
                "maybe":{"type":["string","null"]},
                "ref":{"$ref":"#/$defs/a"},
                "any":{"anyOf":[{"type":"integer"},{"type":"null"}]},
                "lines":{"type":"array","maxItems":3,"items":{"type":"object","required":["x"],
                    "properties":{"x":{"const":"y"}}}}},
              "$defs":{"a":{"type":"string","maxLength":3}}}"##,
        );
        let yaml = format!(
            "version: 1\nid: t\ndefault: deny\nrequire_pins: false\nservers: {{s: {{}}}}\ntools:\n  read_it:\n{}",
            proposal.args_yaml(4)
        );
        let policy = Policy::load(&yaml).unwrap_or_else(|error| panic!("{yaml}\n{error}"));
        let check = |json: &str| {
            let document =
                countersign_wire::Document::read(json.as_bytes(), &countersign_wire::Caps::MESSAGE)
                    .unwrap();
            let arguments = &policy.tool("read_it").unwrap().arguments;
            arguments.check(Some(document.root())).is_ok()
        };
        assert!(check(
            r#"{"path":"a","n":9,"ratio":0.5,"deep":true,"yes":false,"a b":"x","kind":"no",
                "day":"2026-11-30","maybe":"m","ref":"abc","any":4,"lines":[{"x":"y"}]}"#
        ));
        for refused in [
            r#"{"n":1}"#,
            r#"{"path":"a","n":10}"#,
            r#"{"path":"a","n":1,"kind":"two"}"#,
            r#"{"path":"a","n":1,"ref":"abcd"}"#,
            r#"{"path":"a","n":1,"ratio":-1}"#,
            r#"{"path":"a","n":1,"lines":[{"x":"z"}]}"#,
            r#"{"path":"a","n":1,"maybe":null}"#,
        ] {
            assert!(!check(refused), "{refused}");
        }
        let said: Vec<_> = proposal
            .gaps
            .iter()
            .map(|gap| gap.property.as_str())
            .collect();
        assert_eq!(said, ["any", "maybe"]);
    }

    #[test]
    fn what_a_policy_cannot_say_is_named_by_property() {
        for (schema, property) in [
            (
                r#"{"properties":{"x":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}"#,
                "x",
            ),
            (r#"{"properties":{"x":{"type":["string","integer"]}}}"#, "x"),
            (r#"{"properties":{"x":{}}}"#, "x"),
            (r#"{"properties":{"x":true}}"#, "x"),
            (r#"{"properties":{"x":{"type":"object"}}}"#, "x"),
            (r#"{"properties":{"x":{"type":"array"}}}"#, "x[]"),
            (
                r#"{"properties":{"x":{"type":"object","properties":{"y":{"not":{}}}}}}"#,
                "x.y",
            ),
            (r##"{"properties":{"x":{"$ref":"#/properties/x"}}}"##, "x"),
            (
                r#"{"properties":{"x":{"$ref":"https://a.example/schema"}}}"#,
                "x",
            ),
            (r#"{"properties":{"x":{"enum":[1,2]}}}"#, "x"),
            (
                r#"{"properties":{"x":{"type":"string","pattern":"^(?=a)"}}}"#,
                "x",
            ),
            (
                r#"{"properties":{"x":{"allOf":[{"type":"string"},{"maxLength":3}]}}}"#,
                "x",
            ),
        ] {
            let gaps = proposal(schema).gaps;
            assert_eq!(gaps.len(), 1, "{schema} {gaps:?}");
            assert_eq!(gaps[0].property, property, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_says_the_same_again_and_again_ends() {
        let start = std::time::Instant::now();
        let members: Vec<_> = (0..32)
            .map(|at| format!(r##""m{at}":{{"$ref":"#"}}"##))
            .collect();
        let schema = format!(
            r#"{{"type":"object","properties":{{{}}}}}"#,
            members.join(",")
        );
        assert!(!proposal(&schema).gaps.is_empty());
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn a_policy_is_compared_with_what_servers_say() {
        let yaml = "version: 1\nid: t\ndefault: deny\nservers: {s: {}}\ntools:\n  one:\n    args:\n      \
                    a: {type: string}\n      b: {type: integer}\n      c: {type: boolean}\n  two: {}\n";
        let one = r#"{"name":"one","inputSchema":{"required":["a","d"],"properties":{"a":{"type":"string"},
            "b":{"type":"string"},"d":{"type":"string"},"e":{"type":"object"}}}}"#;
        let definitions = [("one", one), ("three", r#"{"name":"three"}"#)]
            .map(|(name, text)| (name.to_owned(), serde_json::from_str(text).unwrap()))
            .into();
        let found: Vec<_> = lint_definitions(yaml, &definitions)
            .unwrap()
            .into_iter()
            .map(|finding| (finding.code, finding.line))
            .collect();
        assert_eq!(
            found,
            [
                ("cannot_be_said", 7),
                ("required_there", 8),
                ("other_type", 9),
                ("unknown_argument", 10),
                ("required_there", 7),
                ("not_offered", 11),
                ("not_allowed", 5),
            ]
        );
    }
}
