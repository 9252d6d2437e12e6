//! The one place that reads the clock.

use time::{Date, OffsetDateTime};

/// Today, in UTC. It is only for "last month" and "from 1 December"; the bank counts days by its own clock.
pub fn today() -> Date {
    OffsetDateTime::now_utc().date()
}
