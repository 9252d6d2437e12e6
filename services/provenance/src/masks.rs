//! Digits that are no amounts: account numbers, dates, times, phone numbers.

use countersign_domain::text::parse_iban;

use crate::{digits::digit_of, lexemes::Shape};

/// How dates are written in a locale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DateStyle {
    /// Whether 5/6 begins with the day; `None` where that is not known.
    pub day_first: Option<bool>,
    /// Whether "15.3." is a day.
    pub dotted: bool,
}

/// Longest IBAN, and the spaces people put into it.
const IBAN_BYTES_MAX: usize = 34 + 10;

/// An IBAN at the beginning of a text: the compact form when its checksum is right, and its length.
pub(crate) fn iban(text: &str) -> Option<(Option<String>, usize)> {
    let bytes = text.as_bytes();
    let is_head = bytes.len() >= 15
        && bytes[..2].iter().all(u8::is_ascii_alphabetic)
        && bytes[2..4].iter().all(u8::is_ascii_digit);
    if !is_head {
        return None;
    }
    let mut compact = String::new();
    let mut ends = Vec::new();
    for (at, byte) in bytes.iter().enumerate().take(IBAN_BYTES_MAX) {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' => {
                compact.push(byte.to_ascii_uppercase() as char);
                let word_ends = !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
                if word_ends && compact.len() >= 15 {
                    ends.push((at + 1, compact.len()));
                }
            }
            b' ' if bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => {}
            _ => break,
        }
    }
    for (end, length) in ends.iter().rev() {
        if let Some(iban) = parse_iban(&compact[..*length]) {
            return Some((Some(iban), *end));
        }
    }
    // Of the form, with a wrong checksum: groups with digits in them, so that a sentence is not swallowed.
    let mut end = 0;
    let mut length = 0;
    for group in text[..text.floor_char_boundary(IBAN_BYTES_MAX)].split(' ') {
        let group_end = group
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(group.len());
        let looks = group_end > 0
            && (group[..group_end].contains(|c: char| c.is_ascii_digit()) || length == 4);
        if !looks {
            break;
        }
        length += group_end;
        end += group_end + usize::from(end > 0);
        if group_end < group.len() {
            break;
        }
    }
    (length >= 15).then_some((None, end))
}

/// What a run that begins with a digit is, when it is no number: a date, time, sort code or phone number.
pub(crate) fn at_digit(text: &str, style: DateStyle) -> Option<(Shape, usize)> {
    if !text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    sort_code(text)
        .or_else(|| iso_date(text))
        .or_else(|| slashed_date(text, style))
        .or_else(|| time(text))
        .or_else(|| phone(text).map(|length| (Shape::Masked, length)))
        .or_else(|| dotted_code(text))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Whether a masked run may end here: no letter or digit goes on.
fn ends(text: &str, length: usize) -> bool {
    let mut rest = text[length..].chars();
    match rest.next() {
        None => true,
        Some('.' | ',' | '-' | '/' | ':') => !rest.next().is_some_and(|next| next.is_ascii_digit()),
        Some(next) => !next.is_alphanumeric(),
    }
}

fn sort_code(text: &str) -> Option<(Shape, usize)> {
    let bytes = text.as_bytes();
    let is_code = bytes.len() >= 8
        && [2, 5]
            .iter()
            .all(|at| bytes[*at] == b'-' || bytes[*at] == b' ')
        && bytes[2] == bytes[5]
        && [0, 1, 3, 4, 6, 7]
            .iter()
            .all(|at| bytes[*at].is_ascii_digit())
        && ends(text, 8);
    if !is_code {
        return None;
    }
    let code: String = text[..8].chars().filter(char::is_ascii_digit).collect();
    let rest = &text[8..];
    let skipped = rest.find(|c: char| c.is_ascii_digit()).filter(|at| {
        rest[..*at]
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, ' ' | ',' | ':' | '.' | '/' | '&'))
    });
    if let Some(skipped) = skipped
        && skipped <= 24
        && digits(&rest[skipped..]) == 8
        && ends(text, 8 + skipped + 8)
    {
        let account = &rest[skipped..skipped + 8];
        return Some((
            Shape::SortCode(format!("{code}/{account}")),
            8 + skipped + 8,
        ));
    }
    (bytes[2] == b'-').then_some((Shape::Masked, 8))
}

