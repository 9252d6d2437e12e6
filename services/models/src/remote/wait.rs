//! How long to wait before a request is sent again.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The first wait.
const FIRST: Duration = Duration::from_millis(400);
/// The longest wait of our own choosing.
const LONGEST: Duration = Duration::from_secs(8);
/// The longest wait a server may ask for; more is a no.
pub(super) const ASKED_MAX: Duration = Duration::from_secs(20);

/// The wait before try `tries + 1`: doubled each time, and up to a half taken off so that many do not come back at once.
/// `chance` is a random byte.
pub(super) fn own(tries: u32, chance: u8) -> Duration {
    let whole = FIRST.saturating_mul(1 << tries.min(8)).min(LONGEST);
    whole - whole / 2 * u32::from(chance) / 255
}

/// The wait a server asks for (RFC 9110, section 10.2.3): seconds or a date.
pub(super) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        assert_eq!(own(0, 0), FIRST);
        assert_eq!(own(0, 255), FIRST / 2);
        assert_eq!(own(2, 0), FIRST * 4);
        assert_eq!(own(30, 0), LONGEST);
    }

    #[test]
    fn a_server_asks_in_seconds_or_with_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let of = |text: &str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            asked(&headers, now)
        };
        assert_eq!(of("3"), Some(Duration::from_secs(3)));
        assert_eq!(
            of("Sun, 06 Nov 1994 08:49:47 GMT"),
            Some(Duration::from_secs(10))
        );
        assert_eq!(of("Sun, 06 Nov 1994 08:49:00 GMT"), Some(Duration::ZERO));
        assert_eq!(of("soon"), None);
        assert_eq!(of("-1"), None);
        assert_eq!(asked(&HeaderMap::new(), now), None);
    }
}
