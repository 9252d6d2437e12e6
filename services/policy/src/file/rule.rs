//! `rules`: what is denied, held, or allowed to some alone.

use schemars::JsonSchema;
use serde::Deserialize;

use super::CapFile;

/// A rule about a tool or about a method.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Name of the rule, unique in the file; refusals and records repeat it.
    pub id: String,
    /// The tools it is about; `*` stands for any characters, and not in a rule that allows.
    #[serde(default)]
    pub tool: Option<String>,
    /// The methods it is about; `*` stands for any characters, and not in a rule that allows.
    #[serde(default)]
    pub method: Option<String>,
    /// The servers it is about, all when not given; `*` stands for any characters, and not in a
    /// rule that allows.
    #[serde(default)]
    pub server: Option<String>,
    /// Whom it is about, all when not given: identities from the verified token, or `group:NAME`
    /// for a group the token names. `*` stands for any characters, and not in a rule that allows.
    #[serde(default)]
    pub identities: Option<Vec<String>>,
    /// What it does.
    pub effect: RuleEffect,
    /// Most calls of one identity under this rule in a minute.
    #[serde(default)]
    pub rate_per_minute: Option<u32>,
    /// How much the amounts of calls under this rule may come to; for one exact tool.
    #[serde(default)]
    pub cap: Option<CapFile>,
    /// Whether what the call does can be taken back. Only such calls may be released by a
    /// countdown.
    #[serde(default)]
    pub reversible: bool,
    /// Releases a held call after so many seconds, unless a person holds or denies it.
    #[serde(default)]
    pub countdown_seconds: Option<u32>,
    /// How long a call is held at most, in seconds; what `approval` says when not given.
    #[serde(default)]
    pub ttl_seconds: Option<u32>,
    /// How the question may reach a person; the door's own page when not given.
    #[serde(default)]
    pub ways: Option<Vec<Way>>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Allows a tool or method that has an entry of its own. Where such a rule names a tool, only
    /// calls that one of them allows pass.
    Allow,
    /// Refuses.
    Deny,
    /// Holds until a person decided.
    RequireApproval,
}

/// How the question about a held call reaches a person.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The door's own page.
    Page,
    /// A question through the client. It never counts as a person, since the client carries it.
    Elicitation,
    /// A signed call of `approval.webhook`.
    Webhook,
}
