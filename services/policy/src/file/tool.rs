//! `tools` and `methods`: what may be called.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ArgumentFile, CapFile};

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
    /// How much its amounts may come to.
    #[serde(default)]
    pub cap: Option<CapFile>,
    /// Whether a call may ask to go on as a task after its answer (revision 2025-11-25). What
    /// follows are methods of their own: `tasks/get`, `tasks/result` and the like.
    #[serde(default)]
    pub task: bool,
}

/// Why a payment or write tool may pass all the same.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash)]
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
