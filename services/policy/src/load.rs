//! From the file to a policy that decides; everything that could fail later fails here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use regex::{Regex, RegexBuilder};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use sha2::{Digest as _, Sha256};

use crate::arguments::{ArgumentSpec, Arguments, Shape};
use crate::file::{
    ARGUMENTS_MAX, Acknowledgement, ArgumentFile, ArgumentType, PolicyFile, RuleEffect, RuleFile,
};
use crate::name::{Glob, check_name};
use crate::pin::Pin;
use crate::words::WriteWords;

/// Longest policy file, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;
/// Deepest nesting of declared arrays and objects.
const SHAPE_DEPTH_MAX: usize = 8;
/// Greatest length of a string that declares none, in characters.
const LENGTH_DEFAULT: u32 = 1024;
/// Greatest number of elements of an array that declares none.
const ITEMS_DEFAULT: u32 = 32;
/// Most calls in a minute that a limit may allow; each is remembered for a minute.
const RATE_MAX: u32 = 10_000;
/// Most memory of one compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Largest integer that a float keeps exactly.
const EXACT_MAX: i64 = (1 << 53) - 1;

/// Why a policy file is refused. The old policy, if there is one, stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It is not the YAML of a policy.
    #[error("line {line}, column {column}: {message}{}", hint(suggestion.as_deref()))]
    Syntax {
        /// Counted from one.
        line: u64,
        /// Counted from one.
        column: u64,
        /// What is wrong there.
        message: String,
        /// The key that was probably meant.
        suggestion: Option<String>,
    },
    /// It says something that cannot be decided by.
    #[error("{path}: {message}")]
    Meaning {
        /// The keys that lead there.
        path: String,
        /// What is wrong there.
        message: String,
    },
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |key| format!(" (did you mean `{key}`?)"))
}

/// A tool that the policy allows.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub rule: Box<str>,
    pub pin: Option<Pin>,
    pub acknowledged: Option<Acknowledgement>,
    pub rate_per_minute: Option<u32>,
    pub arguments: Arguments,
}

/// Another method that the policy allows.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub rule: Box<str>,
    pub rate_per_minute: Option<u32>,
    pub arguments: Arguments,
}

/// Something the policy takes away.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub id: Box<str>,
    pub target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Tool(Glob),
    Method(Glob),
}

/// A policy that decides.
#[derive(Clone, Debug)]
pub struct Policy {
    id: Box<str>,
    hash: [u8; 32],
    pub(crate) require_pins: bool,
    pub(crate) allow_dots: bool,
    pub(crate) rate_per_minute: Option<u32>,
    pub(crate) words: WriteWords,
    pub(crate) servers: BTreeSet<Box<str>>,
    pub(crate) tools: HashMap<Box<str>, Tool>,
    pub(crate) methods: HashMap<Box<str>, Method>,
    pub(crate) denials: Vec<Rule>,
    pub(crate) holds: Vec<Rule>,
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// [`PolicyError`] with the place of the first thing that is wrong.
    pub fn load(yaml: &str) -> Result<Self, PolicyError> {
        let file = read(yaml)?;
        compile(file, Sha256::digest(yaml.as_bytes()).into())
    }

    /// The policy's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// SHA-256 of the file's bytes.
    #[must_use]
    pub const fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The names of the tools it allows, in no order.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Option<Pin>)> {
        self.tools.iter().map(|(name, tool)| (&**name, tool.pin))
    }

    /// The pin of a tool the policy allows.
    #[must_use]
    pub fn pin(&self, name: &str) -> Option<Pin> {
        self.tools.get(name)?.pin
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }
}

/// Reads the file's form alone.
pub(crate) fn read(yaml: &str) -> Result<PolicyFile, PolicyError> {
    if yaml.len() > FILE_BYTES_MAX {
        return Err(meaning("", "the file is longer than a mebibyte"));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_events: 200_000,
            max_depth: 64,
            max_documents: 1,
        },
        strict_indentation: true,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        no_schema: true,
    };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| syntax(&error))
}

