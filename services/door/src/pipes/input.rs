//! The way to a server on its standard input, for those who may wait for it.

use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::{Mutex, PoisonError};

use super::lines::push_line;
use crate::session::Back;

/// What is kept of the buffer between two writes, in bytes.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// The way to a server on its standard input. It outlives the process: another one may take over.
#[derive(Default)]
pub struct StandardInput(Mutex<State>);

#[derive(Default)]
struct State {
    pipe: Option<ChildStdin>,
    buffer: Vec<u8>,
}

impl StandardInput {
    /// Messages go to this process from now on.
    pub fn open(&self, pipe: ChildStdin) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.buffer.clear();
        state.pipe = Some(pipe);
    }

    /// Messages go nowhere any more, and the process sees the end of its input.
    pub fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pipe = None;
    }
}

impl Back for StandardInput {
    fn put(&self, message: &[u8]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        push_line(&mut state.buffer, message);
    }

    fn flush(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { pipe, buffer } = &mut *state;
        if buffer.is_empty() {
            return;
        }
        // A server that reads no more has ended or soon has: its reader says so.
        if let Some(open) = pipe
            && open.write_all(buffer).is_err()
        {
            *pipe = None;
        }
        buffer.clear();
        buffer.shrink_to(KEPT_BYTES_MAX);
    }
}
