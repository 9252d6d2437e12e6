//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The time of day: RFC 3339, UTC, milliseconds.
pub fn timestamp() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let now = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let text = now.format(&Rfc3339).unwrap_or_default();
    format!(
        "{}.{:03}Z",
        text.trim_end_matches('Z'),
        since.subsec_millis()
    )
}

/// Milliseconds from one time to another, when both are times.
pub fn milliseconds_between(from: &str, to: &str) -> Option<i64> {
    let read = |text| OffsetDateTime::parse(text, &Rfc3339).ok();
    i64::try_from((read(to)? - read(from)?).whole_milliseconds()).ok()
}
