//! Numbers in digits: which one a run of digits and marks means, if it means exactly one.

use crate::{decimal::Decimal, lexicon::Separators};

/// What a run of digits is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// One number.
    Value(Decimal),
    /// Two readings ("1.234" in English euros).
    Ambiguous,
    /// No number anybody writes ("007", "1,2,3").
    Unreadable,
}

/// The decimal digit of a character and the script it is from. Superscripts, circled digits and fractions are none.
pub(crate) fn digit_of(character: char) -> Option<(u32, u32)> {
    const ZEROS: [char; 10] = [
        '0', '\u{0660}', '\u{06f0}', '\u{0966}', '\u{09e6}', '\u{0a66}', '\u{0ae6}', '\u{0be6}',
        '\u{0e50}', '\u{ff10}',
    ];
    if character < '0' {
        return None;
    }
    ZEROS.iter().find_map(|zero| {
        let value = (character as u32).checked_sub(*zero as u32)?;
        (value < 10).then_some((value, *zero as u32))
    })
}

/// Reads a run such as `1.234,56`. `separators` is `None` for a locale whose way of writing is unknown.
pub(crate) fn read(run: &str, separators: Option<Separators>, exponent: u32) -> Digits {
    let mut script = None;
    let mut groups: Vec<String> = vec![String::new()];
    let mut marks: Vec<char> = Vec::new();
    for character in run.chars() {
        if let Some((value, zero)) = digit_of(character) {
            if script.is_some_and(|script| script != zero) {
                return Digits::Unreadable;
            }
            script = Some(zero);
            let digit = char::from_digit(value, 10).unwrap_or('0');
            groups.last_mut().expect("never empty").push(digit);
        } else {
            marks.push(match character {
                ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
                '\'' => '\'',
                other => other,
            });
            groups.push(String::new());
        }
    }
    if groups.iter().any(String::is_empty) {
        return Digits::Unreadable;
    }
    match split_decimals(&groups, &marks, separators, exponent) {
        Ok(decimals) => assemble(&groups, decimals),
        Err(other) => other,
    }
}

/// How many of the groups at the end are decimals: none or one.
fn split_decimals(
    groups: &[String],
    marks: &[char],
    separators: Option<Separators>,
    exponent: u32,
) -> Result<usize, Digits> {
    let leading_zero = groups[0].len() > 1 && groups[0].starts_with('0');
    if leading_zero {
        return Err(Digits::Unreadable);
    }
    let Some(last_mark) = marks.last().copied() else {
        return Ok(0);
    };
    let last = groups.last().map_or(0, String::len);
    let same = marks.iter().all(|mark| *mark == last_mark);
    let western = |groups: &[String]| {
        groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3)
    };
    let indian = |groups: &[String]| {
        groups.len() > 1
            && groups[0].len() <= 2
            && groups[groups.len() - 1].len() == 3
            && groups[1..groups.len() - 1]
                .iter()
                .all(|group| group.len() == 2)
    };
    let uses_lakhs = separators.is_some_and(|separators| separators.indian);
    let grouped =
        |groups: &[String]| groups[0] != "0" && (western(groups) || (uses_lakhs && indian(groups)));
    if same && marks.len() > 1 {
        return if grouped(groups) {
            Ok(0)
        } else {
            Err(Digits::Unreadable)
        };
    }
    if marks.len() > 1 {
        // Two kinds of marks: only the last can be the decimal one, and the others must be all the same.
        let others = &marks[..marks.len() - 1];
        let uniform = others.iter().all(|mark| *mark == others[0]);
        let can_be_decimal = matches!(last_mark, '.' | ',');
        let few = last <= exponent.max(1) as usize;
        let before = &groups[..groups.len() - 1];
        return if uniform && can_be_decimal && few && (before.len() == 1 || grouped(before)) {
            Ok(1)
        } else {
            Err(Digits::Unreadable)
        };
    }
    match last_mark {
        ' ' | '\'' => {
            if grouped(groups) {
                Ok(0)
            } else {
                Err(Digits::Unreadable)
            }
        }
        '.' | ',' => {
            if groups[0] == "0" {
                return Ok(1);
            }
            if last != 3 {
                // Never a group. As decimals it must fit the currency, and that is checked when it is known.
                return if last < 3 {
                    Ok(1)
                } else {
                    Err(Digits::Unreadable)
                };
            }
            let could_group = groups[0].len() <= 3;
            let Some(separators) = separators else {
                return Err(Digits::Ambiguous);
            };
            if separators.decimal == last_mark {
                // Three decimals: right where the currency has three, else it may be a foreign group.
                if exponent == 3 || !could_group {
                    Ok(1)
                } else {
                    Err(Digits::Ambiguous)
                }
            } else if exponent == 3 && last_mark == '.' {
                Err(Digits::Ambiguous)
            } else if could_group {
                if separators.group == last_mark
                    || (separators.group != ',' && separators.group != '.')
                {
                    if separators.group == last_mark {
                        Ok(0)
                    } else {
                        Err(Digits::Ambiguous)
                    }
                } else {
                    Err(Digits::Ambiguous)
                }
            } else {
                Err(Digits::Unreadable)
            }
        }
        _ => Err(Digits::Unreadable),
    }
}