fn iso_date(text: &str) -> Option<(Shape, usize)> {
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= 10
        && digits(text) == 4
        && bytes[4] == b'-'
        && digits(&text[5..]) == 2
        && bytes[7] == b'-'
        && digits(&text[8..]) == 2
        && ends(text, 10);
    is_date.then(|| (Shape::Date(day(&text[0..4], &text[5..7], &text[8..10])), 10))
}

fn slashed_date(text: &str, style: DateStyle) -> Option<(Shape, usize)> {
    let first = digits(text);
    let mark = *text.as_bytes().get(first)?;
    if !(1..=2).contains(&first) || !matches!(mark, b'/' | b'.' | b'-') {
        return None;
    }
    let second = digits(&text[first + 1..]);
    let after = first + 1 + second;
    if !(1..=2).contains(&second) {
        return None;
    }
    let part = |from: usize, length: usize| text[from..from + length].parse::<u8>().unwrap_or(99);
    let plausible = part(0, first) <= 31 && part(first + 1, second) <= 31 && part(0, first) > 0;
    if text.as_bytes().get(after) == Some(&mark) {
        let third = digits(&text[after + 1..]);
        let length = after + 1 + third;
        if (third == 2 || third == 4) && plausible && ends(text, length) {
            let (one, two) = (&text[..first], &text[first + 1..after]);
            let year = &text[after + 1..length];
            let year = if third == 2 {
                format!("20{year}")
            } else {
                year.to_owned()
            };
            let (dmy, mdy) = (day(&year, two, one), day(&year, one, two));
            let date = match (mark, style.day_first) {
                (b'.', _) | (_, Some(true)) => dmy,
                (_, Some(false)) => mdy,
                _ if mdy.is_none() => dmy,
                _ if dmy.is_none() => mdy,
                _ => None,
            };
            return Some((Shape::Date(date), length));
        }
        // "15.3." in German.
        if third == 0
            && style.dotted
            && mark == b'.'
            && plausible
            && part(first + 1, second) <= 12
            && ends(text, after + 1)
        {
            let goes_on = text[after + 1..].chars().next();
            return goes_on.is_some().then_some((Shape::Date(None), after + 1));
        }
    }
    (mark == b'/' && plausible && ends(text, after)).then_some((Shape::Date(None), after))
}

fn time(text: &str) -> Option<(Shape, usize)> {
    let first = digits(text);
    let bytes = text.as_bytes();
    let colon = (1..=2).contains(&first)
        && bytes.get(first) == Some(&b':')
        && digits(&text[first + 1..]) == 2;
    if colon {
        let mut length = first + 3;
        if bytes.get(length) == Some(&b':') && digits(&text[length + 1..]) == 2 {
            length += 3;
        }
        return Some((Shape::Masked, length));
    }
    // "10h30", "10h".
    if (1..=2).contains(&first) && bytes.get(first) == Some(&b'h') {
        let minutes = digits(&text[first + 1..]);
        let length = first + 1 + minutes;
        if (minutes == 0 || minutes == 2) && ends(text, length) {
            return Some((Shape::Masked, length));
        }
    }
    None
}

/// The length of a phone number: a plus or a zero in front and nine digits or more, in groups.
pub(crate) fn phone(text: &str) -> Option<usize> {
    let international = text.starts_with('+');
    if !international && !text.starts_with('0') {
        return None;
    }
    let mut count = 0;
    let mut end = 0;
    for (at, byte) in text.bytes().enumerate().take(24) {
        match byte {
            b'0'..=b'9' => {
                count += 1;
                end = at + 1;
            }
            b'+' if at == 0 => {}
            b' ' | b'-' | b'/' | b'(' | b')' => {}
            _ => break,
        }
    }
    (count >= 9 && ends(text, end)).then_some(end)
}

