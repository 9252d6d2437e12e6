//! Sessions of the revision that has them: whose each is, what is open in it, and when it ends.
//!
//! The server names its sessions. The door remembers whose each one is, so that nobody goes on in
//! another's, and ends those that nobody uses, which clients often leave behind.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_wire::Frame;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::caller::Caller;
use crate::clock;
use crate::judge::asked::{Key, Open};

/// The header that names a session.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header that names the revision of the protocol.
pub const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Most sessions at once; a new one is refused beyond.
pub const SESSIONS_MAX: usize = 1_024;
/// How long a session may be idle, in milliseconds.
pub const IDLE_MILLISECONDS: u64 = 30 * 60 * 1_000;
/// Longest name of a session, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Most questions of a server that wait for answers in one session.
const QUESTIONS_MAX: usize = 256;

/// One session.
pub struct Session {
    /// Its name, as the header has it.
    pub name: HeaderValue,
    identity: Arc<str>,
    version: Mutex<Option<HeaderValue>>,
    /// What the client asked and is not answered yet, on whichever stream the answer comes.
    open: Mutex<Open>,
    /// What the server asked and the client was shown.
    questions: Mutex<HashSet<Key>>,
    /// Calls that wait for a person, and the names under which they are held.
    held: Mutex<HashMap<Key, [u8; 16]>>,
    /// Its client said that it takes questions for its user.
    takes_questions: AtomicBool,
    used_at_milliseconds: AtomicU64,
    streams: AtomicUsize,
}

impl Session {
    /// What is open in it.
    pub fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a question that the client is shown. False when too many wait.
    pub fn ask(&self, key: Key) -> bool {
        let mut questions = self.questions();
        questions.len() < QUESTIONS_MAX && {
            questions.insert(key);
            true
        }
    }

    /// Whether the server asked this, and has no answer yet.
    pub fn take_question(&self, key: &Key) -> bool {
        self.questions().remove(key)
    }

    /// Takes note of what a client says of itself when it begins the session.
    pub fn note_client(&self, frame: &Frame<'_>) {
        let capabilities = frame.params().and_then(|params| params.get("capabilities"));
        let takes_questions = capabilities
            .and_then(|capabilities| capabilities.get("elicitation"))
            .is_some_and(|elicitation| elicitation.is_object());
        self.takes_questions
            .store(takes_questions, Ordering::Relaxed);
    }

    /// Whether the client takes questions for its user.
    pub fn takes_questions(&self) -> bool {
        self.takes_questions.load(Ordering::Relaxed)
    }

    /// Remembers a call that waits for a person.
    pub fn hold(&self, key: Key, call: [u8; 16]) {
        self.held().insert(key, call);
    }

    /// Whether a call waits under this id.
    pub fn is_held(&self, key: &Key) -> bool {
        self.held().contains_key(key)
    }

    /// The call that waits under this id, and is waited for no more.
    pub fn take_held(&self, key: &Key) -> Option<[u8; 16]> {
        self.held().remove(key)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Key, [u8; 16]>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What every message of the door's own in this session carries.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(SESSION, self.name.clone());
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = &*version {
            headers.insert(VERSION, version.clone());
        }
        headers
    }

    fn is_idle(&self, now: u64) -> bool {
        let used_at = self.used_at_milliseconds.load(Ordering::Relaxed);
        self.streams.load(Ordering::Relaxed) == 0 && now.saturating_sub(used_at) > IDLE_MILLISECONDS
    }

    fn touch(&self) {
        self.used_at_milliseconds
            .store(clock::monotonic_milliseconds(), Ordering::Relaxed);
    }
}

/// A stream that is open in a session; the session is in use as long.
pub struct Streaming(Arc<Session>);

impl Streaming {
    /// Opens a stream.
    pub fn new(session: Arc<Session>) -> Self {
        session.streams.fetch_add(1, Ordering::Relaxed);
        Self(session)
    }

