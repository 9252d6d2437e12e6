//! A door of a test's own before one server, with a policy of the checkout and keys of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use countersign_testkit::checkout;
use countersign_testkit::stack::{Keys, programs, tokens};
use serde_json::json;

use crate::processes::{self, Listening};

/// The name under which the record of a test's door signs its heads.
const LOG_ORIGIN: &str = "countersign.example/door";
/// The door's program.
const DOOR: &str = "countersign-door";

/// A running door. Dropping it ends it.
#[derive(Debug)]
pub struct TestDoor {
    process: Listening,
    keys: Keys,
}

impl TestDoor {
    /// Starts a door before the server at this address, which the policy knows under this name.
    ///
    /// # Errors
    /// When the door does not start; its own words are in the message.
    pub fn before(folder: &Path, policy: &Path, name: &str, url: &str) -> anyhow::Result<Self> {
        let keys = Keys::load_or_make(&folder.join("keys"))?;
        let policy_yaml = fs::read_to_string(policy).context("read the policy")?;
        let port = free_port()?;
        let address = format!("127.0.0.1:{port}");
        let config = json!({
            "listen": {"bind": [address]},
            "hosts": [address],
            "origins": [format!("http://{address}")],
            "policy_yaml": policy_yaml,
            "upstream": {"name": name, "url": url},
            "session_keys": [keys.session.verifying_key_file()?],
            "request_key": keys.request,
            "receipt_key": keys.receipt,
            "log_directory": folder.join("record"),
            "log_origin": LOG_ORIGIN,
        });
        let mut door = Command::new(program()?);
        door.arg("--config-stdin");
        let process = Listening::start(&mut door, Some(&config.to_string()))?;
        Ok(Self { process, keys })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &str {
        self.process.address()
    }

    /// A session token that it accepts.
    ///
    /// # Errors
    /// When none can be made.
    pub fn session(&self) -> anyhow::Result<String> {
        tokens::session_token_of_nobody(&self.keys)
    }
}

/// A copy of one of the checkout's policies under `folder`, with its pins written from these definitions by the
/// door's own command.
///
/// # Errors
/// When the command refuses; its own words are in the message.
pub fn pinned_policy(folder: &Path, name: &str, definitions: &[u8]) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let file = format!("{name}.yaml");
    let copy = folder.join(&file);
    fs::copy(checkout::root().join("fixtures/policy").join(&file), &copy)
        .with_context(|| format!("copy the policy {name}"))?;
    let mut pin = Command::new(program()?);
    pin.arg("pin").arg("--policy").arg(&copy);
    pin.args(["--definitions", "-", "--write"]);
    let said = processes::fed(&mut pin, definitions)?;
    println!("{}", said.lines().last().unwrap_or_default());
    Ok(copy)
}

/// The door's program, built by the run.
///
/// # Errors
/// When its folder is not known.
pub fn program() -> anyhow::Result<PathBuf> {
    Ok(programs::folder()?.join(DOOR))
}

/// A port that is free now. The door must know its own name before it listens.
fn free_port() -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.port())
}
