//! From the file to a policy that decides; everything that could fail later fails here.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use crate::arguments::Arguments;
use crate::cap::Cap;
use crate::compile;
use crate::file::{Acknowledgement, Mode, OnChangedTool};
use crate::pin::Pin;
use crate::places::Places;
use crate::read::{PolicyError, meaning, read};
use crate::rule::{Effect, Rule};
use crate::screen::Screening;
use crate::server::{Approval, Server};
use crate::template::Environment;
use crate::words::WriteWords;

/// A tool that the policy allows.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    /// The line of the policy that allows it.
    pub rule: Box<str>,
    /// Its name in the file, which clients see.
    pub key: Box<str>,
    pub pin: Option<Pin>,
    pub acknowledged: Option<Acknowledgement>,
    /// Whether its name holds a payment or write word.
    pub holds_write_word: bool,
    pub rate_per_minute: Option<u32>,
    pub arguments: Arguments,
    pub cap: Option<Cap>,
    /// Whether a call may go on as a task.
    pub task: bool,
    /// The rules about it, by their places in the policy's list.
    pub rules: Box<[usize]>,
}

/// Another method that the policy allows.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub rule: Box<str>,
    pub rate_per_minute: Option<u32>,
    pub arguments: Arguments,
    pub rules: Box<[usize]>,
}

/// A policy that decides. Compiled once, never changed: a reload puts another in its place.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) id: Box<str>,
    pub(crate) hash: [u8; 32],
    pub(crate) mode: Mode,
    pub(crate) require_pins: bool,
    pub(crate) on_changed_tool: OnChangedTool,
    pub(crate) allow_dots: bool,
    pub(crate) rate_per_minute: Option<u32>,
    pub(crate) message_rate_is_given: bool,
    pub(crate) message_rate_per_minute: u32,
    pub(crate) words: WriteWords,
    pub(crate) servers: HashMap<Box<str>, Server>,
    /// By server, then by the tool's own name there.
    pub(crate) tools: HashMap<Box<str>, HashMap<Box<str>, Tool>>,
    pub(crate) methods: HashMap<Box<str>, Method>,
    /// In the order of their ids, so that the order of the file means nothing.
    pub(crate) rules: Vec<Rule>,
    pub(crate) approval: Approval,
    pub(crate) screening: Screening,
}

impl Policy {
    /// Reads a policy without filling in variables: for judging, not for connecting.
    ///
    /// # Errors
    /// [`PolicyError`] with the place of the first thing that is wrong.
    pub fn load(yaml: &str) -> Result<Self, PolicyError> {
        Self::compile(yaml, None)
    }

    /// Reads a policy and fills in the variables of its servers and its webhook.
    ///
    /// # Errors
    /// [`PolicyError`], also when the environment lacks a variable; its value is never shown.
    pub fn load_with(yaml: &str, environment: Environment<'_>) -> Result<Self, PolicyError> {
        Self::compile(yaml, Some(environment))
    }

    fn compile(yaml: &str, environment: Option<Environment<'_>>) -> Result<Self, PolicyError> {
        let file = read(yaml)?;
        let places = Places::read(yaml);
        if let Some((line, column)) = places.directed() {
            return Err(PolicyError::Syntax {
                line,
                column,
                message: "tags and directives are not read: take it away".to_owned(),
                suggestion: None,
            });
        }
        if let Some((path, wanted)) = places.mistyped() {
            return Err(meaning(path, wanted).at(|path| places.of(path)));
        }
        if let Some((path, text)) = places.doubtful() {
            let message = format!("`{text}` means something else to other readers: write '{text}'");
            return Err(meaning(path, message).at(|path| places.of(path)));
        }
        let hash = Sha256::digest(yaml.as_bytes()).into();
        compile::policy(file, hash, environment, &places)
            .map_err(|error| error.at(|path| places.of(path)))
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

    /// Whether decisions bind.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the file limits messages of any kind itself. A client that started the door on its own pipes
    /// is limited only then.
    #[must_use]
    pub const fn message_rate_is_given(&self) -> bool {
        self.message_rate_is_given
    }

    /// Whether a tool without a pin is refused.
    #[must_use]
    pub const fn require_pins(&self) -> bool {
        self.require_pins
    }

    /// Whether any call could be held.
    #[must_use]
    pub fn can_hold(&self) -> bool {
        self.on_changed_tool == OnChangedTool::RequireApproval
            || self
                .rules
                .iter()
                .any(|rule| matches!(rule.effect, Effect::Hold(_)))
    }

    /// The names of the tools it allows as clients see them, in no order.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Option<Pin>)> {
        let tools = self.tools.values().flat_map(HashMap::values);
        tools.map(|tool| (&*tool.key, tool.pin))
    }

    /// The tools of one server by their own names there, in no order.
    pub fn tools_of(&self, server: &str) -> impl Iterator<Item = (&str, Option<Pin>)> {
        let tools = self.tools.get(server).into_iter().flatten();
        tools.map(|(name, tool)| (&**name, tool.pin))
    }

    /// The pin of a tool the policy allows, by its name as clients see it.
    #[must_use]
    pub fn pin(&self, name: &str) -> Option<Pin> {
        self.tool(name)?.pin
    }

    /// The pin of a server's tool, by its own name there.
    #[must_use]
    pub fn pin_of(&self, server: &str, name: &str) -> Option<Pin> {
        self.tools.get(server)?.get(name)?.pin
    }

    /// The servers it names, in no order.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &Server)> {
        self.servers.iter().map(|(name, server)| (&**name, server))
    }

    /// A server, by the name the policy knows it under.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.get(name)
    }

    /// How held calls reach a person.
    #[must_use]
    pub const fn approval(&self) -> &Approval {
        &self.approval
    }

    /// What is looked for in results, arguments and definitions.
    #[must_use]
    pub const fn screening(&self) -> &Screening {
        &self.screening
    }

    /// A tool, by its name in the file.
    pub(crate) fn tool(&self, key: &str) -> Option<&Tool> {
        let mut tools = self.tools.values().flat_map(HashMap::values);
        tools.find(|tool| &*tool.key == key)
    }
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
                "tools.read_it.rate_per_minute",
            ),
            (
                arg("{type: string, pattern: '('}"),
                "tools.read_it.args.a.pattern",
            ),
            (
                arg(r"{type: string, pattern: '\d+'}"),
                "tools.read_it.args.a.pattern",
            ),
            (
                arg("{type: string, pattern: '(?i)a'}"),
                "tools.read_it.args.a.pattern",
            ),
            (
                arg("{type: string, pattern: 'a{1000}{1000}'}"),
                "tools.read_it.args.a.pattern",
            ),
            (arg("{type: string, min: 1}"), "tools.read_it.args.a.min"),
            (
                arg("{type: integer, min: 2, max: 1}"),
                "tools.read_it.args.a",
            ),
            (
                arg("{type: integer, pattern: a}"),
                "tools.read_it.args.a.pattern",
            ),
            (arg("{type: string, enum: []}"), "tools.read_it.args.a"),
            (arg("{type: array}"), "tools.read_it.args.a"),
            (arg("{type: object}"), "tools.read_it.args.a"),
            (
                arg("{type: boolean, properties: {}}"),
                "tools.read_it.args.a.properties",
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
                format!("{GOOD}rules: [{{id: a, effect: deny, tool: x, method: z}}]\n"),
                "rules.a",
            ),
            (
                format!(
                    "{GOOD}rules: [{{id: a, effect: deny, tool: x}}, {{id: a, effect: deny, tool: z}}]\n"
                ),
                "rules.1.id",
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