fn assemble(groups: &[String], decimals: usize) -> Digits {
    let scale = if decimals == 0 {
        0
    } else {
        groups[groups.len() - 1].len()
    };
    let digits: String = groups.concat();
    if digits.len() > 24 {
        return Digits::Unreadable;
    }
    match (digits.parse(), u32::try_from(scale)) {
        (Ok(mantissa), Ok(scale)) => Digits::Value(Decimal { mantissa, scale }),
        _ => Digits::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: Separators = Separators {
        decimal: '.',
        group: ',',
        indian: false,
        space_groups: false,
    };
    const GERMAN: Separators = Separators {
        decimal: ',',
        group: '.',
        indian: false,
        space_groups: false,
    };

    fn value(run: &str, separators: Separators, exponent: u32) -> Option<(u128, u32)> {
        match read(run, Some(separators), exponent) {
            Digits::Value(decimal) => Some((decimal.mantissa, decimal.scale)),
            _ => None,
        }
    }

    #[test]
    fn the_mark_follows_the_locale_and_the_exponent() {
        assert_eq!(value("1,050", ENGLISH, 2), Some((1050, 0)));
        assert_eq!(value("1.450", GERMAN, 2), Some((1450, 0)));
        assert_eq!(value("1.234", ENGLISH, 2), None);
        assert_eq!(value("1,234", GERMAN, 2), None);
        assert_eq!(value("7.250", ENGLISH, 3), Some((7250, 3)));
        assert_eq!(value("7.250", GERMAN, 3), None);
        assert_eq!(read("1,234", None, 2), Digits::Ambiguous);
    }

    #[test]
    fn one_reading_is_taken_in_any_locale() {
        assert_eq!(value("24,50", ENGLISH, 2), Some((2450, 2)));
        assert_eq!(value("1.234,56", ENGLISH, 2), Some((123_456, 2)));
        assert_eq!(value("1,234,567", GERMAN, 2), Some((1_234_567, 0)));
        assert_eq!(value("1\u{a0}234,56", GERMAN, 2), Some((123_456, 2)));
        assert_eq!(value("\u{ff15}\u{ff10}", ENGLISH, 2), Some((50, 0)));
    }

    #[test]
    fn what_nobody_writes_is_no_number() {
        for run in [
            "007",
            "1,2,3",
            "1,00,000",
            "5\u{ff10}",
            "1..5",
            "1.23.4",
            "12345.678,9",
        ] {
            assert_eq!(value(run, ENGLISH, 2), None, "{run}");
        }
        let indian = Separators {
            indian: true,
            ..ENGLISH
        };
        assert_eq!(value("1,00,000", indian, 2), Some((100_000, 0)));
    }
}
