//! The door: everything one decision needs, whichever way messages come and go.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use anyhow::Context as _;
use countersign_journal::{Options, Ticket};
use countersign_policy::{Pin, Policy, RateLimiter};
use countersign_receipts::{Hash, LogSigner};

use crate::approval::{Caps, OwnTools};
use crate::clock;
use crate::judge::catalogue::Catalogue;
use crate::judge::ending::{Ending, Endings};
use crate::judge::hold::Holds;
use crate::judge::places::Places;
use crate::judge::rounds::Rounds;
use crate::log::{DecisionLog, WriteError};
use crate::record::{DefinitionSeen, PolicyMark, Run};
use crate::screen::Screens;
use crate::telemetry::Telemetry;

/// What stands between a server's name and its tool's, where one endpoint has several servers.
pub const BETWEEN_NAMES: &str = "__";

/// One policy, compiled, and its name in the record. Swapped whole.
pub struct Rules {
    /// What may pass.
    pub policy: Policy,
    /// The policy as the record names it.
    pub mark: PolicyMark,
    /// What it has looked for in texts.
    pub screens: Screens,
}

impl Rules {
    /// The rules of a policy.
    ///
    /// # Errors
    /// A screening rule that cannot be compiled.
    pub fn new(policy: Policy) -> anyhow::Result<Self> {
        Ok(Self {
            mark: PolicyMark::of(&policy),
            screens: Screens::new(policy.screening())?,
            policy,
        })
    }
}

/// Where and how the record is kept.
pub struct Record {
    /// Its folder.
    pub directory: PathBuf,
    /// Who signs it.
    pub signer: LogSigner,
    /// How.
    pub options: Options,
}

/// A server behind the door, as decisions see it.
pub struct Server {
    /// The name the policy knows it under.
    pub name: Box<str>,
    /// What it offers.
    pub catalogue: Catalogue,
    /// The resources it has, where it is one of several.
    pub places: Places,
}

/// One door before one server or several.
pub struct Door {
    rules: RwLock<Arc<Rules>>,
    /// How often.
    pub rates: RateLimiter,
    /// What caps have counted.
    pub caps: Caps,
    /// What servers asked for before they go on.
    pub rounds: Rounds,
    /// The servers.
    pub servers: Vec<Server>,
    /// The record.
    pub log: Arc<DecisionLog>,
    endings: Arc<Endings>,
    holds: OnceLock<Arc<dyn Holds>>,
    own_tools: OnceLock<OwnTools>,
    telemetry: OnceLock<Arc<Telemetry>>,
}

impl Door {
    /// Opens a door: opens the record and writes the run's first line.
    ///
    /// # Errors
    /// Whatever is unusable; the door does not start then.
    pub fn open(rules: Rules, servers: &[&str], record: Record) -> anyhow::Result<Self> {
        anyhow::ensure!(!servers.is_empty(), "the door has no server behind it");
        let directory = record.directory.clone();
        let (log, torn_bytes) =
            DecisionLog::open_with(&record.directory, record.signer, record.options)
                .context("open the record")?;
        // No decision: the first one that is waited for settles it, and the first head covers it.
        let _ = log.note(&Run::opened(log.key_id(), &rules.mark, torn_bytes))?;
        log.hand_over()?;
        let log = Arc::new(log);
        let server = |name: &&str| Server {
            name: (*name).into(),
            catalogue: Catalogue::default(),
            places: Places::default(),
        };
        Ok(Self {
            rules: RwLock::new(Arc::new(rules)),
            rates: RateLimiter::new(),
            caps: Caps::open(&directory, clock::unix_seconds())?,
            rounds: Rounds::default(),
            servers: servers.iter().map(server).collect(),
            endings: Arc::new(Endings::new(Arc::clone(&log))),
            log,
            holds: OnceLock::new(),
            own_tools: OnceLock::new(),
            telemetry: OnceLock::new(),
        })
    }

    /// The rules of this moment. Whoever decides takes them once and keeps to them.
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts other rules in the place of these, whole. Calls that are being judged keep the old ones.
    ///
    /// # Errors
    /// When it cannot be recorded; the old rules stay.
    pub fn set_rules(&self, rules: Rules) -> Result<(), WriteError> {
        let mut current = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        self.log
            .append(&Run::policy_changed(self.log.key_id(), &rules.mark))?;
        *current = Arc::new(rules);
        Ok(())
    }

    /// Says who holds calls for a person. Only the first one counts.
    pub fn set_holds(&self, holds: Arc<dyn Holds>) {
        let _ = self.holds.set(holds);
    }

    /// Whether its endpoint has several servers: then names begin with their server's.
    pub const fn has_several(&self) -> bool {
        self.servers.len() > 1
    }

    /// Where a tool goes: the server, and the tool's own name there. One server's tools keep their
    /// names; those of several are called `server__tool`.
    pub fn resolve<'n>(&self, shown: &'n str) -> Option<(usize, &'n str)> {
        if let [_] = &self.servers[..] {
            return Some((0, shown));
        }
        let (server, inner) = shown.split_once(BETWEEN_NAMES)?;
        let place = self.servers.iter().position(|one| *one.name == *server)?;
        Some((place, inner))
    }

    /// Offers the door's own tools from now on. Only the first ones count.
    pub fn offer_own_tools(&self, tools: OwnTools) {
        let _ = self.own_tools.set(tools);
    }

    /// The door's own tools, where it was asked to offer them.
    pub fn own_tools(&self) -> Option<&OwnTools> {
        self.own_tools.get()
    }

    /// Tells from now on how the door does. Only the first one counts.
    pub fn tell(&self, telemetry: Arc<Telemetry>) {
        let _ = self.telemetry.set(telemetry);
    }

    /// What tells how the door does, where it was asked to.
    pub fn telemetry(&self) -> Option<&Arc<Telemetry>> {
        self.telemetry.get()
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
        if let Some(telemetry) = self.telemetry() {
            telemetry.close();
        }
        self.log
            .append(&Run::closed(self.log.key_id(), &rules.mark))?;
        self.log.sign_head()
    }

    /// Waits until a line is as sure as it must be before what it is about goes on.
    ///
    /// # Errors
    /// [`WriteError`]; what it is about must not happen then.
    pub fn settle(&self, ticket: &Ticket) -> Result<(), WriteError> {
        let settled = self.log.settle(ticket);
        if let Err(error) = &settled {
            tracing::error!(%error, "Could not settle a decision in the record");
            if let Some(telemetry) = self.telemetry() {
                telemetry.record_failed();
            }
        }
        settled
    }

    /// The ending of the call to a server whose line has this leaf.
    pub fn ending(&self, leaf: Hash, server: usize) -> Ending {
        let ending = Ending::of(Arc::clone(&self.endings), leaf);
        match self.telemetry() {
            None => ending,
            Some(telemetry) => ending.watched(telemetry, &self.servers[server].name),
        }
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
            let pinned = rules.policy.pin_of(&server.name, name);
            if pinned.is_none() || pinned == *found {
                continue;
            }
            tracing::warn!(tool = %name, "The definition of {name} is not the pinned one");
            let text = |pin: Option<Pin>| pin.map(|pin| pin.to_string());
            self.log.append(&DefinitionSeen::changed(
                &server.name,
                name,
                text(pinned),
                text(*found),
            ))?;
        }
        Ok(())
    }
}
