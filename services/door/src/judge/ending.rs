//! How each forwarded call ended, for the record.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use countersign_receipts::Hash;

use crate::clock;
use crate::log::{DecisionLog, WriteError};
use crate::record::Outcome;
use crate::telemetry::{Span, Telemetry};

/// How long an ending waits at most for a decision that is written with it.
const WAIT: Duration = Duration::from_millis(10);

/// Where endings are noted.
///
/// An ending has happened already and nobody waits for it: it is chained at once and written with the
/// next decision, or a little later by a thread of its own where none comes.
pub struct Endings {
    log: Arc<DecisionLog>,
    writer: OnceLock<Option<Thread>>,
    /// Something was noted since the writer last looked.
    asked: Arc<AtomicBool>,
}

impl Endings {
    /// The endings of this record's calls.
    pub fn new(log: Arc<DecisionLog>) -> Self {
        Self {
            log,
            writer: OnceLock::new(),
            asked: Arc::default(),
        }
    }

    fn note(&self, outcome: &Outcome) -> Result<(), WriteError> {
        match self.log.note(outcome) {
            // In the mode that signs each, the next decision's head covers it.
            Ok(_ticket) => self.write_soon(),
            Err(error) => {
                tracing::error!(%error, "Could not record how a call ended");
                return Err(error);
            }
        }
        Ok(())
    }

    fn write_soon(&self) {
        if self.asked.swap(true, Ordering::SeqCst) {
            return;
        }
        match self.writer.get_or_init(|| self.start_writer()) {
            Some(writer) => writer.unpark(),
            None => {
                self.asked.store(false, Ordering::SeqCst);
                write(&self.log);
            }
        }
    }

    /// The thread that writes what nothing was written with; none where there is none to be had.
    fn start_writer(&self) -> Option<Thread> {
        let (log, asked) = (Arc::downgrade(&self.log), Arc::clone(&self.asked));
        let started = std::thread::Builder::new()
            .name("endings".into())
            .stack_size(128 << 10)
            .spawn(move || {
                loop {
                    while !asked.load(Ordering::SeqCst) {
                        std::thread::park();
                    }
                    std::thread::sleep(WAIT);
                    asked.store(false, Ordering::SeqCst);
                    let Some(log) = log.upgrade() else { return };
                    write(&log);
                }
            });
        started.ok().map(|started| started.thread().clone())
    }
}

impl Drop for Endings {
    fn drop(&mut self) {
        // Its record is gone with this, or soon: the writer ends where it is.
        self.asked.store(true, Ordering::SeqCst);
        if let Some(Some(writer)) = self.writer.get() {
            writer.unpark();
        }
    }
}

fn write(log: &DecisionLog) {
    if let Err(error) = log.hand_over() {
        tracing::error!(%error, "Could not record how a call ended");
    }
}

/// How a forwarded call ends; noted when it is dropped.
///
/// Until somebody says otherwise the call was cancelled: whoever waited for it went away.
pub struct Ending {
    endings: Arc<Endings>,
    decision: Hash,
    event: Option<&'static str>,
    status: Option<u16>,
    bytes: u64,
    watched: Option<Watched>,
}

/// What is told about a call besides the record.
struct Watched {
    telemetry: Arc<Telemetry>,
    server: Box<str>,
    since: Instant,
    span: Option<Span>,
}

impl Watched {
    fn ended(self, event: &'static str, is_noted: bool) {
        if !is_noted {
            self.telemetry.record_failed();
        }
        self.telemetry
            .ended(&self.server, event, self.since, self.span);
    }
}

impl Ending {
    /// The ending of the call whose decision has this leaf.
    pub const fn of(endings: Arc<Endings>, decision: Hash) -> Self {
        Self {
            endings,
            decision,
            event: Some("cancelled"),
            status: None,
            bytes: 0,
            watched: None,
        }
    }

    /// The same, told about as well.
    pub fn watched(mut self, telemetry: &Arc<Telemetry>, server: &str) -> Self {
        telemetry.begun(server);
        self.watched = Some(Watched {
            telemetry: Arc::clone(telemetry),
            server: server.into(),
            since: clock::stopwatch(),
            span: None,
        });
        self
    }

    /// Ends this span when the call ends.
    pub fn set_span(&mut self, span: Option<Span>) {
        if let Some(watched) = &mut self.watched {
            watched.span = span;
        }
    }

    /// The span, if there is one; it does not end with the call then.
    pub fn take_span(&mut self) -> Option<Span> {
        self.watched.as_mut()?.span.take()
    }

    /// The leaf of the decision that let the call pass.
    pub const fn leaf(&self) -> Hash {
        self.decision
    }

    /// The head of the answer is there: an HTTP status.
    pub const fn head(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// The whole answer of this many bytes was read.
    pub const fn answered(&mut self, bytes: u64) {
        self.event = Some("answered");
        self.bytes = bytes;
    }

    /// The server did not answer as it must.
    pub const fn failed(&mut self) {
        self.event = Some("failed");
    }

    /// The call never went on under this line: there is nothing to write.
    pub fn never_went_on(mut self) {
        self.event = None;
        if let Some(watched) = self.watched.take() {
            watched.telemetry.never_went_on(&watched.server);
            watched.telemetry.tell(watched.span, "never_went_on");
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Some(event) = self.event else { return };
        let outcome = Outcome::new(event, self.decision, self.status, self.bytes);
        let noted = self.endings.note(&outcome);
        if let Some(watched) = self.watched.take() {
            watched.ended(event, noted.is_ok());
        }
    }
}

impl std::fmt::Debug for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Ending({:?})", self.event)
    }
}
