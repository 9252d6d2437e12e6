//! What the process is told at its start, over standard input.

use countersign_domain::Secret;
use countersign_keys::VerifyingKeySource;
use countersign_serve::{Listen, NumbersAt};
use serde::Deserialize;

/// The configuration. It holds public keys and one database login, no signing key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub listen: Listen,
    /// The exact `Host` values that are answered.
    pub hosts: Vec<String>,
    /// The exact `Origin` values that are answered; a client that is no browser sends none.
    #[serde(default)]
    pub origins: Vec<String>,
    /// The database, as the role `bank_mcp`. It carries a password, so it prints as a secret.
    pub database_url: Secret,
    /// The door's public keys: themselves, or a file of keys that change.
    pub request_keys: VerifyingKeySource,
    /// Where this process tells its numbers, on loopback; nowhere without it.
    #[serde(default)]
    pub metrics: NumbersAt,
}
