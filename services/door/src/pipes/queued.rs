//! The way to one of several servers on its standard input: whoever speaks to it never waits for it.

use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::lines::push_line;
use crate::session::Back;

/// Most bytes that wait for a server that does not read. Beyond, it is stuck and is ended.
const WAITING_BYTES_MAX: usize = 16 << 20;

/// Messages on their way to a program, written by a thread of their own. It outlives the process.
#[derive(Default)]
pub struct QueuedInput {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    pipe: Option<Arc<ChildStdin>>,
    is_over: bool,
    is_stuck: bool,
}

impl QueuedInput {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start(server: &str) -> std::io::Result<Arc<Self>> {
        let input = Arc::new(Self::default());
        let writing = Arc::clone(&input);
        std::thread::Builder::new()
            .name(format!("to {server}"))
            .stack_size(128 << 10)
            .spawn(move || writing.write())?;
        Ok(input)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages go to this process from now on; what waited for an earlier one is gone.
    pub fn open(&self, pipe: ChildStdin) {
        let mut state = self.state();
        state.waiting.clear();
        state.is_stuck = false;
        state.pipe = Some(Arc::new(pipe));
    }

    /// Messages go nowhere, and the process sees the end of its input once what is being written is.
    pub fn close(&self) {
        let mut state = self.state();
        state.waiting.clear();
        state.pipe = None;
    }

    /// What waits is written, and then the input ends and the thread with it.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Whether more waits than a server may let wait.
    pub fn is_stuck(&self) -> bool {
        self.state().is_stuck
    }

    fn write(&self) {
        let mut state = self.state();
        loop {
            if !state.waiting.is_empty()
                && let Some(pipe) = state.pipe.clone()
            {
                let waiting = std::mem::take(&mut state.waiting);
                drop(state);
                // A server that reads no more has ended or soon has: its reader says so.
                let written = (&*pipe).write_all(&waiting);
                drop(pipe);
                state = self.state();
                if written.is_err() {
                    state.pipe = None;
                }
                continue;
            }
            if state.is_over {
                state.pipe = None;
                return;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Back for QueuedInput {
    fn put(&self, message: &[u8]) {
        let mut state = self.state();
        if state.pipe.is_none() || state.is_stuck {
            return;
        }
        if state.waiting.len() + message.len() > WAITING_BYTES_MAX {
            state.is_stuck = true;
            return;
        }
        push_line(&mut state.waiting, message);
    }

    fn flush(&self) {
        self.changed.notify_one();
    }
}
