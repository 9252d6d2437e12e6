//! E-mail and IP addresses: opt-in, since many texts need theirs.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::place::{is_free_after, is_word};

/// Longest local part and longest domain (RFC 5321).
const LOCAL_LENGTH_MAX: usize = 64;
const DOMAIN_LENGTH_MAX: usize = 255;
/// Longest IPv6 address with an IPv4 tail, in characters.
const IPV6_LENGTH_MAX: usize = 45;

/// The address around an `@`.
pub(super) fn email_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_local = |byte: &&u8| {
        is_word(**byte)
            || matches!(
                **byte,
                b'.' | b'+' | b'-' | b'\'' | b'%' | b'!' | b'#' | b'&' | b'=' | b'~'
            )
    };
    let local = text[..at]
        .iter()
        .rev()
        .take(LOCAL_LENGTH_MAX)
        .take_while(is_local)
        .count();
    let start = at - local;
    let skipped = text[start..at]
        .iter()
        .take_while(|byte| !is_word(**byte))
        .count();
    let start = start + skipped;
    let is_domain = |byte: &&u8| is_word(**byte) || matches!(**byte, b'.' | b'-');
    let domain = text[at + 1..]
        .iter()
        .take(DOMAIN_LENGTH_MAX)
        .take_while(is_domain)
        .count();
    let mut end = at + 1 + domain;
    while end > at + 1 && matches!(text[end - 1], b'.' | b'-' | b'_') {
        end -= 1;
    }
    let domain = &text[at + 1..end];
    let last = domain.rsplit(|byte| *byte == b'.').next()?;
    let top_level = last.len() >= 2
        && last.len() < domain.len()
        && last.iter().all(|byte| !byte.is_ascii_digit());
    (start < at && top_level && !domain.starts_with(b".")).then_some(start..end)
}

/// The IPv4 address that begins with the digits at `start`.
pub(super) fn ipv4_at(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if start > 0 && (is_word(bytes[start - 1]) || matches!(bytes[start - 1], b'.' | b'-')) {
        return None;
    }
    let length = bytes[start..]
        .iter()
        .take(16)
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let candidate = text[start..start + length].trim_end_matches('.');
    let end = start + candidate.len();
    (is_free_after(bytes, end) && candidate.parse::<Ipv4Addr>().is_ok()).then_some(start..end)
}

/// The IPv6 address around a colon, when the colon is its first.
pub(super) fn ipv6_at(text: &str, colon: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = bytes[..colon]
        .iter()
        .rev()
        .take(5)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let start = colon - before;
    if start > 0 && (is_word(bytes[start - 1]) || matches!(bytes[start - 1], b':' | b'.')) {
        return None;
    }
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(**byte, b':' | b'.');
    let length = bytes[start..]
        .iter()
        .take(IPV6_LENGTH_MAX + 1)
        .take_while(is_part)
        .count();
    let candidate = text[start..start + length].trim_end_matches('.');
    let end = start + candidate.len();
    // `::` alone, and `a::b` of a program, are no addresses of anybody.
    let digits = candidate.bytes().any(|byte| byte.is_ascii_digit());
    let groups = candidate
        .split(':')
        .filter(|group| !group.is_empty())
        .count();
    (digits && groups >= 2 && is_free_after(bytes, end) && candidate.parse::<Ipv6Addr>().is_ok())
        .then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_people_are_found() {
        let found = |text: &str| {
            let at = text.find('@')?;
            email_at(text.as_bytes(), at).map(|span| text[span].to_owned())
        };
        for address in [
            "kim.lee@example.com",
            "a+b@mail.example.co.uk",
            "zoë@bücher.example",
            "o'brien@example.ie",
        ] {
            assert_eq!(
                found(&format!("Write to {address}.")).as_deref(),
                Some(address)
            );
            assert_eq!(found(&format!("<{address}>")).as_deref(), Some(address));
        }
        for text in [
            "@example.com",
            "a@b",
            "pay @ shop",
            "user@localhost",
            "x@1.2",
            "a@.com",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_of_machines_are_found() {
        let v4 = |text: &str| {
            let at = text.find(|c: char| c.is_ascii_digit())?;
            ipv4_at(text, at).map(|span| text[span].to_owned())
        };
        assert_eq!(v4("from 203.0.113.7.").as_deref(), Some("203.0.113.7"));
        for text in ["1.2.3", "1.2.3.4.5", "256.1.1.1", "v1.2.3.4", "30.11.2026"] {
            assert_eq!(v4(text), None, "{text}");
        }
        let v6 = |text: &str| {
            let at = text.find(':')?;
            ipv6_at(text, at).map(|span| text[span].to_owned())
        };
        assert_eq!(
            v6("at 2001:db8::8a2e:370:7334,").as_deref(),
            Some("2001:db8::8a2e:370:7334")
        );
        assert_eq!(v6("[fe80::1]").as_deref(), Some("fe80::1"));
        for text in [
            "12:05:33",
            "std::string",
            "a::b",
            "aa:bb:cc:dd:ee:ff",
            "::",
            "due: 12",
        ] {
            assert_eq!(v6(text), None, "{text}");
        }
    }
}
