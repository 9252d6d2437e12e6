//! What is looked for in results, arguments and definitions: a plain list for whoever looks.

use crate::file::{BuiltInRule, InjectionMode};

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screening {
    /// What to take out; none where the policy asks for nothing.
    pub redaction: Option<Redaction>,
    /// What happens to text that talks to the model like an order.
    pub injection: Injection,
}

/// What to take out of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Out of results.
    pub results: bool,
    /// Out of arguments on their way to a server.
    pub arguments: bool,
    /// The built-in rules that apply, each once.
    pub built_in: Vec<BuiltInRule>,
    /// The policy's own rules.
    pub custom: Vec<CustomRule>,
    /// Where a rule does not apply.
    pub suppressions: Vec<Suppression>,
}

/// A redaction rule of the policy's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomRule {
    /// Its name.
    pub id: Box<str>,
    /// What it looks for: a pattern of the `regex` crate that was compiled once and finds no empty
    /// text.
    pub pattern: Box<str>,
}

/// Where a redaction rule does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The server whose texts it is about.
    pub server: Box<str>,
    /// The rule's name, built-in or custom.
    pub rule: Box<str>,
    /// Why.
    pub reason: Box<str>,
    /// From then on the rule applies again (seconds since 1970-01-01, UTC).
    pub expires_unix_seconds: i64,
}

/// What happens to text that talks to the model like an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// In results.
    pub results: InjectionMode,
    /// In definitions of tools.
    pub definitions: InjectionMode,
}

impl Default for Injection {
    /// Nothing looks where the policy does not ask for it.
    fn default() -> Self {
        Self {
            results: InjectionMode::Off,
            definitions: InjectionMode::Off,
        }
    }
}

impl Redaction {
    /// Whether a rule applies to texts of a server now.
    #[must_use]
    pub fn applies(&self, rule: &str, server: &str, unix_seconds: i64) -> bool {
        !self.suppressions.iter().any(|suppression| {
            &*suppression.rule == rule
                && &*suppression.server == server
                && unix_seconds < suppression.expires_unix_seconds
        })
    }
}
