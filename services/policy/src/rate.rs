//! How many calls in the last minute.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// The window of every limit, in milliseconds.
const WINDOW_MILLISECONDS: u64 = 60_000;
/// Most calls whose times are remembered one by one. Beyond that they are counted by the second,
/// which can only refuse a little more.
const TIMES_MAX: u32 = 1_024;
/// Most counters kept; beyond it calls are refused rather than forgotten.
const COUNTERS_MAX: usize = 50_000;

/// Counts calls of this process. Replicas count on their own.
#[derive(Debug, Default)]
pub struct RateLimiter {
    hasher: RandomState,
    /// The calls of the last minute, under a keyed hash of who and what. Two that share a hash
    /// share a counter, which can only refuse more.
    counters: Mutex<HashMap<u64, Counter>>,
}

/// A limit: most calls of somebody of something in a minute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<'a> {
    pub what: (&'static str, &'a str),
    pub who: &'a str,
    pub most: u32,
}

/// The calls of the last minute, by time (in milliseconds, or in seconds), oldest first.
#[derive(Debug)]
struct Counter {
    by_second: bool,
    times: VecDeque<(u64, u32)>,
    sum: u64,
}

impl Counter {
    fn new(limit: u32) -> Self {
        Self {
            by_second: limit > TIMES_MAX,
            times: VecDeque::new(),
            sum: 0,
        }
    }

    /// Forgets what is older than a minute. A second is old when its last millisecond is.
    fn forget(&mut self, now: u64) {
        let age = if self.by_second { 999 } else { 0 };
        let scale = if self.by_second { 1_000 } else { 1 };
        let old = |time: u64| {
            let last = time.saturating_mul(scale).saturating_add(age);
            last.saturating_add(WINDOW_MILLISECONDS) <= now
        };
        while let Some((time, count)) = self.times.front()
            && old(*time)
        {
            self.sum -= u64::from(*count);
            self.times.pop_front();
        }
    }

    fn count(&mut self, limit: u32, now: u64) {
        if !self.by_second && limit > TIMES_MAX {
            // A reload raised the limit.
            let times = std::mem::take(&mut self.times);
            *self = Self::new(limit);
            for (time, count) in times {
                self.push(time / 1_000, count);
            }
        }
        self.push(if self.by_second { now / 1_000 } else { now }, 1);
    }

    fn push(&mut self, time: u64, more: u32) {
        self.sum += u64::from(more);
        match self.times.back_mut() {
            Some((last, count)) if *last == time => *count = count.saturating_add(more),
            _ => self.times.push_back((time, more)),
        }
    }
}

impl RateLimiter {
    /// A limiter that has counted nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one call under every limit, or under none when one of them is reached.
    pub(crate) fn take(&self, limits: &[Limit<'_>], now_milliseconds: u64) -> bool {
        if limits.is_empty() {
            return true;
        }
        let key = |limit: &Limit<'_>| self.hasher.hash_one((limit.what, limit.who));
        // A counter holds plain numbers: a panic elsewhere leaves it as good as before.
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        for limit in limits {
            if let Some(counter) = counters.get_mut(&key(limit)) {
                counter.forget(now_milliseconds);
                if counter.sum >= u64::from(limit.most) {
                    return false;
                }
            } else if counters.len() >= COUNTERS_MAX {
                counters.retain(|_, counter| {
                    counter.forget(now_milliseconds);
                    !counter.times.is_empty()
                });
                if counters.len() >= COUNTERS_MAX {
                    return false;
                }
            }
        }
        for limit in limits {
            let counter = counters
                .entry(key(limit))
                .or_insert_with(|| Counter::new(limit.most));
            counter.count(limit.most, now_milliseconds);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit<'a>(what: &'a str, who: &'a str, most: u32) -> Limit<'a> {
        Limit {
            what: ("", what),
            who,
            most,
        }
    }

    #[test]
    fn no_minute_holds_more_than_the_limit() {
        let rates = RateLimiter::new();
        let limit = [limit("tool", "ada", 5)];
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
    fn a_large_limit_is_counted_by_the_second_and_never_more() {
        let rates = RateLimiter::new();
        let limit = [limit("tool", "ada", 5_000)];
        let mut passed = Vec::new();
        for now in (0..130_000).step_by(7) {
            if rates.take(&limit, now) {
                passed.push(now);
            }
        }
        for start in (0..70_000).step_by(97) {
            let within = passed
                .iter()
                .filter(|time| (start..start + 60_000).contains(*time));
            assert!(within.count() <= 5_000, "{start}");
        }
        assert!(passed.len() > 10_000, "{}", passed.len());
        let counters = rates.counters.lock().unwrap();
        assert!(counters.values().all(|counter| counter.times.len() <= 62));
    }

    #[test]
    fn a_limit_that_is_raised_keeps_what_was_counted() {
        let rates = RateLimiter::new();
        for _ in 0..5 {
            assert!(rates.take(&[limit("tool", "ada", 5)], 500));
        }
        assert!(!rates.take(&[limit("tool", "ada", 5)], 500));
        assert!(rates.take(&[limit("tool", "ada", 2_000)], 500));
        assert!(!rates.take(&[limit("tool", "ada", 6)], 500));
    }

    #[test]
    fn a_call_refused_by_one_limit_counts_under_none() {
        let rates = RateLimiter::new();
        let all = limit("", "ada", 3);
        let both = [all, limit("tool", "ada", 1)];
        assert!(rates.take(&both, 0));
        assert!(!rates.take(&both, 0));
        assert!(!rates.take(&both, 0));
        assert!(rates.take(&[all], 0));
        assert!(rates.take(&[all], 0));
        assert!(!rates.take(&[all], 0));
    }

    #[test]
    fn too_many_identities_are_refused_until_some_are_old() {
        let rates = RateLimiter::new();
        for number in 0..COUNTERS_MAX {
            assert!(rates.take(&[limit("tool", &number.to_string(), 1)], 0));
        }
        assert!(!rates.take(&[limit("tool", "one more", 1)], 1));
        assert!(rates.take(&[limit("tool", "one more", 1)], 60_000));
    }
}
