//! What the agent is started with. It holds no key of the bank and no database.

use countersign_models::ModelConfig;
use countersign_serve::Listen;
use serde::Deserialize;

/// The agent's configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where it listens.
    pub listen: Listen,
    /// The door's MCP endpoint.
    pub door_url: String,
    /// The model it asks.
    pub model: ModelConfig,
}
