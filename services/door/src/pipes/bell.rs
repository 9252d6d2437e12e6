//! Calls a thread that waits for what pipes say.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// A pipe to a thread's own wait: something changed that no other pipe tells it of.
pub struct Bell {
    hears: PipeReader,
    rings: PipeWriter,
    /// It rang, and nobody heard it yet.
    is_rung: AtomicBool,
}

impl Bell {
    /// A bell that has not rung.
    ///
    /// # Errors
    /// When there is no pipe.
    pub fn new() -> std::io::Result<Self> {
        let (hears, rings) = std::io::pipe()?;
        Ok(Self {
            hears,
            rings,
            is_rung: AtomicBool::new(false),
        })
    }

    /// Wakes whoever waits. What changed must be there to see before.
    pub fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::SeqCst) {
            // One byte at a time is in the pipe: it never waits.
            let _ = (&self.rings).write(&[1]);
        }
    }

    /// Takes note that it rang. Everything it may ring for is looked at afterwards.
    pub fn hear(&self) {
        let _ = (&self.hears).read(&mut [0; 8]);
        self.is_rung.store(false, Ordering::SeqCst);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.hears.as_fd()
    }
}
