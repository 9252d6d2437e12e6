//! One client's traffic with several servers under one endpoint.
//!
//! Behind it stands a [`Session`] with each server: whatever reaches a server or comes from one is
//! judged, recorded and matched there, under ids of the door's own, so that no server can answer for
//! another. Here it is decided which of them a message is for, and what several answers are as one.

mod cursor;
mod from_client;
mod from_servers;
mod gather;
mod merge;
mod route;
mod tasks;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};

use crate::caller::Caller;
use crate::door::Door;
use crate::judge::asked::Key;
use crate::session::{Back, Front, Ids, Session, To};

use cursor::Seal;
use gather::Gather;
use tasks::Tasks;

/// How long a server that gave no list in time is not waited for again.
const ABSENCE: Duration = Duration::from_secs(30);

/// One client and several servers.
pub struct Several {
    door: Arc<Door>,
    caller: Caller,
    front: Arc<dyn Front>,
    /// One for each of the door's servers, in their order.
    sessions: Vec<Arc<Session>>,
    ids: Arc<Ids>,
    seal: Arc<Seal>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What the client asked and is not answered, by the id that it waits under.
    asked: HashMap<Key, Asked>,
    /// What servers were asked and have not answered, by the door's own ids.
    parts: HashMap<Key, Part>,
    /// What is known of each server.
    known: Vec<Known>,
    /// The tasks that the client was told of.
    tasks: Tasks,
    /// The client said that it is ready.
    is_initialized: bool,
}

/// Who answers a question of the client's.
enum Asked {
    /// One server, under this id.
    One(Key),
    /// Several, and their answers become one.
    All(Gather),
}

/// A question that a server was asked.
#[derive(Clone)]
struct Part {
    server: usize,
    /// The id under which the client waits.
    client: Key,
    is_handshake: bool,
}

/// What is known of a server.
#[derive(Clone, Default)]
struct Known {
    /// What it said in its handshake that it can do; none before one.
    capabilities: Option<Map<String, Json>>,
    /// It is not waited for before this.
    absent_until: Option<Instant>,
}

impl Known {
    /// Whether it said that it cannot do this.
    fn cannot(&self, capability: &str) -> bool {
        let said = self.capabilities.as_ref();
        said.is_some_and(|said| !said.contains_key(capability))
    }

    fn is_absent(&self) -> bool {
        self.absent_until
            .is_some_and(|until| Instant::now() < until)
    }
}

/// What the servers of one endpoint share beyond a client: the seal of its cursors.
#[derive(Clone)]
pub struct Endpoint(Arc<Seal>);

impl Endpoint {
    /// An endpoint.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Seal::new()?)))
    }
}

/// The client's side of one server's session.
struct Port {
    several: Weak<Several>,
    server: usize,
}

impl Front for Port {
    fn put(&self, to: To<'_>, message: &[u8]) {
        if let Some(several) = self.several.upgrade() {
            several.take_from(self.server, to, message);
        }
    }

    fn flush(&self) {
        if let Some(several) = self.several.upgrade() {
            several.front.flush();
        }
    }

    fn server_changed(&self) {
        if let Some(several) = self.several.upgrade() {
            several.server_changed(self.server);
        }
    }
}

impl Several {
    /// A client before it said anything. `backs` are the ways to the door's servers, in their order.
    pub fn new(
        door: &Arc<Door>,
        caller: &Caller,
        front: Arc<dyn Front>,
        backs: Vec<Arc<dyn Back>>,
        endpoint: &Endpoint,
    ) -> Arc<Self> {
        let ids = Arc::new(Ids::default());
        Arc::new_cyclic(|several: &Weak<Self>| {
            let session = |(server, back): (usize, Arc<dyn Back>)| {
                let port = Arc::new(Port {
                    several: several.clone(),
                    server,
                });
                let (door, ids) = (Arc::clone(door), Some(Arc::clone(&ids)));
                Session::among(door, caller.clone(), server, port, back, ids)
            };
            let known = vec![Known::default(); backs.len()];
            Self {
                door: Arc::clone(door),
                caller: caller.clone(),
                front,
                sessions: backs.into_iter().enumerate().map(session).collect(),
                ids,
                seal: Arc::clone(&endpoint.0),
                state: Mutex::new(State {
                    known,
                    ..State::default()
                }),
            }
        })
    }

    /// The session with each server.
    pub fn sessions(&self) -> &[Arc<Session>] {
        &self.sessions
    }

    /// Sends what was taken in.
    pub fn flush(&self) {
        for session in &self.sessions {
            session.flush();
        }
    }

    /// Whether nobody waits for an answer any more.
    pub fn is_quiet(&self) -> bool {
        self.sessions.iter().all(|session| session.is_quiet())
    }

    /// The client is gone.
    pub fn client_is_gone(&self) {
        for session in &self.sessions {
            session.client_is_gone();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, server: usize) -> &str {
        &self.door.servers[server].name
    }
}
