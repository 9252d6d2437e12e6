//! The one place that reads clocks and the random source.

use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;

/// For how many ids the kernel is asked at once.
const IDS_AT_ONCE: usize = 32;

/// When this process first asked for the time.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Unix seconds, for the times in tokens. Before 1970 it is 1970, when no token is valid.
pub fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Milliseconds that only go forward, for rates.
pub fn monotonic_milliseconds() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// This moment, to measure from.
pub fn stopwatch() -> Instant {
    Instant::now()
}

/// The time of day, for what others put in order.
pub fn time_of_day() -> SystemTime {
    SystemTime::now()
}

/// One moment on both clocks: the one that only goes forward, and the one that people read.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Milliseconds that only go forward, for deadlines.
    pub monotonic_milliseconds: u64,
    /// The time of day, for what is signed.
    pub utc: OffsetDateTime,
}

impl Now {
    /// This moment.
    pub fn read() -> Self {
        Self {
            monotonic_milliseconds: monotonic_milliseconds(),
            utc: OffsetDateTime::now_utc(),
        }
    }

    /// The time of day as the record writes it.
    pub fn text(self) -> String {
        rfc3339(self.utc)
    }

    /// The time of day after so long, as the record writes it.
    pub fn text_after(self, wait: std::time::Duration) -> String {
        rfc3339(self.utc + wait)
    }
}

/// The time of day in the record: RFC 3339, UTC, milliseconds.
pub fn timestamp() -> String {
    thread_local! {
        /// The second that was written down last, and how it reads up to the milliseconds.
        static SECOND: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
    }
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    SECOND.with_borrow_mut(|(second, text)| {
        // The calendar is worked out once a second, not for every line.
        if *second != since.as_secs() {
            *second = since.as_secs();
            let whole = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(*second);
            *text = rfc3339(whole);
            text.truncate("2026-11-30T08:00:00.".len());
        }
        let milliseconds = since.subsec_millis();
        let mut stamp = String::with_capacity(text.len() + 4);
        stamp.push_str(text);
        for place in [100, 10, 1] {
            stamp.push(char::from(b'0' + (milliseconds / place % 10) as u8));
        }
        stamp.push('Z');
        stamp
    })
}

/// A time in the record's one spelling.
pub fn rfc3339(now: OffsetDateTime) -> String {
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        now.year(),
        u8::from(now.month()),
        now.day(),
        now.hour(),
        now.minute(),
        now.second(),
        now.millisecond()
    )
}

/// Thirty-two random bytes, for a key.
///
/// # Errors
/// When the kernel gives none; no key is made then.
pub fn random_key() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// Sixteen random bytes.
///
/// # Errors
/// When the kernel gives none; the call is refused then.
pub fn random_id() -> Result<[u8; 16], getrandom::Error> {
    thread_local! {
        /// What the kernel gave this thread and no id has used: it is asked for many at once.
        static UNUSED: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
    }
    UNUSED.with_borrow_mut(|unused| {
        if unused.is_empty() {
            let mut bytes = [0; 16 * IDS_AT_ONCE];
            getrandom::fill(&mut bytes)?;
            unused.extend(bytes.as_chunks().0);
        }
        unused.pop().ok_or(getrandom::Error::UNEXPECTED)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_reads_as_the_calendar_says() {
        for _ in 0..50 {
            let before = rfc3339(OffsetDateTime::now_utc());
            let stamp = timestamp();
            let after = rfc3339(OffsetDateTime::now_utc());
            assert_eq!(stamp.len(), 24);
            assert!(
                before <= stamp && stamp <= after,
                "{before} {stamp} {after}"
            );
            std::thread::sleep(Duration::from_millis(27));
        }
    }
}
