//! Days: the year a date without one means, and the day a message was sent.

use crate::{amounts::WITHOUT_YEAR, masks::real_day};

/// Year, month and day (UTC) of a moment in seconds since 1970.
pub(crate) fn day_of(unix_seconds: i64) -> (i32, u8, u8) {
    // Days are counted from 1 March of the year 0, so that leap days come last.
    let days = unix_seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (
        i32::try_from(year).unwrap_or(0),
        u8::try_from(month).unwrap_or(0),
        u8::try_from(day).unwrap_or(0),
    )
}

/// A date without its year is the next such day from the message on.
pub(crate) fn resolve(date: (i32, u8, u8), sent_at_unix_seconds: i64) -> Option<(i32, u8, u8)> {
    let (year, month, day) = date;
    if year != WITHOUT_YEAR {
        return Some(date);
    }
    let (this_year, this_month, this_day) = day_of(sent_at_unix_seconds);
    let passed = (month, day) < (this_month, this_day);
    real_day(this_year + i32::from(passed), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_is_right_at_its_edges() {
        assert_eq!(day_of(0), (1970, 1, 1));
        assert_eq!(day_of(951_782_400), (2000, 2, 29));
        assert_eq!(day_of(951_868_800), (2000, 3, 1));
        assert_eq!(day_of(1_798_761_599), (2026, 12, 31));
    }

    #[test]
    fn a_day_without_a_year_is_the_next_one() {
        let sent = 1_796_000_000; // 29 November 2026
        assert_eq!(resolve((WITHOUT_YEAR, 3, 15), sent), Some((2027, 3, 15)));
        assert_eq!(resolve((WITHOUT_YEAR, 12, 1), sent), Some((2026, 12, 1)));
        assert_eq!(resolve((WITHOUT_YEAR, 2, 29), sent), None);
    }
}