fn syntax(error: &serde_saphyr::Error) -> PolicyError {
    let error = error.without_snippet();
    let (line, column) = error
        .location()
        .map_or((1, 1), |place| (place.line(), place.column()));
    let (message, suggestion) = match error {
        serde_saphyr::Error::SerdeUnknownField {
            field, expected, ..
        } => (
            format!("unknown key `{field}`"),
            nearest(field, expected).map(str::to_owned),
        ),
        serde_saphyr::Error::SerdeUnknownVariant {
            variant, expected, ..
        } => (
            format!("`{variant}` is none of: {}", expected.join(", ")),
            nearest(variant, expected).map(str::to_owned),
        ),
        serde_saphyr::Error::SerdeMissingField { field, .. } => {
            (format!("the key `{field}` is missing"), None)
        }
        other => (other.to_string(), None),
    };
    PolicyError::Syntax {
        line,
        column,
        message,
        suggestion,
    }
}

/// The known key that takes the fewest edits, when they are few.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    known
        .iter()
        .map(|candidate| (edits(key, candidate), *candidate))
        .filter(|(edits, candidate)| *edits <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many insertions, deletions and replacements lead from one key to another.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, character) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (at, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

fn meaning(path: impl Into<String>, message: impl Into<String>) -> PolicyError {
    PolicyError::Meaning {
        path: path.into(),
        message: message.into(),
    }
}

fn compile(file: PolicyFile, hash: [u8; 32]) -> Result<Policy, PolicyError> {
    if file.version != 1 {
        return Err(meaning("version", "this door reads version 1"));
    }
    check_plain("id", &file.id)?;
    check_rate("rate_per_minute", file.rate_per_minute)?;
    for word in &file.never_allow {
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(meaning(
                "never_allow",
                format!("`{word}` is no word of letters"),
            ));
        }
    }
    for name in file.servers.keys() {
        check_plain(&format!("servers.{name}"), name)?;
    }
    let mut tools = HashMap::with_capacity(file.tools.len());
    for (name, tool) in file.tools {
        let path = format!("tools.{name}");
        if !check_name(&name, file.allow_dots) {
            return Err(meaning(path, "a tool is allowed by its exact, plain name"));
        }
        check_rate(&path, tool.rate_per_minute)?;
        let pin = match &tool.schema_sha256 {
            None => None,
            Some(text) => Some(Pin::from_text(text).map_err(|_| {
                meaning(
                    format!("{path}.schema_sha256"),
                    "64 lower-case hexadecimal digits are wanted",
                )
            })?),
        };
        let compiled = Tool {
            rule: path.clone().into_boxed_str(),
            pin,
            acknowledged: tool.acknowledged,
            rate_per_minute: tool.rate_per_minute,
            arguments: arguments(&path, tool.args, SHAPE_DEPTH_MAX)?,
        };
        tools.insert(name.into_boxed_str(), compiled);
    }
    let mut methods = HashMap::with_capacity(file.methods.len());
    for (name, method) in file.methods {
        let path = format!("methods.{name}");
        if name == "tools/call" || name.contains('*') || Glob::new(&name).is_none() {
            return Err(meaning(
                path,
                "a method besides tools/call is allowed by its exact name",
            ));
        }
        check_rate(&path, method.rate_per_minute)?;
        let compiled = Method {
            rule: path.clone().into_boxed_str(),
            rate_per_minute: method.rate_per_minute,
            arguments: arguments(&path, method.args, SHAPE_DEPTH_MAX)?,
        };
        methods.insert(name.into_boxed_str(), compiled);
    }
    let (denials, holds) = rules(file.rules)?;
    Ok(Policy {
        id: file.id.into_boxed_str(),
        hash,
        require_pins: file.require_pins,
        allow_dots: file.allow_dots,
        rate_per_minute: file.rate_per_minute,
        words: WriteWords::with(&file.never_allow),
        servers: file
            .servers
            .into_keys()
            .map(String::into_boxed_str)
            .collect(),
        tools,
        methods,
        denials,
        holds,
    })
}

fn check_plain(path: &str, name: &str) -> Result<(), PolicyError> {
    if check_name(name, true) {
        Ok(())
    } else {
        Err(meaning(
            path,
            "letters, digits, '_', '-' and '.' are allowed",
        ))
    }
}

fn check_rate(path: &str, rate: Option<u32>) -> Result<(), PolicyError> {
    if rate.is_none_or(|rate| (1..=RATE_MAX).contains(&rate)) {
        Ok(())
    } else {
        Err(meaning(
            path,
            format!("a rate is 1 to {RATE_MAX} in a minute"),
        ))
    }
}

