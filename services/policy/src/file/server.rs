//! `servers`: where the door finds them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// A server behind the door: a command or an address, or neither where the door is told otherwise.
///
/// `${NAME}` in these texts stands for a variable of the door's environment; `$${` is a plain `${`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerFile {
    /// What people call it.
    #[serde(default)]
    pub label: Option<String>,
    /// The program and its arguments, one by one. No shell reads them.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// Where it listens: `http://` or `https://`, path included.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers the door adds to every request to `url`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Variables of the program's environment. It gets these and a few plain ones, and nothing
    /// else of the door's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether the server takes no call without the door's own token for it.
    #[serde(default)]
    pub request_tokens: bool,
}
