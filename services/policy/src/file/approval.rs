//! `approval`: how held calls reach a person.

use schemars::JsonSchema;
use serde::Deserialize;

/// How held calls reach a person.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalFile {
    /// How long a call is held at most, in seconds; 900 when not given. After that it is denied.
    #[serde(default)]
    pub ttl_seconds: Option<u32>,
    /// Whom to tell about held calls.
    #[serde(default)]
    pub webhook: Option<WebhookFile>,
}

/// A receiver of held calls that answers for a person.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookFile {
    /// Where it listens. `${NAME}` stands for a variable of the door's environment.
    pub url: String,
    /// Signs what is sent and what comes back (HMAC-SHA256). Only as `${NAME}`: a secret does not
    /// stand in a policy.
    pub secret: String,
}
