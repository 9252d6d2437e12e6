//! Days, as policies write them.

/// The first second of a day written `YYYY-MM-DD`, since 1970-01-01 (UTC).
pub(crate) fn unix_seconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let number = |digits: &str| -> Option<i64> {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (
        number(text.get(0..4)?)?,
        number(text.get(5..7)?)?,
        number(text.get(8..10)?)?,
    );
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 1970 || !(1..=days_of_month).contains(&day) {
        return None;
    }
    // Years counted from March, so that a leap day is the last day of its year.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let days_before_month = (153 * month + 2) / 5;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + days_before_month + day - 1;
    // Days from 0000-03-01 to 1970-01-01.
    Some((days - 719_468) * 86_400)
}

#[cfg(test)]
mod tests {
    use super::unix_seconds;

    #[test]
    fn days_are_days() {
        for (text, seconds) in [
            ("1970-01-01", Some(0)),
            ("1970-03-01", Some(59 * 86_400)),
            ("2024-02-29", Some(1_709_164_800)),
            ("2026-11-30", Some(1_795_996_800)),
            ("2023-02-29", None),
            ("2026-13-01", None),
            ("2026-00-10", None),
            ("2026-1-1", None),
            ("2026/01/01", None),
            ("", None),
            ("9999-99-99", None),
            ("+026-01-01", None),
        ] {
            assert_eq!(unix_seconds(text), seconds, "{text}");
        }
    }
}
