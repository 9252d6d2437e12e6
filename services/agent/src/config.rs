//! What the agent is started with. It holds no key of the bank and no database; a remote model's key
//! comes the same way as every secret, in the configuration that is piped to the process.

use countersign_models::ModelConfig;
use countersign_serve::Listen;
use serde::Deserialize;

use crate::guard::GuardConfig;

/// The agent's configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where it listens.
    pub listen: Listen,
    /// The exact values of `Host` it answers to; its listeners' own addresses when there are none.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The door's MCP endpoint.
    pub door_url: String,
    /// The model it asks, with its key.
    pub model: ModelConfig,
    /// What messages and replies pass through; the usual rules where there is no such member.
    #[serde(default)]
    pub guardrails: Option<Vec<GuardConfig>>,
    /// Most tokens of one turn.
    #[serde(default = "tokens_per_turn_max")]
    pub tokens_per_turn_max: u64,
}

const fn tokens_per_turn_max() -> u64 {
    crate::limits::TOKENS_MAX
}