/// "1.2.3" and the like: a version or an address, no number.
fn dotted_code(text: &str) -> Option<(Shape, usize)> {
    let length = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let groups: Vec<&str> = text[..length].trim_end_matches('.').split('.').collect();
    let is_code = groups.len() >= 3 && groups.iter().skip(1).any(|group| group.len() != 3);
    is_code.then_some((Shape::Masked, length))
}

/// The length of a run of digits with its marks: a mark counts only between digits, a space only before a group of three.
pub(crate) fn digits_length(text: &str) -> usize {
    let mut end = 0;
    let characters = text.char_indices();
    for (at, character) in characters {
        let rest = &text[at + character.len_utf8()..];
        let joins = match character {
            '.' | ',' | '\'' => rest
                .chars()
                .next()
                .is_some_and(|next| digit_of(next).is_some()),
            '\u{a0}' | '\u{202f}' | '\u{2009}' | ' ' => {
                let mut following = rest.chars();
                let three = (0..3).all(|_| {
                    following
                        .next()
                        .is_some_and(|next| digit_of(next).is_some())
                });
                let before = text[..at]
                    .chars()
                    .rev()
                    .take_while(|c| digit_of(*c).is_some())
                    .count();
                let more = following.next();
                three
                    && before <= 3
                    && !text[..at].contains(['.', ','])
                    && more.is_none_or(|next| digit_of(next).is_none())
            }
            other => digit_of(other).is_some(),
        };
        if !joins {
            break;
        }
        if digit_of(character).is_some() {
            end = at + character.len_utf8();
        }
    }
    end
}

/// A day that exists.
pub(crate) fn day(year: &str, month: &str, day: &str) -> Option<(i32, u8, u8)> {
    real_day(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
}

/// The same from numbers.
pub(crate) fn real_day(year: i32, month: u8, day: u8) -> Option<(i32, u8, u8)> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u8::from(leap),
        _ => return None,
    };
    ((1..=longest).contains(&day) && (2000..2200).contains(&year)).then_some((year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_FIRST: DateStyle = DateStyle {
        day_first: Some(true),
        dotted: true,
    };

    fn masked(text: &str) -> Option<usize> {
        at_digit(text, DAY_FIRST).map(|(_, length)| length)
    }

    #[test]
    fn dates_times_and_phones_are_no_numbers() {
        assert_eq!(
            at_digit("15/3/2027", DAY_FIRST),
            Some((Shape::Date(Some((2027, 3, 15))), 9))
        );
        assert_eq!(
            at_digit("2027-03-15", DAY_FIRST),
            Some((Shape::Date(Some((2027, 3, 15))), 10))
        );
        let unknown = DateStyle {
            day_first: None,
            dotted: false,
        };
        assert_eq!(at_digit("3/4/2027", unknown), Some((Shape::Date(None), 8)));
        assert_eq!(masked("10:30 send"), Some(5));
        assert_eq!(masked("020 7946 0958 and"), Some(13));
        assert_eq!(masked("20.50 to"), None);
        assert_eq!(masked("1234"), None);
    }

    #[test]
    fn an_iban_is_taken_whole_with_its_spaces() {
        let (iban, length) = iban("gb29 nwbk 6016 1331 9268 19 for rent").unwrap();
        assert_eq!(
            (iban.as_deref(), length),
            (Some("GB29NWBK60161331926819"), 27)
        );
        let (iban, _) = super::iban("gb29 nwbk 6016 1331 9268 18").unwrap();
        assert_eq!(iban, None);
        assert_eq!(super::iban("send 50 to bob and then alice"), None);
    }

    #[test]
    fn a_letter_of_several_bytes_at_the_longest_iban_s_end_is_no_trouble() {
        assert_eq!(
            iban("gb29 20 each no every and no million gb29 \u{ff15}"),
            None
        );
    }

    #[test]
    fn a_sort_code_takes_its_account_number() {
        let (shape, length) = at_digit("12-34-56 account 12345678 x", DAY_FIRST).unwrap();
        assert_eq!(
            (shape, length),
            (Shape::SortCode("123456/12345678".to_owned()), 25)
        );
        assert_eq!(masked("12-34-56"), Some(8));
    }
}