fn rules(files: Vec<RuleFile>) -> Result<(Vec<Rule>, Vec<Rule>), PolicyError> {
    let (mut denials, mut holds) = (Vec::new(), Vec::new());
    let mut ids = BTreeSet::new();
    for rule in files {
        let path = format!("rules.{}", rule.id);
        check_plain(&path, &rule.id)?;
        if !ids.insert(rule.id.clone()) {
            return Err(meaning(path, "two rules have this id"));
        }
        let glob = |pattern: &str| {
            Glob::new(pattern)
                .ok_or_else(|| meaning(&*path, "the pattern is not one of names and '*'"))
        };
        let target = match (&rule.tool, &rule.method) {
            (Some(tool), None) => Target::Tool(glob(tool)?),
            (None, Some(method)) => Target::Method(glob(method)?),
            _ => return Err(meaning(path, "a rule is about a tool or about a method")),
        };
        let list = match rule.effect {
            RuleEffect::Deny => &mut denials,
            RuleEffect::RequireApproval => &mut holds,
        };
        if list.iter().any(|other: &Rule| other.target == target) {
            return Err(meaning(path, "another rule says the same"));
        }
        list.push(Rule {
            id: rule.id.into_boxed_str(),
            target,
        });
    }
    Ok((denials, holds))
}

fn arguments(
    path: &str,
    files: BTreeMap<String, ArgumentFile>,
    depth: usize,
) -> Result<Arguments, PolicyError> {
    if files.len() > ARGUMENTS_MAX {
        return Err(meaning(
            path,
            format!("at most {ARGUMENTS_MAX} arguments can be declared"),
        ));
    }
    let specs = files
        .into_iter()
        .map(|(name, file)| {
            let spec = spec(&format!("{path}.{name}"), file, depth)?;
            Ok((name.into_boxed_str(), spec))
        })
        .collect::<Result<_, PolicyError>>()?;
    Ok(Arguments::new(specs))
}

fn spec(path: &str, file: ArgumentFile, depth: usize) -> Result<ArgumentSpec, PolicyError> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| meaning(path, "declared too deep"))?;
    check_keys(path, &file)?;
    let shape = match file.kind {
        ArgumentType::String => Shape::Text {
            min_length: file.min_length.unwrap_or(0) as usize,
            max_length: file.max_length.unwrap_or(LENGTH_DEFAULT) as usize,
            pattern: file.pattern.map(|text| pattern(path, &text)).transpose()?,
            one_of: file
                .one_of
                .map(|words| words.into_iter().map(String::into_boxed_str).collect()),
        },
        ArgumentType::Integer => Shape::Integer {
            min: file.min.unwrap_or(-EXACT_MAX),
            max: file.max.unwrap_or(EXACT_MAX),
        },
        ArgumentType::Number => Shape::Number {
            min: file.min,
            max: file.max,
        },
        ArgumentType::Boolean => Shape::Boolean,
        ArgumentType::Array => Shape::Array {
            items: match file.items {
                Some(items) => Box::new(spec(&format!("{path}.items"), *items, depth)?),
                None => return Err(meaning(path, "an array declares its items")),
            },
            min_items: file.min_items.unwrap_or(0) as usize,
            max_items: file.max_items.unwrap_or(ITEMS_DEFAULT) as usize,
        },
        ArgumentType::Object => Shape::Object(match file.properties {
            Some(properties) => arguments(path, properties, depth)?,
            None => return Err(meaning(path, "an object declares its properties")),
        }),
    };
    Ok(ArgumentSpec {
        required: file.required,
        shape,
    })
}

