//! What caps have counted so far.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::cap::{Cap, CapProblem};
use crate::decimal::Decimal;

/// Seconds of a day; days are counted in UTC.
const DAY_SECONDS: i64 = 86_400;
/// Most sums kept; beyond it calls are refused rather than forgotten.
const SUMS_MAX: usize = 50_000;
/// A session that counted nothing for so many days is over.
const SESSION_DAYS_MAX: i64 = 7;

/// The time a sum is kept over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CapWindow {
    /// One day of one identity: its number since 1970-01-01 (UTC).
    Day(i64),
    /// One session.
    Session(Box<str>),
}

/// One sum: which cap, whose, over which time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CapKey {
    /// The line of the policy the cap stands in.
    pub rule: Box<str>,
    /// Whose calls.
    pub identity: Box<str>,
    /// Over which time.
    pub window: CapWindow,
}

/// What one decision counted. Give it back to [`CapLedger::give_back`] when the call never ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    counted: Vec<(CapKey, Decimal)>,
}

impl Reservation {
    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }

    /// What was counted, sum by sum.
    pub fn counted(&self) -> impl Iterator<Item = (&CapKey, Decimal)> {
        self.counted.iter().map(|(key, amount)| (key, *amount))
    }
}

/// The sums of all caps. One ledger outlives reloads of the policy: sums are kept by the names of
/// rules. Replicas count on their own.
#[derive(Debug, Default)]
pub struct CapLedger {
    sums: Mutex<HashMap<CapKey, Sum>>,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    amount: Decimal,
    last_day: i64,
}

/// Whose call is counted, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting<'a> {
    pub identity: &'a str,
    pub session: Option<&'a str>,
    pub unix_seconds: i64,
}

impl CapLedger {
    /// A ledger in which nothing is counted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts an amount under every window of these caps, or under none when one of them would be
    /// reached.
    pub(crate) fn reserve(
        &self,
        amounts: &[(&Cap, Decimal)],
        counting: Counting<'_>,
    ) -> Result<Reservation, (usize, CapProblem)> {
        let day = counting.unix_seconds.div_euclid(DAY_SECONDS);
        // Plain sums: a panic elsewhere leaves them as good as before.
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counted: Vec<(CapKey, Decimal)> = Vec::new();
        for (at, (cap, amount)) in amounts.iter().enumerate() {
            let session = counting.session.map(|id| CapWindow::Session(id.into()));
            let windows = [
                (cap.per_day, Some(CapWindow::Day(day)), CapProblem::PerDay),
                (cap.per_session, session, CapProblem::PerSession),
            ];
            for (limit, window, problem) in windows {
                let Some(limit) = limit else { continue };
                let key = CapKey {
                    rule: cap.rule.clone(),
                    identity: counting.identity.into(),
                    window: window.ok_or((at, problem))?,
                };
                let before = sums.get(&key).map_or(Decimal::ZERO, |sum| sum.amount);
                match before.checked_add(*amount) {
                    Some(after) if after < limit => counted.push((key, *amount)),
                    _ => return Err((at, problem)),
                }
            }
        }
        if sums.len() + counted.len() > SUMS_MAX {
            sums.retain(|key, sum| match key.window {
                CapWindow::Day(of) => of >= day,
                CapWindow::Session(_) => sum.last_day.saturating_add(SESSION_DAYS_MAX) >= day,
            });
            if sums.len() + counted.len() > SUMS_MAX {
                return Err((0, CapProblem::NotCounted));
            }
        }
        for (key, amount) in &counted {
            let sum = sums.entry(key.clone()).or_insert(Sum {
                amount: Decimal::ZERO,
                last_day: day,
            });
            // It fitted below the limit a moment ago, under the same lock.
            sum.amount = sum.amount.checked_add(*amount).unwrap_or(sum.amount);
            sum.last_day = day;
        }
        Ok(Reservation { counted })
    }

    /// Takes back what a decision counted, for a call that never ran. A reservation is given back
    /// by value: once.
    pub fn give_back(&self, reservation: Reservation) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, amount) in reservation.counted {
            if let Some(sum) = sums.get_mut(&key) {
                sum.amount = sum.amount.less(amount);
            }
        }
    }

    /// What a cap has counted.
    #[must_use]
    pub fn sum(&self, key: &CapKey) -> Decimal {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.get(key).map_or(Decimal::ZERO, |sum| sum.amount)
    }

    /// All sums, to be written down.
    #[must_use]
    pub fn sums(&self) -> Vec<(CapKey, Decimal)> {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.iter()
            .map(|(key, sum)| (key.clone(), sum.amount))
            .collect()
    }

    /// Takes in sums that were written down, on top of what is there. Sums that are too large to
    /// add become as large as can be kept: they refuse.
    pub fn restore(&self, written: impl IntoIterator<Item = (CapKey, Decimal)>, unix_seconds: i64) {
        let day = unix_seconds.div_euclid(DAY_SECONDS);
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, amount) in written {
            let sum = sums.entry(key).or_insert(Sum {
                amount: Decimal::ZERO,
                last_day: day,
            });
            sum.amount = sum.amount.checked_add(amount).unwrap_or(Decimal::MAX);
        }
    }
}
