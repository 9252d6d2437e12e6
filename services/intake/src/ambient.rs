//! The two things the process takes from outside by itself: the time and randomness. Nothing else reads them.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// Whole seconds since 1970, for the tokens. What the database compares, it compares by its own clock.
pub fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Bytes nobody can guess.
///
/// # Panics
/// When the system has no randomness to give. Going on without it would make guessable secrets.
pub fn random<const LENGTH: usize>() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).expect("the system's random source answers");
    bytes
}

/// A fresh id for a row; ids of one process sort by time.
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}
