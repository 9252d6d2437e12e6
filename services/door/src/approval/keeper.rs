//! A thread that ends what is due. It starts with the first hold and sleeps until the next deadline.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::holds::Holds;
use crate::clock::Now;

/// How long it sleeps at most. Nobody waits for this: every change wakes it.
const SLEEP_MAX: Duration = Duration::from_secs(3_600);

/// The thread's other end.
pub struct Keeper {
    holds: Weak<Holds>,
    woken: Arc<(Mutex<Woken>, Condvar)>,
}

#[derive(Default)]
struct Woken {
    started: bool,
    changed: bool,
}

impl Keeper {
    /// A keeper that has not started yet.
    pub fn new(holds: Weak<Holds>) -> Self {
        Self {
            holds,
            woken: Arc::default(),
        }
    }

    /// Something changed: the next deadline may be another one.
    pub fn wake(&self) {
        let (woken, condition) = &*self.woken;
        let mut state = woken.lock().unwrap_or_else(PoisonError::into_inner);
        state.changed = true;
        condition.notify_one();
        if state.started {
            return;
        }
        let (holds, woken) = (self.holds.clone(), Arc::clone(&self.woken));
        let thread = std::thread::Builder::new()
            .name("holds".into())
            .spawn(move || keep(&holds, &woken));
        match thread {
            Ok(_) => state.started = true,
            // Nothing passes without it: a hold that nobody ends is one that nobody released, and
            // every decision looks at the deadline itself.
            Err(error) => tracing::error!(%error, "No thread to end holds that are due"),
        }
    }
}

fn keep(holds: &Weak<Holds>, woken: &(Mutex<Woken>, Condvar)) {
    let (woken, condition) = woken;
    loop {
        let now = Now::read();
        // Strong only while it works, so that the door's end is the keeper's.
        let Some(next) = holds.upgrade().map(|holds| holds.sweep(now)) else {
            return;
        };
        let sleep = next.map_or(SLEEP_MAX, |at| {
            Duration::from_millis(at.saturating_sub(now.monotonic_milliseconds)).min(SLEEP_MAX)
        });
        let state = woken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut state, _) = condition
            .wait_timeout_while(state, sleep, |state| !state.changed)
            .unwrap_or_else(PoisonError::into_inner);
        state.changed = false;
    }
}
