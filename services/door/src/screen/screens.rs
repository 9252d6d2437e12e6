//! A policy's screening, compiled, and what it makes of the messages of a server.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::Context as _;
use countersign_policy::{InjectionMode, Screening, Suppression};
use countersign_receipts::Hash;
use countersign_screening::redact::BuiltIn;
use countersign_screening::{Injection, Redactor, Rules, screen};
use countersign_wire::{Frame, Span, Value};

use super::halves;
use super::label::{self, Counts};
use super::line::Line;
use crate::clock;
use crate::door::Door;
use crate::judge::edits::Edits;
use crate::judge::refusal::{Code, Refusal};
use crate::log::WriteError;

/// What a policy has looked for. Nothing where it asks for nothing.
#[derive(Debug, Default)]
pub struct Screens {
    redactor: Option<Redactor>,
    results: bool,
    arguments: bool,
    suppressions: Vec<Suppression>,
    injection: Option<Injection>,
    in_results: Mode,
    in_definitions: Mode,
}

/// What happens to a text that gives orders to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Off,
    Flag,
    Block,
}

impl From<InjectionMode> for Mode {
    fn from(mode: InjectionMode) -> Self {
        match mode {
            InjectionMode::Off => Self::Off,
            InjectionMode::Flag => Self::Flag,
            InjectionMode::Block => Self::Block,
        }
    }
}

/// An answer of a server that is about to be shown.
pub struct Answer<'a, 'b> {
    /// Who sent it.
    pub server: &'a str,
    /// The leaf of the decision that let its question pass.
    pub leaf: Hash,
    /// Whether it lists definitions of tools.
    pub is_list: bool,
    /// The answer, read.
    pub frame: &'a Frame<'a>,
    /// What goes from it anyway.
    pub cut: Edits,
    /// Its bytes.
    pub bytes: &'b [u8],
}

impl Screens {
    /// Compiles what a policy asks for.
    ///
    /// # Errors
    /// A rule that this door does not know or cannot compile: it would be missing without a word.
    pub fn new(screening: &Screening) -> anyhow::Result<Self> {
        let mut screens = Self {
            in_results: screening.injection.results.into(),
            in_definitions: screening.injection.definitions.into(),
            ..Self::default()
        };
        if screens.in_results != Mode::Off || screens.in_definitions != Mode::Off {
            screens.injection = Some(Injection::new());
        }
        let Some(redaction) = &screening.redaction else {
            return Ok(screens);
        };
        let mut rules = Rules::none();
        for rule in &redaction.built_in {
            let name = rule.name();
            let rule = BuiltIn::from_name(name).with_context(|| format!("no such rule: {name}"))?;
            rules = rules.with(rule);
        }
        for custom in &redaction.custom {
            rules = rules.with_custom(&custom.id, &custom.pattern)?;
        }
        screens.redactor = Some(Redactor::new(&rules));
        screens.results = redaction.results;
        screens.arguments = redaction.arguments;
        screens.suppressions.clone_from(&redaction.suppressions);
        Ok(screens)
    }

    /// The redactor for a server's texts, without the rules that are suppressed there now.
    pub fn redactor_for(&self, server: &str) -> Option<Redactor> {
        let redactor = self.redactor.as_ref()?;
        let now = i64::try_from(clock::unix_seconds()).unwrap_or(i64::MAX);
        let suppressed = self
            .suppressions
            .iter()
            .filter(|one| *one.server == *server && now < one.expires_unix_seconds)
            .map(|one| &*one.rule);
        Some(redactor.without(redactor.set(suppressed)))
    }

    /// What to change in the arguments of a call on their way to a server. It is written down first.
    ///
    /// # Errors
    /// The refusal when it cannot be recorded; the call does not go on then.
    pub fn arguments(
        &self,
        door: &Door,
        server: &str,
        leaf: Hash,
        frame: &Frame<'_>,
        bytes: &[u8],
    ) -> Result<Edits, Refusal> {
        let (mut edits, mut counts) = (Edits::NONE, Counts::default());
        let redactor = self.redactor_for(server).filter(|_| self.arguments);
        let arguments = frame.params().and_then(|params| params.get("arguments"));
        let (Some(redactor), Some(arguments)) = (redactor, arguments) else {
            return Ok(edits);
        };
        let found = screen(frame.document(), &arguments.span(), Some(&redactor), None);
        for replacement in found.replacements {
            count(&mut counts, &replacement.rules);
            edits.replace(replacement.span, replacement.with);
        }
        if !counts.is_empty() {
            let salt = door.log.salt(&first_half(leaf));
            let forwarded = edits.clone().apply(bytes);
            let both = (bytes, Some(&*forwarded));
            let line = Line::new(server, Some(leaf), "arguments", &counts, &salt, both);
            append(door, server, "arguments", &counts, &line).map_err(|error| {
                tracing::error!(%error, "Could not record what was taken out of arguments");
                Refusal::new(Code::NotRecorded, "not_recorded").with_receipt(leaf)
            })?;
        }
        Ok(edits)
    }

