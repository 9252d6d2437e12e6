//! Days, months and rhythms in what a customer typed.

use std::ops::Range;

use time::{Date, Duration, Month};

use super::text::pattern;

/// A day as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Day {
    /// Where it stands in the text.
    pub(crate) span: Range<usize>,
    /// The day; `None` when the text could mean two days or none.
    pub(crate) date: Option<Date>,
}

const MONTHS: &str = "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec";

fn month_of(word: &str) -> Option<Month> {
    let word = word.to_lowercase();
    let three = word.get(..3)?;
    Some(match three {
        "jan" => Month::January,
        "feb" => Month::February,
        "mar" => Month::March,
        "apr" => Month::April,
        "may" => Month::May,
        "jun" => Month::June,
        "jul" => Month::July,
        "aug" => Month::August,
        "sep" => Month::September,
        "oct" => Month::October,
        "nov" => Month::November,
        "dec" => Month::December,
        _ => return None,
    })
}

/// Every day of a text, in order. A day without a year is the next such day, today included.
pub(crate) fn days(text: &str, today: Date) -> Vec<Day> {
    let written = pattern!(&format!(
        r"\b(?P<y>\d{{4}})-(?P<m>\d{{2}})-(?P<d>\d{{2}})\b|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{MONTHS})\b\.?(?:,? (?P<y1>\d{{4}})\b)?|\b(?P<m2>{MONTHS})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y2>\d{{4}})\b)?|\b\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d{{2}})\b|\bthe (?P<d3>\d{{1,2}})(?:st|nd|rd|th)\b(?: of (?:the|each|every|next) month)?|\b(?P<word>today|tomorrow)\b"
    ));
    written
        .captures_iter(text)
        .map(|captures| {
            let whole = captures.get(0).expect("a match has a whole");
            let number = |name: &str| {
                captures
                    .name(name)
                    .and_then(|found| found.as_str().parse::<i32>().ok())
            };
            let month = |name: &str| {
                captures
                    .name(name)
                    .and_then(|found| month_of(found.as_str()))
            };
            let date = if let Some(word) = captures.name("word") {
                let ahead = i64::from(word.as_str().eq_ignore_ascii_case("tomorrow"));
                today.checked_add(Duration::days(ahead))
            } else if let (Some(y), Some(m), Some(d)) = (number("y"), number("m"), number("d")) {
                u8::try_from(m)
                    .ok()
                    .and_then(|m| Month::try_from(m).ok())
                    .and_then(|m| date(y, m, d))
            } else if let (Some(d), Some(m)) = (number("d1"), month("m1")) {
                in_year(number("y1"), m, d, today)
            } else if let (Some(d), Some(m)) = (number("d2"), month("m2")) {
                in_year(number("y2"), m, d, today)
            } else if let Some(d) = number("d3") {
                next_with_day(d, today)
            } else {
                // 03/04/2026 is two days, depending on the reader.
                None
            };
            Day {
                span: whole.range(),
                date,
            }
        })
        .collect()
}

fn date(year: i32, month: Month, day: i32) -> Option<Date> {
    Date::from_calendar_date(year, month, u8::try_from(day).ok()?).ok()
}

fn in_year(year: Option<i32>, month: Month, day: i32, today: Date) -> Option<Date> {
    if let Some(year) = year {
        return date(year, month, day);
    }
    date(today.year(), month, day)
        .filter(|date| *date >= today)
        .or_else(|| date(today.year() + 1, month, day))
}

fn next_with_day(day: i32, today: Date) -> Option<Date> {
    let (mut year, mut month) = (today.year(), today.month());
    for _ in 0..3 {
        if let Some(date) = date(year, month, day).filter(|date| *date >= today) {
            return Some(date);
        }
        if month == Month::December {
            year += 1;
        }
        month = month.next();
    }
    None
}

