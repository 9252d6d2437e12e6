//! How many calls in the last minute.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// The window of every limit, in milliseconds.
const WINDOW_MILLISECONDS: u64 = 60_000;
/// Most counters kept; beyond it calls are refused rather than forgotten.
const COUNTERS_MAX: usize = 50_000;

/// Counts calls of this process. Replicas count on their own.
#[derive(Debug, Default)]
pub struct RateLimiter {
    hasher: RandomState,
    /// The times of the calls of the last minute, under a keyed hash of who and what. Two that
    /// share a hash share a counter, which can only refuse more.
    counters: Mutex<HashMap<u64, VecDeque<u64>>>,
}

impl RateLimiter {
    /// A limiter that has counted nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one call under every limit, or under none when one of them is reached.
    ///
    /// Each limit is (what, who) and the most calls in a minute; none counts nothing.
    pub(crate) fn take(
        &self,
        limits: &[((&str, &str), Option<u32>)],
        now_milliseconds: u64,
    ) -> bool {
        if limits.iter().all(|(_, limit)| limit.is_none()) {
            return true;
        }
        // A counter holds plain numbers: a panic elsewhere leaves it as good as before.
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let old = |time: &u64| time.saturating_add(WINDOW_MILLISECONDS) <= now_milliseconds;
        for (key, limit) in limits {
            let Some(limit) = limit else { continue };
            let key = self.hasher.hash_one(key);
            if let Some(times) = counters.get_mut(&key) {
                while times.front().is_some_and(old) {
                    times.pop_front();
                }
                if times.len() >= *limit as usize {
                    return false;
                }
            } else if counters.len() >= COUNTERS_MAX {
                counters.retain(|_, times| times.back().is_some_and(|time| !old(time)));
                if counters.len() >= COUNTERS_MAX {
                    return false;
                }
            }
        }
        for (key, limit) in limits {
            if limit.is_some() {
                let key = self.hasher.hash_one(key);
                counters.entry(key).or_default().push_back(now_milliseconds);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_minute_holds_more_than_the_limit() {
        let rates = RateLimiter::new();
        let limit = [(("tool", "ada"), Some(5))];
        let mut passed = Vec::new();
        for now in (0..200_000).step_by(1_000) {
            if rates.take(&limit, now) {
                passed.push(now);
            }
        }
        for start in (0..200_000).step_by(500) {
            let within = passed
                .iter()
                .filter(|time| (start..start + 60_000).contains(*time));
            assert!(within.count() <= 5, "{start}");
        }
        assert_eq!(passed.len(), 20);
    }

    #[test]
    fn a_call_refused_by_one_limit_counts_under_none() {
        let rates = RateLimiter::new();
        let both = [(("", "ada"), Some(3)), (("tool", "ada"), Some(1))];
        assert!(rates.take(&both, 0));
        assert!(!rates.take(&both, 0));
        assert!(!rates.take(&both, 0));
        assert!(rates.take(&[(("", "ada"), Some(3))], 0));
        assert!(rates.take(&[(("", "ada"), Some(3))], 0));
        assert!(!rates.take(&[(("", "ada"), Some(3))], 0));
    }

    #[test]
    fn too_many_identities_are_refused_until_some_are_old() {
        let rates = RateLimiter::new();
        for number in 0..COUNTERS_MAX {
            assert!(rates.take(&[(("tool", &number.to_string()), Some(1))], 0));
        }
        assert!(!rates.take(&[(("tool", "one more"), Some(1))], 1));
        assert!(rates.take(&[(("tool", "one more"), Some(1))], 60_000));
    }
}
