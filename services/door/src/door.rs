//! The door: everything one decision needs, whichever way messages come and go.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use anyhow::Context as _;
use countersign_policy::{Pin, Policy, RateLimiter};
use countersign_receipts::{Hash, LogSigner};

use crate::judge::catalogue::Catalogue;
use crate::judge::ending::Ending;
use crate::judge::hold::Holds;
use crate::log::{DecisionLog, WriteError};
use crate::record::{DefinitionSeen, PolicyMark, Run};

/// What stands between a server's name and its tool's, where one endpoint has several servers.
pub const BETWEEN_NAMES: &str = "__";

/// One policy, compiled, and its name in the record. Swapped whole.
pub struct Rules {
    /// What may pass.
    pub policy: Policy,
    /// The policy as the record names it.
    pub mark: PolicyMark,
}

impl Rules {
    /// The rules of a policy.
    pub fn new(policy: Policy) -> Self {
        Self {
            mark: PolicyMark::of(&policy),
            policy,
        }
    }
}

/// A server behind the door, as decisions see it.
pub struct Server {
    /// The name the policy knows it under.
    pub name: Box<str>,
    /// What it offers.
    pub catalogue: Catalogue,
    /// Whether clients see its tools as `server__tool`.
    is_prefixed: bool,
}

impl Server {
    /// The name of a tool as clients and the policy know it.
    pub fn shown_name<'n>(&self, inner: &'n str) -> Cow<'n, str> {
        match self.is_prefixed {
            true => Cow::Owned(format!("{}{BETWEEN_NAMES}{inner}", self.name)),
            false => Cow::Borrowed(inner),
        }
    }

    /// The name of a tool as the server knows it. A name without the prefix stays as it is: no
    /// server offers it then.
    pub fn inner_name<'n>(&self, shown: &'n str) -> &'n str {
        if !self.is_prefixed {
            return shown;
        }
        shown
            .strip_prefix(&*self.name)
            .and_then(|rest| rest.strip_prefix(BETWEEN_NAMES))
            .unwrap_or(shown)
    }
}

/// One door before one server or several.
pub struct Door {
    rules: RwLock<Arc<Rules>>,
    /// How often.
    pub rates: RateLimiter,
    /// The servers, in the order of their names.
    pub servers: Vec<Server>,
    /// The record.
    pub log: Arc<DecisionLog>,
    holds: OnceLock<Arc<dyn Holds>>,
}

impl Door {
    /// Opens a door: opens the record and writes the run's first line.
    ///
    /// # Errors
    /// Whatever is unusable; the door does not start then.
    pub fn open(
        rules: Rules,
        servers: &[&str],
        log_directory: &Path,
        signer: LogSigner,
    ) -> anyhow::Result<Self> {
        anyhow::ensure!(!servers.is_empty(), "the door has no server behind it");
        let (log, torn_bytes) =
            DecisionLog::open(log_directory, signer).context("open the record")?;
        log.append(&Run::opened(log.key_id(), &rules.mark, torn_bytes))?;
        log.sign_head()?;
        let server = |name: &&str| Server {
            name: (*name).into(),
            catalogue: Catalogue::default(),
            is_prefixed: servers.len() > 1,
        };
        Ok(Self {
            rules: RwLock::new(Arc::new(rules)),
            rates: RateLimiter::new(),
            servers: servers.iter().map(server).collect(),
            log: Arc::new(log),
            holds: OnceLock::new(),
        })
    }

    /// The rules of this moment. Whoever decides takes them once and keeps to them.
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says who holds calls for a person. Only the first one counts.
    pub fn set_holds(&self, holds: Arc<dyn Holds>) {
        let _ = self.holds.set(holds);
    }

    /// Who holds calls for a person, if anybody does.
    pub fn holds(&self) -> Option<&Arc<dyn Holds>> {
        self.holds.get()
    }

    /// Writes the run's last line and signs it.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn close(&self) -> Result<(), WriteError> {
        let rules = self.rules();
        self.log
            .append(&Run::closed(self.log.key_id(), &rules.mark))?;
        self.log.sign_head()
    }

    /// The ending of the call whose line has this leaf.
    pub fn ending(&self, leaf: Hash) -> Ending {
        Ending::of(Arc::clone(&self.log), leaf)
    }

    /// Records which pinned tools are not what they were pinned as.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn note_changes(
        &self,
        server: usize,
        changed: &[(String, Option<Pin>)],
    ) -> Result<(), WriteError> {
        let server = &self.servers[server];
        let rules = self.rules();
        for (name, found) in changed {
            let name = server.shown_name(name);
            let pinned = rules.policy.pin(&name);
            if pinned.is_none() || pinned == *found {
                continue;
            }
            tracing::warn!(tool = %name, "The definition of {name} is not the pinned one");
            let text = |pin: Option<Pin>| pin.map(|pin| pin.to_string());
            self.log.append(&DefinitionSeen::changed(
                &server.name,
                &name,
                text(pinned),
                text(*found),
            ))?;
        }
        Ok(())
    }
}
