//! One look at an input.

use std::ops::Range;
use std::sync::Arc;

use anyhow::ensure;
use countersign_policy::Policy;
use countersign_screening::redact::BuiltIn;
use countersign_screening::{Finding, Injection, Redactor, Rules, screen};
use countersign_wire::{Caps, Document};

use crate::screen::Screens;

/// How an input was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON document.
    Json,
    /// Anything else.
    Text,
}

impl Format {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
        }
    }
}

/// What was found in an input.
#[derive(Debug)]
pub struct Looked {
    /// How it was read.
    pub format: Format,
    /// Rules and spans of what would be taken out.
    pub redactions: Vec<(Arc<str>, Range<usize>)>,
    /// What reads like an order to a model.
    pub findings: Vec<Finding>,
    /// The input with the secrets taken out.
    pub redacted: String,
}

impl Looked {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.redactions.is_empty() && self.findings.is_empty()
    }
}

/// Both kinds of screening.
pub struct Screener {
    redactor: Option<Redactor>,
    injection: Injection,
}

impl Screener {
    /// The rules that come with the program: the usual ones, or the opt-in ones too.
    pub fn built_in(all: bool) -> Self {
        let usual = BuiltIn::ALL.iter().filter(|rule| all || !rule.is_opt_in());
        let rules = usual.fold(Rules::none(), |rules, rule| rules.with(*rule));
        Self {
            redactor: Some(Redactor::new(&rules)),
            injection: Injection::new(),
        }
    }

    /// The rules of a policy, as they apply to one of its servers now.
    ///
    /// # Errors
    /// When the policy names no such server, or a rule cannot be compiled.
    pub fn of_policy(policy: &Policy, server: Option<&str>) -> anyhow::Result<Self> {
        if let Some(server) = server {
            let known = policy.server(server).is_some();
            ensure!(known, "the policy names no server {server}");
        }
        let screens = Screens::new(policy.screening())?;
        let redactor = screens.redactor_for(server.unwrap_or_default());
        Ok(Self {
            redactor,
            injection: Injection::new(),
        })
    }

    /// Looks at an input: as JSON where it is, or as text.
    ///
    /// # Errors
    /// When it is too large to be read.
    pub fn look(&self, input: &str, as_text: bool) -> anyhow::Result<Looked> {
        let caps = Caps::ANSWER.with_bytes(u32::MAX);
        let document = Document::read(input.trim_end().as_bytes(), &caps)
            .ok()
            .filter(|_| !as_text);
        let Some(document) = document else {
            ensure!(u32::try_from(input.len()).is_ok(), "the input is too large");
            let redacted = self
                .redactor
                .as_ref()
                .map(|redactor| redactor.redact_text(input));
            let (text, edits) = redacted.map_or((input.into(), Vec::new()), |r| (r.text, r.edits));
            return Ok(Looked {
                format: Format::Text,
                redactions: edits
                    .into_iter()
                    .map(|edit| (edit.rule, edit.span))
                    .collect(),
                findings: self.injection.screen(input),
                redacted: text.into_owned(),
            });
        };
        let scope = 0..document.text().len();
        let found = screen(
            &document,
            &scope,
            self.redactor.as_ref(),
            Some(&self.injection),
        );
        let mut redacted = input.to_owned();
        for replacement in found.replacements.iter().rev() {
            redacted.replace_range(replacement.span.clone(), &replacement.with);
        }
        let redactions = found.replacements.iter().flat_map(|replacement| {
            let span = &replacement.span;
            replacement
                .rules
                .iter()
                .map(move |rule| (Arc::clone(rule), span.clone()))
        });
        Ok(Looked {
            format: Format::Json,
            redactions: redactions.collect(),
            findings: found.findings,
            redacted,
        })
    }
}