/// The month a question is about, as `YYYY-MM`.
pub(crate) fn month(text: &str, today: Date) -> Option<String> {
    if let Some(found) = pattern!(r"\b(20\d\d)-(0[1-9]|1[0-2])\b").find(text) {
        return Some(found.as_str().to_owned());
    }
    let of = |year: i32, month: Month| format!("{year:04}-{:02}", u8::from(month));
    if pattern!(r"\b(?:last|previous|past) month\b").is_match(text) {
        let year = today.year() - i32::from(today.month() == Month::January);
        return Some(of(year, today.month().previous()));
    }
    if pattern!(r"\b(?:this|current) month\b|\bso far\b").is_match(text) {
        return Some(of(today.year(), today.month()));
    }
    let named = pattern!(&format!(
        r"\b(?:in|for|during|of) (?:last )?(?P<m>{MONTHS})\b(?: (?P<y>20\d\d))?"
    ));
    let captures = named.captures(text)?;
    let month = month_of(&captures["m"])?;
    let year = match captures.name("y") {
        Some(year) => year.as_str().parse().ok()?,
        // The last such month that has begun.
        None => today.year() - i32::from(u8::from(month) > u8::from(today.month())),
    };
    Some(of(year, month))
}

/// How often, if the text says so.
pub(crate) fn frequency(text: &str) -> Option<&'static str> {
    let quarterly =
        pattern!(r"\bquarterly\b|\b(?:every|each|per|an?) (?:quarter|(?:three|3) months)\b");
    let weekly = pattern!(r"\bweekly\b|\b(?:every|each|per|an?) week\b");
    let monthly = pattern!(r"\bmonthly\b|\b(?:every|each|per|an?) month\b");
    let yearly = pattern!(r"\byearly\b|\bannual(?:ly)?\b|\b(?:every|each|per|an?) year\b");
    [
        (quarterly, "quarterly"),
        (weekly, "weekly"),
        (monthly, "monthly"),
        (yearly, "yearly"),
    ]
    .into_iter()
    .find(|(pattern, _)| pattern.is_match(text))
    .map(|(_, frequency)| frequency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    const TODAY: Date = date!(2026 - 11 - 30);

    #[test]
    fn a_day_without_a_year_is_the_next_one() {
        for (text, day) in [
            ("from 1 December", Some(date!(2026 - 12 - 01))),
            ("from the 1st of December", Some(date!(2026 - 12 - 01))),
            ("starting December 1st", Some(date!(2026 - 12 - 01))),
            ("on 2027-02-28", Some(date!(2027 - 02 - 28))),
            ("from 15 March", Some(date!(2027 - 03 - 15))),
            ("from March 15, 2028", Some(date!(2028 - 03 - 15))),
            ("on the 1st of the month", Some(date!(2026 - 12 - 01))),
            ("on the 31st", Some(date!(2026 - 12 - 31))),
            ("tomorrow", Some(date!(2026 - 12 - 01))),
            ("31 February", None),
            ("03/04/2027", None),
        ] {
            assert_eq!(days(text, TODAY)[0].date, day, "{text}");
        }
        assert!(days("I may send 20", TODAY).is_empty());
    }

    #[test]
    fn a_question_names_its_month() {
        for (text, month_text) in [
            ("last month", Some("2026-10")),
            ("this month", Some("2026-11")),
            ("in October", Some("2026-10")),
            ("in December", Some("2025-12")),
            ("in March 2026", Some("2026-03")),
            ("2026-05", Some("2026-05")),
            ("on groceries", None),
        ] {
            assert_eq!(month(text, TODAY).as_deref(), month_text, "{text}");
        }
        assert_eq!(
            month("last month", date!(2026 - 01 - 05)).as_deref(),
            Some("2025-12")
        );
    }

    #[test]
    fn a_rhythm_is_read() {
        for (text, rhythm) in [
            ("a monthly standing order", Some("monthly")),
            ("50 every week", Some("weekly")),
            ("once a year", Some("yearly")),
            ("every three months", Some("quarterly")),
            ("send 20 to Bob", None),
        ] {
            assert_eq!(frequency(text), rhythm, "{text}");
        }
    }
}
