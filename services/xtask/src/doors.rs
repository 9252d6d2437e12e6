//! A door of a test's own, with a policy of the checkout, a demo key and a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use countersign_testkit::checkout;
use countersign_testkit::stack::programs;

use crate::processes::{self, Listening};

/// The name under which the record of a test's door signs its heads.
const LOG_ORIGIN: &str = "countersign.example/door";
/// The door's program.
const DOOR: &str = "countersign-door";

/// Where a test's door keeps what it needs. Every door that is started from it has a record of its own.
#[derive(Debug)]
pub struct DoorPlace {
    folder: PathBuf,
}

impl DoorPlace {
    /// A fresh folder under `target` with a demo key in it.
    ///
    /// # Errors
    /// When the key cannot be made.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        let folder = checkout::root().join("target/doors").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let mut keys = Command::new(program()?);
        keys.args(["keys", "init", "--demo", "--origin", LOG_ORIGIN, "--keys"]);
        processes::fed(keys.arg(folder.join("keys")), b"")?;
        Ok(Self { folder })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A copy of one of the checkout's policies, with its pins written from these definitions by the door's own
    /// command.
    ///
    /// # Errors
    /// When the command refuses; its own words are in the message.
    pub fn pinned_policy(&self, name: &str, definitions: &[u8]) -> anyhow::Result<PathBuf> {
        let copy = self.policy(name)?;
        let mut pin = Command::new(program()?);
        pin.arg("pin").arg("--policy").arg(&copy);
        processes::fed(pin.args(["--definitions", "-", "--write"]), definitions)?;
        Ok(copy)
    }

    /// A copy of one of the checkout's policies.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn policy(&self, name: &str) -> anyhow::Result<PathBuf> {
        let file = format!("{name}.yaml");
        let copy = self.folder.join(&file);
        fs::copy(checkout::root().join("fixtures/policy").join(&file), &copy)
            .with_context(|| format!("copy the policy {name}"))?;
        Ok(copy)
    }

    /// `countersign-door run` with this policy, to which the server's command is still to be added.
    ///
    /// # Errors
    /// When the door's program is not known.
    pub fn run(&self, policy: &Path, record: &str) -> anyhow::Result<Command> {
        let mut door = self.started("run", policy, record)?;
        door.arg("--");
        Ok(door)
    }

    /// Starts `countersign-door serve` with this policy before the server that a line of the policy reaches: its `url`
    /// or its `command`.
    ///
    /// # Errors
    /// When it does not start; its own words are in the message.
    pub fn serve(&self, policy: &Path, record: &str, reached: &str) -> anyhow::Result<Listening> {
        let yaml = fs::read_to_string(policy)?;
        let (before, after) = yaml
            .split_once("    label:")
            .context("the policy has a server with a label")?;
        let addressed = self.folder.join(format!("{record}.yaml"));
        fs::write(
            &addressed,
            format!("{before}    {reached}\n    label:{after}"),
        )?;
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut door = self.started("serve", &addressed, record)?;
        door.args(["--listen", &address]);
        door.args(["--origin", &format!("http://{address}")]);
        Listening::start(&mut door, None)
    }

    fn started(&self, how: &str, policy: &Path, record: &str) -> anyhow::Result<Command> {
        let mut door = Command::new(program()?);
        door.args([how, "--demo", "--policy"]).arg(policy);
        door.arg("--keys").arg(self.folder.join("keys"));
        door.arg("--log").arg(self.folder.join(record));
        Ok(door)
    }
}

/// The door's program, built by the run.
///
/// # Errors
/// When its folder is not known.
pub fn program() -> anyhow::Result<PathBuf> {
    Ok(programs::folder()?.join(DOOR))
}

/// A port that is free now. The door must be told which origin is its own.
fn free_port() -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.port())
}
