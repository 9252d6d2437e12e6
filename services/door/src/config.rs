//! The configuration, secrets included, as one JSON object.

use std::path::PathBuf;

use countersign_journal::Mode;
use countersign_keys::{SigningKeySource, VerifyingKeySource};
use countersign_receipts::LogKeyFile;
use countersign_serve::{Listen, eager};
use serde::Deserialize;

use crate::approval::ApprovalArgs;
use crate::telemetry::TelemetryArgs;

/// What a door is started with. It arrives on standard input or in a file only its user may read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub listen: Listen,
    /// The exact values of `Host` it answers to.
    pub hosts: Vec<String>,
    /// The exact values of `Origin` it answers to, when there is one.
    pub origins: Vec<String>,
    /// The policy file's text.
    pub policy_yaml: String,
    /// The server behind the door.
    pub upstream: UpstreamConfig,
    /// The public keys of the chat origin: themselves, or a file of keys that change.
    pub session_keys: VerifyingKeySource,
    /// Signs the tokens of forwarded calls: the key itself, or the folder of keys that change.
    pub request_key: SigningKeySource,
    /// Signs the heads of the record.
    pub receipt_key: LogKeyFile,
    /// Where the record lies.
    pub log_directory: PathBuf,
    /// The record's name in its heads.
    pub log_origin: String,
    /// How held calls reach a person. Without it every call that needs one is refused.
    #[serde(default)]
    pub approvals: Option<ApprovalArgs>,
    /// How the door tells how it does; not at all when not given.
    #[serde(default)]
    pub telemetry: TelemetryArgs,
    /// Listeners for its numbers that a supervisor opened: a door in a cage binds none itself.
    #[serde(default)]
    pub metrics_listen: Option<Listen>,
    /// How sure a line must be before what it is about goes on; on the disk when not given, since
    /// behind a door that is configured this way money is asked for.
    #[serde(default = "durable")]
    pub record: Mode,
    /// For how many microseconds to look for the next message before sleeping, while messages follow each other that
    /// fast; 0 for never.
    #[serde(default = "look_microseconds")]
    pub look_microseconds: u32,
}

const fn look_microseconds() -> u32 {
    eager::LOOK_MICROSECONDS
}

const fn durable() -> Mode {
    Mode::Durable
}

/// The server behind the door.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamConfig {
    /// The name the policy knows it under.
    pub name: String,
    /// Where it listens, path included.
    pub url: String,
}
