//! The policy file as it is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Most arguments one tool may declare, and most one call may carry.
pub const ARGUMENTS_MAX: usize = 32;

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
    /// What happens to a tool the policy does not name.
    #[serde(default)]
    pub on_new_tool: OnChange,
    /// What happens to a tool whose definition is not the pinned one.
    #[serde(default)]
    pub on_changed_tool: OnChange,
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
    /// The tools that may be called, by their exact names.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolFile>,
    /// The other methods that may be called, by their exact names.
    #[serde(default)]
    pub methods: BTreeMap<String, MethodFile>,
    /// What is taken away again: denials and holds, by name or pattern.
    #[serde(default)]
    pub rules: Vec<RuleFile>,
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
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A denial refuses the call.
    #[default]
    Enforce,
}

/// What happens to a new or changed tool.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum OnChange {
    /// It is neither listed nor callable.
    #[default]
    Block,
}

/// A server behind the door.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerFile {
    /// What people call it.
    #[serde(default)]
    pub label: Option<String>,
}

/// A tool that may be called.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolFile {
    /// Hash of the whole definition: SHA-256 of its canonical JSON, in hexadecimal.
    #[serde(default)]
    pub schema_sha256: Option<String>,
    /// Lets a tool whose name holds a payment or write word pass.
    #[serde(default)]
    pub acknowledged: Option<Acknowledgement>,
    /// Most calls of this tool by one identity in a minute.
    #[serde(default)]
    pub rate_per_minute: Option<u32>,
    /// The arguments it may be called with. What is not here is refused.
    #[serde(default)]
    pub args: BTreeMap<String, ArgumentFile>,
}

/// Why a payment or write tool may pass all the same.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
pub enum Acknowledgement {
    /// It asks for something that a person has to confirm elsewhere.
    #[serde(rename = "creates-a-request-only")]
    CreatesARequestOnly,
}

impl Acknowledgement {
    /// The words as the file and every record have them.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::CreatesARequestOnly => "creates-a-request-only",
        }
    }
}

/// A method besides `tools/call` that may be called.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodFile {
    /// Most calls of this method by one identity in a minute.
    #[serde(default)]
    pub rate_per_minute: Option<u32>,
    /// The members its parameters may have, `_meta` aside.
    #[serde(default)]
    pub args: BTreeMap<String, ArgumentFile>,
}

/// Takes something away that a line above allows.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Name of the rule, unique in the file; refusals and records repeat it.
    pub id: String,
    /// The tools it is about; `*` stands for any characters.
    #[serde(default)]
    pub tool: Option<String>,
    /// The methods it is about; `*` stands for any characters.
    #[serde(default)]
    pub method: Option<String>,
    /// What it does.
    pub effect: RuleEffect,
}

/// What a rule does. There is no rule that allows: tools and methods are allowed by exact name.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Refuses.
    Deny,
    /// Holds until a person decided.
    RequireApproval,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentType {
    /// A string.
    String,
    /// A number without fraction or exponent, at most 2^53 − 1 away from zero.
    Integer,
    /// Any finite number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array; `items` says of what.
    Array,
    /// An object; `properties` says with which members.
    Object,
}

/// What an argument may be.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentFile {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArgumentType,
    /// Whether a call without it is refused.
    #[serde(default)]
    pub required: bool,
    /// Least value of a number.
    #[serde(default)]
    pub min: Option<i64>,
    /// Greatest value of a number.
    #[serde(default)]
    pub max: Option<i64>,
    /// Least length of a string, in characters.
    #[serde(default)]
    pub min_length: Option<u32>,
    /// Greatest length of a string, in characters; 1024 when not given.
    #[serde(default)]
    pub max_length: Option<u32>,
    /// What the whole string must look like; matched in linear time.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The strings it may be.
    #[serde(default, rename = "enum")]
    pub one_of: Option<Vec<String>>,
    /// What every element of an array is.
    #[serde(default)]
    pub items: Option<Box<ArgumentFile>>,
    /// Least number of elements.
    #[serde(default)]
    pub min_items: Option<u32>,
    /// Greatest number of elements; 32 when not given.
    #[serde(default)]
    pub max_items: Option<u32>,
    /// The members of an object. What is not here is refused.
    #[serde(default)]
    pub properties: Option<BTreeMap<String, ArgumentFile>>,
}

/// JSON Schema of the file, for editors.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(PolicyFile)
}