/// Refuses keys that mean nothing for the type, and bounds that nothing satisfies.
fn check_keys(path: &str, file: &ArgumentFile) -> Result<(), PolicyError> {
    use ArgumentType as Type;
    for (key, given, fits) in [
        (
            "min",
            file.min.is_some(),
            matches!(file.kind, Type::Integer | Type::Number),
        ),
        (
            "max",
            file.max.is_some(),
            matches!(file.kind, Type::Integer | Type::Number),
        ),
        (
            "min_length",
            file.min_length.is_some(),
            file.kind == Type::String,
        ),
        (
            "max_length",
            file.max_length.is_some(),
            file.kind == Type::String,
        ),
        ("pattern", file.pattern.is_some(), file.kind == Type::String),
        ("enum", file.one_of.is_some(), file.kind == Type::String),
        ("items", file.items.is_some(), file.kind == Type::Array),
        (
            "min_items",
            file.min_items.is_some(),
            file.kind == Type::Array,
        ),
        (
            "max_items",
            file.max_items.is_some(),
            file.kind == Type::Array,
        ),
        (
            "properties",
            file.properties.is_some(),
            file.kind == Type::Object,
        ),
    ] {
        if given && !fits {
            return Err(meaning(
                format!("{path}.{key}"),
                "means nothing for this type",
            ));
        }
    }
    let exact = |bound: Option<i64>| bound.is_none_or(|bound| bound.abs() <= EXACT_MAX);
    if !exact(file.min) || !exact(file.max) {
        return Err(meaning(path, "a bound is at most 2^53 - 1 away from zero"));
    }
    let crossed = file.min.zip(file.max).is_some_and(|(min, max)| min > max)
        || file.min_length.unwrap_or(0) > file.max_length.unwrap_or(LENGTH_DEFAULT)
        || file.min_items.unwrap_or(0) > file.max_items.unwrap_or(ITEMS_DEFAULT);
    if crossed || file.one_of.as_ref().is_some_and(Vec::is_empty) {
        return Err(meaning(path, "nothing can satisfy it"));
    }
    Ok(())
}

