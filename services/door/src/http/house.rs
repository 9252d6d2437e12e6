//! The servers that are started for clients over HTTP: one (or one of each) for a session, and one that a
//! caller's messages of the revision without sessions share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderValue;

use super::clients::Streams;
use super::lost::Lost;
use super::sessions::IDLE_MILLISECONDS;
use crate::caller::Caller;
use crate::clock;
use crate::door::Door;
use crate::fleet::{Fleet, Plan};
use crate::judge::asked::Key;
use crate::pipes::child::{Program, Running, read_server};
use crate::pipes::drain::Drain;
use crate::pipes::input::StandardInput;
use crate::session::Session;

/// Most sessions at once: each has a process of its own.
pub const GUESTS_MAX: usize = 64;
/// How long after a start the shared server may be started again, in milliseconds.
const RESTART_MILLISECONDS: u64 = 1_000;

/// A session or everybody without one, and the server's process that serves it.
pub struct Guest {
    /// Its traffic.
    pub traffic: Traffic,
    /// Its streams.
    pub streams: Arc<Streams>,
    /// Streams that the client lost.
    pub lost: Lost,
    identity: Arc<str>,
    groups: Arc<[Box<str>]>,
    used_at_milliseconds: AtomicU64,
    is_over: AtomicBool,
}

/// A client's traffic with the one server, or with several.
pub enum Traffic {
    /// With a process of its own.
    One(One),
    /// With each of several.
    Several(Fleet),
}

/// The traffic with one server, and its process.
pub struct One {
    session: Arc<Session>,
    running: Mutex<Option<Running>>,
    input: Arc<StandardInput>,
}

impl One {
    fn take_running(&self) -> Option<Running> {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

impl Traffic {
    /// Takes a message of the client's, under another id where that is given, and sends what comes
    /// of it. A server that does not read may make this wait.
    pub fn take(&self, message: &[u8], renamed: Option<Key>) {
        match (self, renamed) {
            (Self::One(one), None) => one.session.take_from_client(message),
            (Self::One(one), Some(key)) => one.session.take_from_client_as(message, key),
            (Self::Several(fleet), None) => fleet.several.take_from_client(message),
            (Self::Several(fleet), Some(key)) => fleet.several.take_from_client_as(message, key),
        }
        self.flush();
    }

    /// Nobody waits for the answer any more.
    pub fn abandon(&self, key: &Key) {
        match self {
            Self::One(one) => one.session.abandon(key),
            Self::Several(fleet) => fleet.several.abandon(key),
        }
        self.flush();
    }

    fn flush(&self) {
        match self {
            Self::One(one) => one.session.flush(),
            Self::Several(fleet) => fleet.several.flush(),
        }
    }

    fn is_quiet(&self) -> bool {
        match self {
            Self::One(one) => one.session.is_quiet(),
            Self::Several(fleet) => fleet.several.is_quiet(),
        }
    }

    fn tick(&self) {
        match self {
            Self::One(one) => one.session.tick(),
            Self::Several(fleet) => fleet.tick(),
        }
    }

    fn end(&self) {
        match self {
            Self::One(one) => {
                one.session.client_is_gone();
                one.input.close();
                if let Some(running) = one.take_running() {
                    running.end();
                }
            }
            Self::Several(fleet) => {
                fleet.several.client_is_gone();
                fleet.end();
            }
        }
    }
}

impl Guest {
    fn new(caller: &Caller, traffic: Traffic, streams: Arc<Streams>) -> Self {
        Self {
            traffic,
            streams,
            lost: Lost::default(),
            identity: Arc::clone(&caller.identity),
            groups: Arc::clone(&caller.groups),
            used_at_milliseconds: AtomicU64::new(clock::monotonic_milliseconds()),
            is_over: AtomicBool::new(false),
        }
    }

    /// Whether its server has ended.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Somebody uses it.
    pub fn touch(&self) {
        self.used_at_milliseconds
            .store(clock::monotonic_milliseconds(), Ordering::Relaxed);
    }

    /// Whether it is this caller's. One with other groups than when it began is somebody else: its
    /// calls would be judged by what no longer holds.
    fn is_of(&self, caller: &Caller) -> bool {
        self.identity == caller.identity && self.groups == caller.groups
    }

    /// Ends its servers; it may take a while.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.traffic.end();
        self.streams.close();
    }
}

/// All of them, and how to start one more.
pub struct House {
    /// What decides and records.
    pub door: Arc<Door>,
    behind: Behind,
    guests: Mutex<HashMap<Box<[u8]>, Arc<Guest>>>,
    /// Those of callers without sessions, and when each was started.
    shared: Mutex<Vec<(Arc<Guest>, u64)>>,
    next_id: AtomicI64,
}

/// What stands behind a client.
pub enum Behind {
    /// One program.
    Program(Program, Drain),
    /// Several servers.
    Several(Plan),
}

impl House {
    /// Nobody is there yet.
    ///
    pub fn new(door: Arc<Door>, behind: Behind) -> Self {
        Self {
            door,
            behind,
            guests: Mutex::default(),
            shared: Mutex::default(),
            next_id: AtomicI64::new(1),
        }
    }

