//! The servers that are started for clients over HTTP: one for each session, and one that all
//! clients of the revision without sessions share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderValue;

use super::clients::Streams;
use super::sessions::IDLE_MILLISECONDS;
use crate::caller::Caller;
use crate::clock;
use crate::door::Door;
use crate::judge::asked::Key;
use crate::pipes::child::{Program, Running, StandardInput, read_server};
use crate::pipes::drain::Drain;
use crate::session::Session;

/// Most sessions at once: each has a process of its own.
pub const GUESTS_MAX: usize = 64;
/// How long after a start the shared server may be started again, in milliseconds.
const RESTART_MILLISECONDS: u64 = 1_000;

/// A session or everybody without one, and the server's process that serves it.
pub struct Guest {
    /// Its traffic.
    pub session: Arc<Session>,
    /// Its streams.
    pub streams: Arc<Streams>,
    identity: Arc<str>,
    running: Mutex<Option<Running>>,
    input: Arc<StandardInput>,
    used_at_milliseconds: AtomicU64,
    is_over: AtomicBool,
}

impl Guest {
    /// Whether its server has ended.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Somebody uses it.
    pub fn touch(&self) {
        self.used_at_milliseconds
            .store(clock::monotonic_milliseconds(), Ordering::Relaxed);
    }

    fn take_running(&self) -> Option<Running> {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Ends its server; it may take a while.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.session.client_is_gone();
        self.input.close();
        if let Some(running) = self.take_running() {
            running.end();
        }
        self.streams.close();
    }
}

/// All of them, and how to start one more.
pub struct House {
    /// What decides and records.
    pub door: Arc<Door>,
    program: Program,
    drain: Drain,
    guests: Mutex<HashMap<Box<[u8]>, Arc<Guest>>>,
    shared: Mutex<Option<(Arc<Guest>, u64)>>,
    next_id: AtomicI64,
}

impl House {
    /// Nobody is there yet.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn new(door: Arc<Door>, program: Program) -> std::io::Result<Self> {
        Ok(Self {
            door,
            program,
            drain: Drain::start()?,
            guests: Mutex::default(),
            shared: Mutex::default(),
            next_id: AtomicI64::new(1),
        })
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
        if guest.identity != caller.identity {
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

    /// The server of everybody without a session; it is started when it is not there. Blocks then.
    ///
    /// # Errors
    /// When it cannot be started, or was only just.
    pub fn shared(&self, caller: &Caller) -> std::io::Result<Arc<Guest>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::monotonic_milliseconds();
        if let Some((guest, started_at)) = &*shared {
            if !guest.is_over() {
                guest.touch();
                return Ok(Arc::clone(guest));
            }
            if now.saturating_sub(*started_at) < RESTART_MILLISECONDS {
                return Err(std::io::Error::other("it ended just after it was started"));
            }
        }
        let guest = self.start(caller.clone(), Streams::shared())?;
        *shared = Some((Arc::clone(&guest), now));
        Ok(guest)
    }

    fn start(&self, caller: Caller, streams: Streams) -> std::io::Result<Arc<Guest>> {
        let (running, input, output) = self.program.start(&self.drain)?;
        let (streams, back) = (Arc::new(streams), Arc::new(StandardInput::default()));
        back.open(input);
        let identity = Arc::clone(&caller.identity);
        let session = Session::new(
            Arc::clone(&self.door),
            caller,
            0,
            Arc::clone(&streams) as _,
            Arc::clone(&back) as _,
        );
        let guest = Arc::new(Guest {
            session,
            streams,
            identity,
            running: Mutex::new(Some(running)),
            input: back,
            used_at_milliseconds: AtomicU64::new(clock::monotonic_milliseconds()),
            is_over: AtomicBool::new(false),
        });
        let (reading, server) = (Arc::clone(&guest), self.program.name.clone());
        std::thread::Builder::new()
            .name(format!("server {server}"))
            .spawn(move || {
                read_server(&reading.session, &server, output);
                let was_over = reading.is_over.swap(true, Ordering::SeqCst);
                reading.input.close();
                // Whatever it was asked is answered with an error, and the session is over.
                reading.session.server_is_down();
                reading.streams.close();
                if let Some(running) = reading.take_running() {
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
        self.guests().retain(|_, guest| {
            let used_at = guest.used_at_milliseconds.load(Ordering::Relaxed);
            let is_idle =
                guest.session.is_quiet() && now.saturating_sub(used_at) > IDLE_MILLISECONDS;
            if is_idle {
                idle.push(Arc::clone(guest));
            }
            !is_idle && !guest.is_over()
        });
        for guest in idle {
            tracing::info!("A session that nobody used is ended");
            guest.end();
        }
        for guest in self.all() {
            guest.session.tick();
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