/// Compiles a pattern over the whole value.
fn pattern(path: &str, text: &str) -> Result<Regex, PolicyError> {
    let path = format!("{path}.pattern");
    // They reach further here than in most engines: other scripts' digits, letters that fold.
    for (part, instead) in [
        (r"\d", "[0-9]"),
        (r"\D", "[^0-9]"),
        (r"\w", "[A-Za-z0-9_]"),
        (r"\W", "[^A-Za-z0-9_]"),
        (r"\s", "[ ]"),
        (r"\S", "[^ ]"),
        ("(?i", "both cases"),
    ] {
        if text.contains(part) {
            return Err(meaning(
                path,
                format!("`{part}` means other things in other engines: write {instead}"),
            ));
        }
    }
    RegexBuilder::new(&format!(r"\A(?:{text})\z"))
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| meaning(path, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "version: 1\nid: t\ndefault: deny\nservers:\n  s: {}\ntools:\n  read_it: {}\n";

    fn refused(yaml: &str) -> PolicyError {
        match Policy::load(yaml) {
            Ok(_) => panic!("must be refused:\n{yaml}"),
            Err(error) => error,
        }
    }

    #[test]
    fn the_smallest_policy_loads() {
        let policy = Policy::load(GOOD).unwrap();
        assert_eq!(policy.id(), "t");
        assert_eq!(policy.tools().count(), 1);
        assert!(policy.require_pins);
    }

    #[test]
    fn what_is_not_the_format_is_refused_with_its_place() {
        for (yaml, line, words) in [
            (
                GOOD.replace("default: deny", "default: allow"),
                3,
                "none of: deny",
            ),
            (
                GOOD.replace("default: deny\n", ""),
                5,
                "`default` is missing",
            ),
            (GOOD.replace("id: t", "id: t\nid: u"), 3, "duplicate"),
            (
                GOOD.replace("id: t", "id: t\nmood: enforce"),
                3,
                "unknown key `mood`",
            ),
            (
                GOOD.replace("read_it: {}", "read_it: {}\n  read_it: {}"),
                8,
                "duplicate",
            ),
            (
                GOOD.replace("read_it: {}", "read_it: {arg: {}}"),
                7,
                "unknown key `arg`",
            ),
            (GOOD.replace("id: t", "id: true"), 2, ""),
            (GOOD.replace("id: t", "id: 1e3"), 2, ""),
            (GOOD.replace("version: 1", "version: one"), 1, ""),
            (GOOD.replace("  s: {}", "\ts: {}"), 5, ""),
            (GOOD.replace("id: t", "require_pins: yes\nid: t"), 2, ""),
            (GOOD.replace("  s: {}", "  s: &s {}\n  r: *s"), 5, ""),
            (GOOD.replace("  s: {}", "  s: {<<: {label: x}}"), 5, ""),
            (format!("{GOOD}---\n{GOOD}"), 8, ""),
        ] {
            match refused(&yaml) {
                PolicyError::Syntax {
                    line: found,
                    message,
                    ..
                } => {
                    assert_eq!(found, line, "{yaml}\n{message}");
                    assert!(message.to_lowercase().contains(words), "{yaml}\n{message}");
                }
                error @ PolicyError::Meaning { .. } => panic!("{yaml}\n{error}"),
            }
        }
        assert!(Policy::load("").is_err());
        assert!(Policy::load("default: deny").is_err());
    }

    #[test]
    fn a_misspelt_key_comes_with_a_suggestion() {
        let error = refused(&GOOD.replace("servers:", "server:"));
        assert_eq!(
            error.to_string(),
            "line 4, column 1: unknown key `server` (did you mean `servers`?)"
        );
        let error = refused(&GOOD.replace("default: deny", "default: dney"));
        assert_eq!(
            error.to_string(),
            "line 3, column 10: `dney` is none of: deny (did you mean `deny`?)"
        );
    }

    #[test]
    fn what_cannot_be_decided_by_is_refused() {
        let arg =
            |spec: &str| GOOD.replace("read_it: {}", &format!("read_it: {{args: {{a: {spec}}}}}"));
        for (yaml, path) in [
            (GOOD.replace("version: 1", "version: 2"), "version"),
            (GOOD.replace("id: t", "id: a b"), "id"),
            (GOOD.replace("read_it", "read*"), "tools.read*"),
            (GOOD.replace("read_it", "read.it"), "tools.read.it"),
            (
                GOOD.replace("read_it: {}", "read_it: {schema_sha256: 'AB'}"),
                "tools.read_it.schema_sha256",
            ),
            (
                GOOD.replace("read_it: {}", "read_it: {rate_per_minute: 0}"),
                "tools.read_it",
            ),
            (
                arg("{type: string, pattern: '('}"),
                "tools.read_it.a.pattern",
            ),
            (
                arg(r"{type: string, pattern: '\d+'}"),
                "tools.read_it.a.pattern",
            ),
            (
                arg("{type: string, pattern: '(?i)a'}"),
                "tools.read_it.a.pattern",
            ),
            (
                arg("{type: string, pattern: 'a{1000}{1000}'}"),
                "tools.read_it.a.pattern",
            ),
            (arg("{type: string, min: 1}"), "tools.read_it.a.min"),
            (arg("{type: integer, min: 2, max: 1}"), "tools.read_it.a"),
            (
                arg("{type: integer, pattern: a}"),
                "tools.read_it.a.pattern",
            ),
            (arg("{type: string, enum: []}"), "tools.read_it.a"),
            (arg("{type: array}"), "tools.read_it.a"),
            (arg("{type: object}"), "tools.read_it.a"),
            (
                arg("{type: boolean, properties: {}}"),
                "tools.read_it.a.properties",
            ),
            (
                format!("{GOOD}methods: {{tools/call: {{}}}}\n"),
                "methods.tools/call",
            ),
            (
                format!("{GOOD}rules: [{{id: a, effect: deny}}]\n"),
                "rules.a",
            ),
            (
                format!("{GOOD}rules: [{{id: a, effect: deny, tool: x, method: y}}]\n"),
                "rules.a",
            ),
            (
                format!(
                    "{GOOD}rules: [{{id: a, effect: deny, tool: x}}, {{id: a, effect: deny, tool: z}}]\n"
                ),
                "rules.a",
            ),
            (
                format!(
                    "{GOOD}rules: [{{id: a, effect: deny, tool: x}}, {{id: b, effect: deny, tool: x}}]\n"
                ),
                "rules.b",
            ),
            (format!("{GOOD}never_allow: ['']\n"), "never_allow"),
        ] {
            match refused(&yaml) {
                PolicyError::Meaning { path: found, .. } => assert_eq!(found, path, "{yaml}"),
                error @ PolicyError::Syntax { .. } => panic!("{yaml}\n{error}"),
            }
        }
    }

    #[test]
    fn a_rule_cannot_allow() {
        let yaml = format!("{GOOD}rules: [{{id: a, effect: allow, tool: '*'}}]\n");
        assert!(matches!(refused(&yaml), PolicyError::Syntax { .. }));
    }
}
