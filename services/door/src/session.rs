//! One client's traffic with one server, message by message, both ways.
//!
//! A front brings the client's messages and takes what reaches it; a back takes what reaches the
//! server and brings the server's. Between the two every message is judged, recorded and matched:
//! an answer passes to whoever asked, and to nobody else.

mod definitions;
mod from_client;
mod from_server;
mod lifecycle;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use countersign_journal::Ticket;
use countersign_policy::Reservation;

use crate::caller::Caller;
use crate::door::Door;
use crate::judge::asked::{Asked, Key, Open};
use crate::judge::edits::Edits;
use crate::judge::header_names::Repeated;

pub use from_server::key_of;
pub use lifecycle::LAST_ANSWERS_TIME;

use definitions::Reading;
use lifecycle::Handshake;

/// Most messages that wait until they can be judged.
const PARKED_MAX: usize = 256;

/// Where a message for the client belongs.
#[derive(Clone, Copy, Debug)]
pub enum To<'k> {
    /// To whoever asked under this id.
    Answer(&'k Key),
    /// To the client as such: a notification, or a question of the server's.
    Client,
    /// To whoever asked for news under this token or id.
    About(&'k Key),
    /// To whoever asked under this id, and it is not the answer yet.
    Question(&'k Key),
}

/// Ids of the door's own making, which no two servers of one client share.
#[derive(Debug, Default)]
pub struct Ids(AtomicI64);

impl Ids {
    /// An id nobody had before.
    pub fn next(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The client's side: takes what reaches the client.
pub trait Front: Send + Sync {
    /// Takes a message; it may wait for [`Front::flush`].
    fn put(&self, to: To<'_>, message: &[u8]);
    /// Sends everything taken so far.
    fn flush(&self);
    /// The server went away, or came back: it may offer something else now.
    fn server_changed(&self) {}
}

/// The server's side: takes what reaches the server.
pub trait Back: Send + Sync {
    /// Takes a message; it may wait for [`Back::flush`].
    fn put(&self, message: &[u8]);
    /// Sends everything taken so far. That a server is gone is told by whoever reads from it.
    fn flush(&self);
}

/// One client and one server.
pub struct Session {
    door: Arc<Door>,
    caller: Caller,
    /// The server's place among the door's servers.
    server: usize,
    front: Arc<dyn Front>,
    back: Arc<dyn Back>,
    /// Where its client has several servers: ids for what they ask.
    ids: Option<Arc<Ids>>,
    /// Whether messages are counted before they are looked at.
    counts_messages: bool,
    state: Mutex<State>,
    /// Messages that go on when their lines are settled, all of one reading together.
    staged: Mutex<Vec<Staged>>,
    /// One settling at a time: what was taken in later must not overtake.
    settling: Mutex<()>,
    /// For what holds calls: it must not keep a session alive.
    me: Weak<Self>,
}

#[derive(Default)]
struct State {
    /// What the client asked.
    open: Open,
    /// What the server asked and the client was shown, by the id that it was shown under.
    questions: HashMap<Key, Question>,
    /// Calls that wait for a person, and under which name they are held.
    held: HashMap<Key, [u8; 16]>,
    /// Calls that wait for the definitions, in their order.
    parked: VecDeque<Parked>,
    /// What waited is being judged: later calls still wait behind it.
    is_unparking: bool,
    /// The door's own question for the definitions, while it is open.
    reading: Option<Reading>,
    handshake: Handshake,
    /// How many questions of its own the door asked here.
    own_questions: u64,
    /// How many lines of the server said nothing the client could be told.
    unreadable: u64,
    is_down: bool,
}

/// A question of a server's, as it asked it.
struct Question {
    /// The id as the server wrote it, where the client was shown another.
    id: Option<Box<str>>,
    /// The token under which the server wants to hear how it goes.
    progress: Option<Key>,
}

/// A message that is judged again when the definitions are there.
struct Parked {
    message: Vec<u8>,
    key: Option<Key>,
    /// What of it changes on its way.
    edits: Edits,
    /// It was parked before, and is not parked again.
    is_second: bool,
}

/// A message that waits until its line is settled.
struct Staged {
    ticket: Ticket,
    key: Option<Key>,
    message: Vec<u8>,
    /// What caps have counted for it.
    counted: Reservation,
}

/// Calls that are answered; how they ended is written when the client has the answers.
#[derive(Default)]
pub struct Answered {
    calls: Vec<Asked>,
    /// Something else came with the answers, and something may go to the server for it.
    had_more: bool,
}

impl Session {
    /// A session before anything was said.
    pub fn new(
        door: Arc<Door>,
        caller: Caller,
        server: usize,
        front: Arc<dyn Front>,
        back: Arc<dyn Back>,
    ) -> Arc<Self> {
        Self::among(door, caller, server, front, back, None)
    }

    /// A session before anything was said, with one of several servers of its client's.
    pub fn among(
        door: Arc<Door>,
        caller: Caller,
        server: usize,
        front: Arc<dyn Front>,
        back: Arc<dyn Back>,
        ids: Option<Arc<Ids>>,
    ) -> Arc<Self> {
        let counts_messages = door.rules().policy.message_rate_is_given();
        Arc::new_cyclic(|me| Self {
            door,
            caller,
            server,
            front,
            back,
            ids,
            counts_messages,
            state: Mutex::default(),
            staged: Mutex::default(),
            settling: Mutex::default(),
            me: Weak::clone(me),
        })
    }

    /// Sends what was taken in: to the server first, since somebody waits for it longest.
    pub fn flush(&self) {
        self.settle_staged();
        self.back.flush();
        self.front.flush();
    }

    /// As [`Session::flush`], besides what is not settled yet: somebody else settles and sends that.
    pub fn flush_settled(&self) {
        self.back.flush();
        self.front.flush();
    }

    /// Whether more than one question waits for its answer.
    pub fn has_several_open(&self) -> bool {
        self.state().open.count() > 1
    }

    /// Sends what the server said. Whoever reads the client settles and sends what the client says:
    /// an answer waits for neither.
    pub fn flush_answers(&self, answered: &Answered) {
        match answered.had_more {
            true => self.flush(),
            false => self.front.flush(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The arguments of a tool that its server wants repeated in headers.
    pub fn repeated_of(&self, tool: &str) -> Option<Arc<[Repeated]>> {
        self.door.servers[self.server].catalogue.repeated(tool)
    }

    fn server_name(&self) -> &str {
        &self.door.servers[self.server].name
    }
}
