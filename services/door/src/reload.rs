//! A policy file that is changed while the door runs.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::ensure;

use crate::commands::place::read_policy;
use crate::door::{Door, Rules};

/// Looks after a policy file.
pub struct Watch {
    path: PathBuf,
    seen: Option<(SystemTime, u64)>,
}

impl Watch {
    /// Looks after this file, which was just read.
    pub fn new(path: PathBuf) -> Self {
        let seen = Self::state(&path);
        Self { path, seen }
    }

    fn state(path: &PathBuf) -> Option<(SystemTime, u64)> {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }

    /// Reads the file again if it changed. Whatever is wrong with it, the old rules stay.
    pub fn look(&mut self, door: &Door) {
        let state = Self::state(&self.path);
        if state == self.seen {
            return;
        }
        self.seen = state;
        if state.is_none() {
            tracing::error!(path = %self.path.display(), "The policy file is gone; the old policy stays");
            return;
        }
        match self.reload(door) {
            Ok(()) => tracing::info!("Another policy is in force"),
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    "The policy file is no good; the old policy stays"
                );
            }
        }
    }

    fn reload(&self, door: &Door) -> anyhow::Result<()> {
        let policy = read_policy(&self.path)?;
        let old = door.rules();
        if policy.hash() == old.policy.hash() {
            return Ok(());
        }
        for server in &door.servers {
            let known = policy.server(&server.name).is_some();
            ensure!(
                known,
                "it no longer names the server {}: start the door anew",
                server.name
            );
        }
        if policy.mode() != old.policy.mode() {
            tracing::warn!(mode = ?policy.mode(), "The policy binds otherwise than before");
        }
        Ok(door.set_rules(Rules::new(policy)?)?)
    }
}
