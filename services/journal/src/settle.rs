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
    /// Lines were taken back before anybody asked the disk for them.
    pub fn taken_back(&self, epoch: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.epoch = known.epoch.max(epoch);
        self.changed.notify_all();
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn many_who_wait_share_few_syncs() {
        let batches = Batches::default();
        let (written, syncs) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..32 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let size = written.fetch_add(1, Ordering::SeqCst) + 1;
                        let sync = || {
                            let until = written.load(Ordering::SeqCst);
                            syncs.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(std::time::Duration::from_micros(300));
                            Synced::Until(until)
                        };
                        batches.wait(size, 0, sync).unwrap();
                    }
                });
            }
        });
        assert!(
            syncs.load(Ordering::SeqCst) < 320,
            "{syncs:?} for 640 lines"
        );
    }

    #[test]
    fn nobody_is_told_that_a_line_is_there_which_was_taken_back() {
        let batches = Batches::default();
        batches.wait(3, 0, || Synced::Until(3)).unwrap();
        let failed = batches.wait(5, 0, || Synced::TakenBack { epoch: 1 });
        assert!(matches!(failed, Err(WriteError::Unsettled)));
        // Whoever waited for the same batch is told the same without asking the disk again.
        let other = batches.wait(4, 0, || panic!("asked again"));
        assert!(matches!(other, Err(WriteError::Unsettled)));
        // Lines written afterwards have the same numbers and wait for a sync of their own.
        batches.wait(4, 1, || Synced::Until(4)).unwrap();
        batches.wait(4, 1, || panic!("asked again")).unwrap();
    }
}