    /// The session.
    pub const fn session(&self) -> &Arc<Session> {
        &self.0
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.touch();
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All sessions.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<Box<[u8]>, Arc<Session>>>);

/// Which session a message belongs to.
pub enum Found {
    /// It names none.
    None,
    /// This one, and it is the caller's.
    Session(Arc<Session>),
    /// It names one that is not the caller's, or several, or one that there is not.
    Unknown,
}

impl Sessions {
    fn all(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a message. Another's is as unknown as one that there never was.
    pub fn find(&self, headers: &HeaderMap, caller: &Caller) -> Found {
        let mut names = headers.get_all(SESSION).iter();
        let name = match (names.next(), names.next()) {
            (None, _) => return Found::None,
            (Some(name), None) => name,
            (Some(_), Some(_)) => return Found::Unknown,
        };
        let found = self.all().get(name.as_bytes()).cloned();
        let Some(session) = found.filter(|session| session.identity == caller.identity) else {
            return Found::Unknown;
        };
        session.touch();
        if let Some(version) = headers.get(VERSION) {
            let mut known = session
                .version
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if known.as_ref() != Some(version) {
                *known = Some(version.clone());
            }
        }
        Found::Session(session)
    }

    /// Whether one more session fits.
    pub fn has_room(&self) -> bool {
        self.all().len() < SESSIONS_MAX
    }

    /// Remembers a session that the server named in its answer to this caller. None when the server
    /// named one that is somebody's already, or no name at all.
    pub fn insert(&self, headers: &HeaderMap, caller: &Caller) -> Option<Arc<Session>> {
        let name = headers.get(SESSION)?;
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return None;
        }
        let mut all = self.all();
        if all.contains_key(name.as_bytes()) || all.len() >= SESSIONS_MAX {
            return None;
        }
        let session = Arc::new(Session {
            name: name.clone(),
            identity: Arc::clone(&caller.identity),
            version: Mutex::default(),
            open: Mutex::default(),
            questions: Mutex::default(),
            held: Mutex::default(),
            takes_questions: AtomicBool::new(false),
            used_at_milliseconds: AtomicU64::new(clock::monotonic_milliseconds()),
            streams: AtomicUsize::new(0),
        });
        all.insert(name.as_bytes().into(), Arc::clone(&session));
        Some(session)
    }

    /// Forgets a session.
    pub fn remove(&self, session: &Session) {
        self.all().remove(session.name.as_bytes());
    }

    /// Takes out what nobody used for long.
    pub fn take_idle(&self, now_milliseconds: u64) -> Vec<Arc<Session>> {
        let mut all = self.all();
        let idle: Vec<_> = all
            .values()
            .filter(|session| session.is_idle(now_milliseconds))
            .cloned()
            .collect();
        for session in &idle {
            all.remove(session.name.as_bytes());
        }
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(SESSION, name.parse().unwrap());
        headers
    }

    fn caller(identity: &str) -> Caller {
        Caller {
            identity: identity.into(),
            ..Caller::local("s")
        }
    }

    #[test]
    fn a_session_is_its_owners_alone() {
        let sessions = Sessions::default();
        let (ada, bob) = (caller("ada"), caller("bob"));
        assert!(sessions.insert(&named("one"), &ada).is_some());
        assert!(matches!(
            sessions.find(&named("one"), &ada),
            Found::Session(_)
        ));
        assert!(matches!(sessions.find(&named("one"), &bob), Found::Unknown));
        assert!(matches!(sessions.find(&named("two"), &ada), Found::Unknown));
        assert!(matches!(
            sessions.find(&HeaderMap::new(), &ada),
            Found::None
        ));
        let mut twice = named("one");
        twice.append(SESSION, HeaderValue::from_static("one"));
        assert!(matches!(sessions.find(&twice, &ada), Found::Unknown));
        // A server cannot give one session to two.
        assert!(sessions.insert(&named("one"), &bob).is_none());
    }

    #[test]
    fn what_nobody_uses_ends_and_what_streams_does_not() {
        let sessions = Sessions::default();
        let ada = caller("ada");
        sessions.insert(&named("idle"), &ada);
        let streaming = Streaming::new(sessions.insert(&named("streams"), &ada).unwrap());
        let later = clock::monotonic_milliseconds() + IDLE_MILLISECONDS + 1;
        let idle = sessions.take_idle(later);
        assert_eq!(idle.len(), 1);
        assert_eq!(idle[0].name, "idle");
        drop(streaming);
        let later = clock::monotonic_milliseconds() + IDLE_MILLISECONDS + 1;
        assert_eq!(sessions.take_idle(later).len(), 1);
    }

    #[test]
    fn there_is_an_end_to_sessions() {
        let sessions = Sessions::default();
        let ada = caller("ada");
        for number in 0..SESSIONS_MAX {
            assert!(sessions.insert(&named(&number.to_string()), &ada).is_some());
        }
        assert!(!sessions.has_room());
        assert!(sessions.insert(&named("one more"), &ada).is_none());
    }
}
