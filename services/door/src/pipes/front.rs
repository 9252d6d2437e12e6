//! The client on the door's own standard output.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::lines::push_line;
use crate::session::{Front, To};

/// What is kept of the buffer between two writes, in bytes.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// Writes to the client, everything that is there with one call.
pub struct StandardOutput {
    out: File,
    buffer: Mutex<Vec<u8>>,
    is_gone: AtomicBool,
}

impl StandardOutput {
    /// The client of this process.
    ///
    /// # Errors
    /// When there is no standard output.
    pub fn new() -> std::io::Result<Self> {
        let out = std::io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self {
            out: out.into(),
            buffer: Mutex::default(),
            is_gone: AtomicBool::new(false),
        })
    }

    /// Whether the client reads no more.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

impl Front for StandardOutput {
    fn put(&self, _: To<'_>, message: &[u8]) {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        push_line(&mut buffer, message);
    }

    fn flush(&self) {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        if buffer.is_empty() {
            return;
        }
        // Written under the lock: two writers must not mix their lines.
        if (&self.out).write_all(&buffer).is_err() {
            self.is_gone.store(true, Ordering::Relaxed);
        }
        buffer.clear();
        buffer.shrink_to(KEPT_BYTES_MAX);
    }
}
