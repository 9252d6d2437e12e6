//! Servers that end and come back, clients that go.

use std::time::Duration;

use countersign_wire::Frame;

use super::{Session, State, To};
use crate::judge::asked::{Asked, Key};
use crate::judge::refusal::{Code, Refusal};

/// Most questions of a server that wait for the client's answer.
pub const QUESTIONS_MAX: usize = 256;
/// How long calls that are open when the client goes may still be answered.
pub const LAST_ANSWERS_TIME: Duration = Duration::from_secs(10);

/// Where a message of the revision without sessions names it.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the door says of itself there. What a client says is its own affair: one that says it wrongly
/// must not have everybody refused who shares its server.
const OWN_META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"countersign-door","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""},"io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// How client and server came to terms; said again to a server that was started anew.
#[derive(Default)]
pub struct Handshake {
    /// The client's `initialize`, whole.
    initialize: Option<Vec<u8>>,
    is_initialized: bool,
    /// The client said that it takes questions for its user.
    takes_questions: bool,
    /// The client speaks the revision without sessions, which says who speaks with every message.
    is_stateless: bool,
    /// The id under which the door says `initialize` again.
    replayed: Option<Key>,
}

impl Handshake {
    /// Takes note of a request that passes.
    pub fn note_request(&mut self, frame: &Frame<'_>, bytes: &[u8]) {
        if frame.method() == Some("initialize") {
            self.initialize = Some(bytes.to_vec());
            let capabilities = frame.params().and_then(|params| params.get("capabilities"));
            self.takes_questions = capabilities
                .and_then(|capabilities| capabilities.get("elicitation"))
                .is_some_and(|elicitation| elicitation.is_object());
            return;
        }
        let meta = frame.params().and_then(|params| params.get("_meta"));
        self.is_stateless |= meta.is_some_and(|meta| meta.get(META_VERSION).is_some());
    }

    /// The client says that it is ready.
    pub const fn initialized(&mut self) {
        self.is_initialized = true;
    }

    /// Whether the client takes questions for its user.
    pub const fn takes_questions(&self) -> bool {
        self.is_initialized && self.takes_questions
    }

    /// What a question of the door's own says of whoever asks; none where a handshake said it.
    pub fn stateless_meta(&self) -> Option<&'static str> {
        (self.is_stateless && self.initialize.is_none()).then_some(OWN_META)
    }

    /// Whether the door said `initialize` again under this id.
    pub fn is_replayed_under(&self, key: &Key) -> bool {
        self.replayed.as_ref() == Some(key)
    }
}

impl State {
    /// Whether calls wait for the definitions, or are being judged after they did.
    pub fn has_parked(&self) -> bool {
        self.is_unparking || !self.parked.is_empty()
    }

    /// An id of the door's own, which no client would think of.
    pub fn next_own_id(&mut self) -> String {
        self.own_questions += 1;
        let random = crate::clock::random_id().map_or(0, |random| {
            u64::from_ne_bytes([
                random[0], random[1], random[2], random[3], random[4], random[5], random[6],
                random[7],
            ])
        });
        format!("door-{random:016x}-{}", self.own_questions)
    }
}

impl Session {
    /// Whether nobody waits for an answer any more.
    pub fn is_quiet(&self) -> bool {
        let state = self.state();
        state.open.is_empty() && state.parked.is_empty() && state.reading.is_none()
    }

    /// The server ended: what it was asked is answered with an error and never asked again.
    pub fn server_is_down(&self) {
        let (open, reading) = {
            let mut state = self.state();
            state.is_down = true;
            state.questions.clear();
            state.handshake.replayed = None;
            (state.open.take_all(), state.reading.take())
        };
        self.door.servers[self.server].catalogue.forget();
        for (key, asked) in open {
            self.fail(&key, asked, "server_ended");
        }
        drop(reading);
        self.definitions_are_read(false);
        self.front.server_changed();
        self.flush();
    }

    /// Whether the server is gone, or has not come to terms with the client yet.
    pub fn is_down(&self) -> bool {
        self.state().is_down
    }

    fn fail(&self, key: &Key, mut asked: Asked, reason: &str) {
        asked.ending.failed();
        let refusal = Refusal::new(Code::Upstream, reason).with_receipt(asked.ending.leaf());
        let answer = refusal.json(Some(&asked.id));
        self.front.put(To::Answer(key), answer.as_bytes());
    }

    /// The server will not answer this any more; if it is still open it is answered with an error.
    pub fn is_not_answered(&self, key: &Key, reason: &str) {
        let mut state = self.state();
        let is_own = state
            .reading
            .as_ref()
            .is_some_and(|reading| reading.is_asked_under(key));
        let asked = state.open.take(key);
        drop(state);
        if is_own {
            self.definitions_are_read(false);
        }
        if let Some(asked) = asked {
            self.fail(key, asked, reason);
        }
        self.flush();
    }

    /// The server was started anew: client and server have come to terms before, so the door says
    /// the same again on the client's behalf.
    pub fn server_is_up(&self) {
        let mut state = self.state();
        let again = state
            .handshake
            .initialize
            .as_ref()
            // One of several may have ended before the client was ready.
            .filter(|_| state.handshake.is_initialized || self.ids.is_some())
            .cloned();
        let Some(initialize) = again else {
            state.is_down = false;
            return;
        };
        let id = state.next_own_id();
        let Ok(frame) = Frame::read(&initialize) else {
            return;
        };
        let mut edits = crate::judge::edits::Edits::NONE;
        if let Some(span) = frame.root().get("id").map(|id| id.span()) {
            edits.replace(span, format!("\"{id}\""));
        }
        let question = edits.apply(&initialize).into_owned();
        state.handshake.replayed = Some(Key::Text(id.into()));
        drop(state);
        self.back.put(&question);
        self.flush();
    }

    /// The server took the handshake that was said again.
    pub(super) fn take_replayed(&self, frame: &Frame<'_>) {
        {
            let mut state = self.state();
            state.handshake.replayed = None;
            if frame.root().get("result").is_none() {
                tracing::warn!(server = %self.server_name(), "A server that was started anew takes no handshake");
                return;
            }
            state.is_down = false;
        }
        self.back
            .put(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.front.server_changed();
    }

    /// What takes too long is given up.
    pub fn tick(&self) {
        let is_late = self
            .state()
            .reading
            .as_ref()
            .is_some_and(super::definitions::Reading::is_late);
        if is_late {
            tracing::warn!(server = %self.server_name(), "The tools behind the door are not listed in time");
            self.definitions_are_read(false);
            self.flush();
        }
    }

    /// The client is gone: nobody has to decide about its calls any more.
    pub fn client_is_gone(&self) {
        let held: Vec<_> = self.state().held.drain().map(|(_, call)| call).collect();
        if let Some(holds) = self.door.holds() {
            for call in held {
                holds.withdraw(&call);
            }
        }
    }
}
