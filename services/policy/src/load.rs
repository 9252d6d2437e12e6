//! From the file to a policy that decides; everything that could fail later fails here.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest as _, Sha256};

use crate::arguments::Arguments;
use crate::file::{Acknowledgement, PolicyFile, RuleEffect, RuleFile};
use crate::name::{Glob, check_name};
use crate::pin::Pin;
use crate::read::{PolicyError, meaning, read};
use crate::shape;
use crate::words::WriteWords;

/// Most calls in a minute that a limit may allow; each is remembered for a minute.
const RATE_MAX: u32 = 100_000;
/// Most messages of one identity in a minute where the file says nothing.
const MESSAGE_RATE_DEFAULT: u32 = 1_200;

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
    pub(crate) message_rate_per_minute: u32,
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

fn compile(file: PolicyFile, hash: [u8; 32]) -> Result<Policy, PolicyError> {
    if file.version != 1 {
        return Err(meaning("version", "this door reads version 1"));
    }
    check_plain("id", &file.id)?;
    check_rate("rate_per_minute", file.rate_per_minute)?;
    check_rate("message_rate_per_minute", file.message_rate_per_minute)?;
    for word in &file.never_allow {
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(meaning(
                "never_allow",
                format!("`{word}` is no word of letters"),
            ));
        }
    }
    for name in file.servers.keys() {
        let path = format!("servers.{name}");
        check_plain(&path, name)?;
        let same = |other: &&String| *other != name && other.eq_ignore_ascii_case(name);
        if let Some(other) = file.servers.keys().find(same) {
            let message = format!("differs from `servers.{other}` only in case");
            return Err(meaning(path, message));
        }
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
            arguments: shape::compile(&path, tool.args)?,
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
            arguments: shape::compile(&path, method.args)?,
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
        message_rate_per_minute: file.message_rate_per_minute.unwrap_or(MESSAGE_RATE_DEFAULT),
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
            (GOOD.replace("  s: {}", "  s: {}\n  S: {}"), "servers.S"),
        ] {
            match refused(&yaml) {
                PolicyError::Meaning { path: found, .. } => assert_eq!(found, path, "{yaml}"),
                error @ PolicyError::Syntax { .. } => panic!("{yaml}\n{error}"),
            }
        }
    }
}
