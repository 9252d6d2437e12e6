//! A file of keys that is looked at once a second, by whoever uses it.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use crate::KeysError;

/// How long what was read stays in force while the file cannot be read, in seconds. After that nothing is.
pub const STALE_SECONDS_MAX: u64 = 60;

/// What a file says, read again when it changed.
pub(crate) struct Watched<T> {
    path: PathBuf,
    read: fn(&Path) -> Result<T, KeysError>,
    /// The second of the last look.
    looked_at: AtomicU64,
    readings: AtomicU64,
    state: RwLock<State<T>>,
}

struct State<T> {
    value: Arc<T>,
    seen: Option<Stamp>,
    failing_since: Option<u64>,
}

/// What tells one state of a file from another; a file put in its place has another number.
type Stamp = (SystemTime, u64, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

impl<T> Watched<T> {
    /// Reads the file for the first time.
    pub(crate) fn open(
        path: PathBuf,
        read: fn(&Path) -> Result<T, KeysError>,
        now: u64,
    ) -> Result<Self, KeysError> {
        let seen = stamp(&path);
        let value = Arc::new(read(&path)?);
        Ok(Self {
            path,
            read,
            looked_at: AtomicU64::new(now),
            readings: AtomicU64::new(1),
            state: RwLock::new(State {
                value,
                seen,
                failing_since: None,
            }),
        })
    }

    /// What the file says at this second; none once it could not be read for too long.
    pub(crate) fn current(&self, now: u64) -> Option<Arc<T>> {
        if self.looked_at.swap(now, Ordering::AcqRel) != now {
            self.look(now);
        }
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = state
            .failing_since
            .is_none_or(|since| now.saturating_sub(since) < STALE_SECONDS_MAX);
        is_fresh.then(|| Arc::clone(&state.value))
    }

    /// How often the file was read.
    pub(crate) fn readings(&self) -> u64 {
        self.readings.load(Ordering::Acquire)
    }

    fn look(&self, now: u64) {
        let seen = stamp(&self.path);
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if state.seen == seen && seen.is_some() && state.failing_since.is_none() {
                return;
            }
        }
        self.readings.fetch_add(1, Ordering::AcqRel);
        let read = (self.read)(&self.path);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(value) => {
                tracing::info!(path = %self.path.display(), "Read the keys again");
                *state = State {
                    value: Arc::new(value),
                    seen,
                    failing_since: None,
                };
            }
            Err(error) => {
                if state.failing_since.is_none() {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "The keys cannot be read; what was read before counts for {STALE_SECONDS_MAX} s more"
                    );
                }
                state.failing_since.get_or_insert(now);
            }
        }
    }
}

impl<T> std::fmt::Debug for Watched<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Watched({})", self.path.display())
    }
}
