//! How many messages a customer may send. Counted per process: with N replicas the cap is N times as wide.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use countersign_domain::CustomerId;

/// Most messages in one [`WINDOW`], unless the config says otherwise.
pub const MESSAGES_PER_MINUTE_MAX: usize = 30;
/// The window the messages are counted in.
pub const WINDOW: Duration = Duration::from_secs(60);
/// Most customers remembered. Above it those whose window is over are forgotten first.
const CUSTOMERS_MAX: usize = 10_000;

/// The latest messages of each customer.
#[derive(Debug)]
pub struct Rates {
    messages_max: usize,
    times: Mutex<HashMap<CustomerId, VecDeque<Instant>>>,
}

impl Rates {
    /// Counts up to `messages_max` in one [`WINDOW`].
    pub fn new(messages_max: usize) -> Self {
        Self {
            messages_max,
            times: Mutex::default(),
        }
    }

    /// Counts a message at `now` and answers whether it is within the cap. A refused one is not counted.
    pub fn admit(&self, customer: CustomerId, now: Instant) -> bool {
        let mut all = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= CUSTOMERS_MAX && !all.contains_key(&customer) {
            all.retain(|_, times| {
                times
                    .back()
                    .is_some_and(|last| now.duration_since(*last) < WINDOW)
            });
            if all.len() >= CUSTOMERS_MAX {
                return false;
            }
        }
        let times = all.entry(customer).or_default();
        while times
            .front()
            .is_some_and(|first| now.duration_since(*first) >= WINDOW)
        {
            times.pop_front();
        }
        if times.len() >= self.messages_max {
            return false;
        }
        times.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customers_flood_does_not_stop_another() {
        let rates = Rates::new(MESSAGES_PER_MINUTE_MAX);
        let now = Instant::now();
        let id = |n| CustomerId::from_uuid(uuid::Uuid::from_u128(n));
        for _ in 0..MESSAGES_PER_MINUTE_MAX {
            assert!(rates.admit(id(1), now));
        }
        assert!(!rates.admit(id(1), now));
        assert!(rates.admit(id(2), now));
        assert!(!rates.admit(id(1), now + WINDOW - Duration::from_millis(1)));
        assert!(rates.admit(id(1), now + WINDOW));
    }
}
