//! Instants as the format writes them: `YYYY-MM-DDTHH:mm:ss.sssZ`, a real date.

/// Whether a text is an instant in that one spelling.
#[must_use]
pub fn is_instant(text: &str) -> bool {
    milliseconds(text).is_some()
}

/// Milliseconds since 1970 of an instant in that one spelling.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let form = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        10 => *byte == b'T',
        13 | 16 => *byte == b':',
        19 => *byte == b'.',
        23 => *byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    if bytes.len() != 24 || !bytes.iter().enumerate().all(form) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_in_month = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if day < 1 || day > days_in_month || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970, in years that begin in March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000 + number(20, 23)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_one_spelling_and_are_real() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(
            milliseconds("2026-11-30T08:00:00.250Z"),
            Some(1_796_025_600_250)
        );
        for text in [
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-11-30T24:00:00.000Z",
            "2026-11-30T08:00:00Z",
            "2026-11-30 08:00:00.000Z",
            "+026-11-30T08:00:00.000Z",
            "",
        ] {
            assert!(!is_instant(text), "{text}");
        }
        assert!(is_instant("2024-02-29T23:59:59.999Z"));
    }
}
