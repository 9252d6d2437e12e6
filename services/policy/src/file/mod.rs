//! The policy file as it is written.

mod approval;
mod argument;
mod cap;
mod rule;
mod screen;
mod server;
mod tool;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use approval::{ApprovalFile, WebhookFile};
pub use argument::{ARGUMENTS_MAX, ArgumentFile, ArgumentType};
pub use cap::CapFile;
pub use rule::{RuleEffect, RuleFile, Way};
pub use screen::{
    BuiltInRule, CustomRuleFile, InjectionFile, InjectionMode, RedactionFile, SuppressionFile,
};
pub use server::ServerFile;
pub use tool::{Acknowledgement, MethodFile, ToolFile};

/// The whole file. Unknown and repeated keys are errors with a line and a column.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// Version of the format: 1.
    pub version: u32,
    /// Name of this policy; every record repeats it.
    pub id: String,
    /// What happens to what no line allows. There is one answer.
    pub default: DefaultEffect,
    /// Whether decisions bind.
    #[serde(default)]
    pub mode: Mode,
    /// Whether a tool without a pin is refused.
    #[serde(default = "yes")]
    pub require_pins: bool,
    /// What happens to a tool the policy does not name. There is one answer.
    #[serde(default)]
    pub on_new_tool: OnNewTool,
    /// What happens to a tool whose definition is not the pinned one.
    #[serde(default)]
    pub on_changed_tool: OnChangedTool,
    /// Whether names may hold a dot besides letters, digits, dash and underscore.
    #[serde(default)]
    pub allow_dots: bool,
    /// Words that make a tool a payment or write tool, besides the published ones.
    #[serde(default)]
    pub never_allow: Vec<String>,
    /// Most decided calls of one identity in a minute.
    #[serde(default)]
    pub rate_per_minute: Option<u32>,
    /// Most messages of any kind of one identity in a minute, refused ones too; 1200 when not
    /// given. What is beyond is answered and not recorded one by one.
    #[serde(default)]
    pub message_rate_per_minute: Option<u32>,
    /// The servers behind the door, by the names the policy knows them under.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerFile>,
    /// The tools that may be called, by their exact names. With several servers a tool is named
    /// `server__tool`, as clients see it.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolFile>,
    /// The other methods that may be called, by their exact names.
    #[serde(default)]
    pub methods: BTreeMap<String, MethodFile>,
    /// What is denied, held, or allowed to some alone. Deny wins over approval, approval over
    /// allow, whatever the order.
    #[serde(default)]
    pub rules: Vec<RuleFile>,
    /// How held calls reach a person.
    #[serde(default)]
    pub approval: ApprovalFile,
    /// What is taken out of results, and of arguments where asked for.
    #[serde(default)]
    pub redaction: Option<RedactionFile>,
    /// What happens to text that talks to the model like an order.
    #[serde(default)]
    pub injection: Option<InjectionFile>,
}

const fn yes() -> bool {
    true
}

/// The only default there is.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum DefaultEffect {
    /// What is not allowed is refused.
    Deny,
}

/// Whether decisions bind.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A denial refuses the call.
    #[default]
    Enforce,
    /// A denial is recorded, and the call passes all the same. For finding out what a policy has
    /// to say; never for a server that needs request tokens.
    Observe,
}

/// What happens to a tool the policy does not name.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum OnNewTool {
    /// It is neither listed nor callable.
    #[default]
    Block,
}

/// What happens to a tool whose definition is not the pinned one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum OnChangedTool {
    /// It is neither listed nor callable.
    #[default]
    Block,
    /// Every call of it is held for a person.
    RequireApproval,
}

/// JSON Schema of the file, for editors.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(PolicyFile)
}
