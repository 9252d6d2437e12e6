//! Waits for the disk in another thread's place.
//!
//! A lone call is settled by the thread that took it, which pays one wait for the disk and no hand-over. Where several
//! are open, those that come while the disk works are judged meanwhile and settled together afterwards.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Thread;

use crate::session::Session;

/// A thread that settles what a session has staged, all of it at a time.
pub struct Settler {
    thread: Thread,
    /// 0 while there is nothing to do, 1 while it settles, 2 when more came since.
    asked: Arc<AtomicUsize>,
}

impl Settler {
    /// Starts the thread. It keeps no session alive, and waits until the process ends.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start(session: &Arc<Session>) -> std::io::Result<Self> {
        let asked = Arc::new(AtomicUsize::new(0));
        let (session, waits) = (Arc::downgrade(session), Arc::clone(&asked));
        let started = std::thread::Builder::new()
            .name("settles".into())
            .stack_size(256 << 10)
            .spawn(move || settle(&session, &waits))?;
        Ok(Self {
            thread: started.thread().clone(),
            asked,
        })
    }

    /// Whether everything is settled that was asked for.
    pub fn is_idle(&self) -> bool {
        self.asked.load(Ordering::SeqCst) == 0
    }

    /// Settles what is staged now, soon.
    pub fn settle(&self) {
        if self.asked.swap(2, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
    }
}

fn settle(session: &Weak<Session>, asked: &AtomicUsize) {
    loop {
        while asked.load(Ordering::SeqCst) == 0 {
            std::thread::park();
        }
        let Some(session) = session.upgrade() else {
            return;
        };
        asked.store(1, Ordering::SeqCst);
        session.flush();
        // What came since is settled in the next round.
        let _ = asked.compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst);
    }
}
