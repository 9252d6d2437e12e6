//! Waiting for the disk together: whoever comes first syncs for all that were written so far.
//!
//! No thread of its own: the one who waits does the work, so a lone call pays one sync and no
//! hand-over.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::WriteError;

/// What is known of the disk.
#[derive(Debug, Default)]
struct Known {
    /// So many lines are on the disk.
    done: u64,
    /// Counts the times that lines were taken back.
    epoch: u64,
    /// Somebody is syncing.
    led: bool,
}

/// The waiting room.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    known: Mutex<Known>,
    changed: Condvar,
}

/// How one sync ended: so many lines are on the disk, or the lines since were taken back.
pub(crate) enum Synced {
    Until(u64),
    TakenBack { epoch: u64 },
}

impl Batches {
    /// Waits until `size` lines, counted in `epoch`, are on the disk. `sync` asks the disk.
    pub fn wait(&self, size: u64, epoch: u64, sync: impl Fn() -> Synced) -> Result<(), WriteError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if known.epoch > epoch {
                return Err(WriteError::Unsettled);
            }
            if known.epoch == epoch && known.done >= size {
                return Ok(());
            }
            if known.led {
                known = self
                    .changed
                    .wait(known)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            known.led = true;
            drop(known);
            let synced = sync();
            known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.led = false;
            match synced {
                Synced::Until(size) => known.done = known.done.max(size),
                Synced::TakenBack { epoch } => known.epoch = known.epoch.max(epoch),
            }
            self.changed.notify_all();
        }
    }
}