    /// The rules that a definition breaks, where such a definition is not to be used.
    pub fn blocks_definition(&self, frame: &Frame<'_>, definition: &Span) -> Option<&'static str> {
        let injection = self
            .injection
            .as_ref()
            .filter(|_| self.in_definitions == Mode::Block)?;
        let findings = injection.screen_document(frame.document(), definition);
        findings.first().map(|finding| finding.rule)
    }

    /// Screens an answer and returns the bytes that go on. What was found is written down before
    /// anything of it is shown.
    ///
    /// # Errors
    /// The refusal to answer with, when it may not pass or cannot be recorded.
    pub fn answer<'b>(
        &self,
        door: &Door,
        answer: Answer<'_, 'b>,
    ) -> Result<Cow<'b, [u8]>, Refusal> {
        let Answer {
            server,
            leaf,
            is_list,
            frame,
            cut,
            bytes,
        } = answer;
        let root = frame.root();
        let result = root.get("result");
        let Some(body) = result.or_else(|| root.get("error")) else {
            return Ok(cut.apply(bytes));
        };
        let (what, mode) = match is_list {
            true => ("definitions", self.in_definitions),
            false => ("result", self.in_results),
        };
        let mut gone = cut.clone();
        if let Some(forged) = result.and_then(label::forged) {
            gone.replace(forged, "");
        }
        let (mut edits, mut counts) = self.look(server, frame, body, mode, &gone);
        edits.extend(cut);
        let flagged = counts.flagged.keys().next().copied();
        // A definition that is blocked was cut out of its list; the rest of the list passes.
        let blocked = flagged.filter(|_| mode == Mode::Block && !is_list);
        if mode != Mode::Off && result.is_some_and(halves::differ) {
            counts.flagged.insert(halves::RULE, 1);
        }
        if let Some(result) = result {
            edits.extend(label::edits(result, &counts));
        }
        let forwarded = edits.apply(bytes);
        if !counts.is_empty() {
            let salt = door.log.salt(&first_half(leaf));
            let shown = blocked.is_none().then_some(&*forwarded);
            let line = Line::new(server, Some(leaf), what, &counts, &salt, (bytes, shown));
            append(door, server, what, &counts, &line).map_err(|error| {
                tracing::error!(%error, "Could not record what screening found");
                Refusal::new(Code::NotRecorded, "not_recorded").with_receipt(leaf)
            })?;
        }
        if let Some(rule) = flagged {
            tracing::warn!(%server, %what, %rule, "An answer of {server} gives orders to a model");
        }
        match blocked {
            None => Ok(forwarded),
            Some(rule) => {
                let refusal = Refusal::new(Code::Blocked, "injection_in_result");
                Err(refusal.with_rule(rule).with_receipt(leaf))
            }
        }
    }

    /// Screens a notification or a question of a server; `None` when it does not pass.
    pub fn message<'b>(
        &self,
        door: &Door,
        server: &str,
        frame: &Frame<'_>,
        bytes: &'b [u8],
    ) -> Option<Cow<'b, [u8]>> {
        let Some(params) = frame.params() else {
            return Some(Cow::Borrowed(bytes));
        };
        let (edits, counts) = self.look(server, frame, params, self.in_results, &Edits::NONE);
        if counts.is_empty() {
            return Some(Cow::Borrowed(bytes));
        }
        let is_blocked = self.in_results == Mode::Block && !counts.flagged.is_empty();
        let forwarded = edits.apply(bytes);
        let salt = door.log.salt(&clock::random_id().ok()?);
        let shown = (!is_blocked).then_some(&*forwarded);
        let line = Line::new(server, None, "message", &counts, &salt, (bytes, shown));
        if let Err(error) = append(door, server, "message", &counts, &line) {
            tracing::error!(%error, "Could not record what screening found");
            return None;
        }
        (!is_blocked).then_some(forwarded)
    }

    /// What to take out of a part of a message, and what was found there. What is cut anyway does not count.
    fn look(
        &self,
        server: &str,
        frame: &Frame<'_>,
        body: Value<'_>,
        mode: Mode,
        cut: &Edits,
    ) -> (Edits, Counts) {
        let (mut edits, mut counts) = (Edits::NONE, Counts::default());
        let redactor = self.redactor_for(server).filter(|_| self.results);
        let injection = self.injection.as_ref().filter(|_| mode != Mode::Off);
        if redactor.is_none() && injection.is_none() {
            return (edits, counts);
        }
        let found = screen(frame.document(), &body.span(), redactor.as_ref(), injection);
        for replacement in found.replacements {
            if !cut.touches(&replacement.span) {
                count(&mut counts, &replacement.rules);
                edits.replace(replacement.span, replacement.with);
            }
        }
        // Of definitions that are blocked, what is cut was cut for what was found.
        for finding in found.findings {
            if mode == Mode::Block || !cut.touches(&finding.span) {
                *counts.flagged.entry(finding.rule).or_default() += 1;
            }
        }
        (edits, counts)
    }
}

/// Writes down what was found, and tells of it.
fn append(
    door: &Door,
    server: &str,
    what: &'static str,
    counts: &Counts,
    line: &Line<'_>,
) -> Result<(), WriteError> {
    let appended = door.log.append(line);
    if let Some(telemetry) = door.telemetry() {
        match &appended {
            Ok(_) => telemetry.screened(server, what, counts),
            Err(_) => telemetry.record_failed(),
        }
    }
    appended.map(drop)
}

fn count(counts: &mut Counts, rules: &[Arc<str>]) {
    for rule in rules {
        *counts.redacted.entry((**rule).into()).or_default() += 1;
    }
}

/// The part of a leaf that names its commitments' salt.
fn first_half(leaf: Hash) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&leaf.as_bytes()[..16]);
    half
}