    fn guests(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Arc<Guest>>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An id under which the shared server is asked.
    pub fn next_key(&self) -> Key {
        Key::Integer(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// The guest of a session. Another's is as unknown as one that there never was.
    pub fn find(&self, name: &HeaderValue, caller: &Caller) -> Option<Arc<Guest>> {
        let guest = self.guests().get(name.as_bytes()).cloned()?;
        if !guest.is_of(caller) {
            return None;
        }
        if guest.is_over() {
            self.guests().remove(name.as_bytes());
            return None;
        }
        guest.touch();
        Some(guest)
    }

    /// Begins a session with a server of its own. Blocks while the process is made.
    ///
    /// # Errors
    /// When the server cannot be started, or there are too many.
    pub fn begin(&self, caller: &Caller) -> std::io::Result<(HeaderValue, Arc<Guest>)> {
        if self.guests().len() >= GUESTS_MAX {
            return Err(std::io::Error::other("too many sessions"));
        }
        let random = clock::random_id().map_err(|_| std::io::ErrorKind::Other)?;
        let name = HeaderValue::from_str(&hex::encode(random))
            .map_err(|_| std::io::ErrorKind::InvalidData)?;
        let caller = caller.clone().in_session(&name);
        let guest = self.start(caller, Streams::default())?;
        self.guests()
            .insert(name.as_bytes().into(), Arc::clone(&guest));
        Ok((name, guest))
    }

    /// The server of this caller's messages without a session; it is started when it is not there.
    /// Blocks then.
    ///
    /// # Errors
    /// When it cannot be started, or was only just, or there are too many.
    pub fn shared(&self, caller: &Caller) -> std::io::Result<Arc<Guest>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::monotonic_milliseconds();
        let known = shared.iter().position(|(guest, _)| guest.is_of(caller));
        if let Some(at) = known {
            let (guest, started_at) = &shared[at];
            if !guest.is_over() {
                guest.touch();
                return Ok(Arc::clone(guest));
            }
            if now.saturating_sub(*started_at) < RESTART_MILLISECONDS {
                return Err(std::io::Error::other("it ended just after it was started"));
            }
            shared.swap_remove(at);
        }
        if shared.len() >= GUESTS_MAX {
            return Err(std::io::Error::other("too many callers"));
        }
        let guest = self.start(caller.clone(), Streams::shared())?;
        shared.push((Arc::clone(&guest), now));
        Ok(guest)
    }

    fn start(&self, caller: Caller, streams: Streams) -> std::io::Result<Arc<Guest>> {
        match &self.behind {
            Behind::Program(program, drain) => self.start_one(program, drain, caller, streams),
            Behind::Several(plan) => {
                let streams = Arc::new(streams);
                let front = Arc::clone(&streams) as _;
                let fleet = Fleet::start(plan, &self.door, &caller, front)?;
                Ok(Arc::new(Guest::new(
                    &caller,
                    Traffic::Several(fleet),
                    streams,
                )))
            }
        }
    }

    fn start_one(
        &self,
        program: &Program,
        drain: &Drain,
        caller: Caller,
        streams: Streams,
    ) -> std::io::Result<Arc<Guest>> {
        let (running, input, output) = program.start(drain)?;
        let (streams, back) = (Arc::new(streams), Arc::new(StandardInput::default()));
        back.open(input);
        let session = Session::new(
            Arc::clone(&self.door),
            caller.clone(),
            0,
            Arc::clone(&streams) as _,
            Arc::clone(&back) as _,
        );
        let one = One {
            session: Arc::clone(&session),
            running: Mutex::new(Some(running)),
            input: back,
        };
        let guest = Arc::new(Guest::new(&caller, Traffic::One(one), streams));
        let (reading, server) = (Arc::clone(&guest), program.name.clone());
        std::thread::Builder::new()
            .name(format!("server {server}"))
            .spawn(move || {
                read_server(&session, &server, output);
                let was_over = reading.is_over.swap(true, Ordering::SeqCst);
                let Traffic::One(one) = &reading.traffic else {
                    return;
                };
                one.input.close();
                // Whatever it was asked is answered with an error, and the session is over.
                session.server_is_down();
                reading.streams.close();
                if let Some(running) = one.take_running() {
                    running.kill();
                }
                if !was_over {
                    tracing::error!(%server, "The server {server} ended; calls it had were answered with an error");
                }
            })?;
        Ok(guest)
    }

    /// Takes a session out; whoever has it ends it.
    pub fn take(&self, name: &HeaderValue) -> Option<Arc<Guest>> {
        self.guests().remove(name.as_bytes())
    }

    /// Gives up what takes too long, and ends sessions that nobody uses any more.
    pub fn tick(&self) {
        let now = clock::monotonic_milliseconds();
        let mut idle = Vec::new();
        let mut stays = |guest: &Arc<Guest>| {
            let used_at = guest.used_at_milliseconds.load(Ordering::Relaxed);
            let is_idle =
                guest.traffic.is_quiet() && now.saturating_sub(used_at) > IDLE_MILLISECONDS;
            if is_idle {
                idle.push(Arc::clone(guest));
            }
            !is_idle
        };
        self.guests()
            .retain(|_, guest| stays(guest) && !guest.is_over());
        // Those that are over are remembered until they may be started again.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|(guest, started_at)| {
            let is_recent = now.saturating_sub(*started_at) < RESTART_MILLISECONDS;
            stays(guest) && (is_recent || !guest.is_over())
        });
        drop(shared);
        for guest in idle {
            tracing::info!("A session that nobody used is ended");
            guest.end();
        }
        for guest in self.all() {
            guest.traffic.tick();
        }
    }

    fn all(&self) -> Vec<Arc<Guest>> {
        let mut all: Vec<_> = self.guests().values().cloned().collect();
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(shared.iter().map(|(guest, _)| Arc::clone(guest)));
        all
    }

    /// Ends every server.
    pub fn end(&self) {
        let ending: Vec<_> = self
            .all()
            .into_iter()
            .map(|guest| std::thread::spawn(move || guest.end()))
            .collect();
        for thread in ending {
            let _ = thread.join();
        }
    }
}
