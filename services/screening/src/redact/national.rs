//! National identity and tax numbers of the countries whose languages the project speaks: opt-in.
//!
//! A number counts when its check digits are right. Short ones, which many numbers pass, also need a word
//! beside them that says what they are; so do the two kinds without a check digit.

use std::ops::Range;

use super::place::{has_before, is_free_after, is_free_before};

/// The number that begins with the digits at `start`, or with letters right in front of them.
pub(super) fn number_at(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let letters = |end: usize| {
        let before = bytes[..end].iter().rev().take(6);
        before.take_while(|byte| byte.is_ascii_alphabetic()).count()
    };
    // Two letters and a space: how the British number is printed.
    let is_spaced = start >= 3 && bytes[start - 1] == b' ' && letters(start - 1) == 2;
    let spaced = is_spaced.then(|| number_from(text, start - 3)).flatten();
    spaced.or_else(|| number_from(text, start - letters(start)))
}

fn number_from(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_free_before(bytes, from) || (from > 0 && matches!(bytes[from - 1], b'+' | b'.')) {
        return None;
    }
    let (compact, ends) = compact(bytes, from);
    let named = |words: &[&str]| has_before(text, from, words);
    KINDS.iter().find_map(|kind| {
        let end = *ends.get(kind.length.checked_sub(1)?)?;
        let candidate = &compact[..kind.length];
        (is_free_after(bytes, end)
            && (kind.passes)(candidate)
            && (kind.words.is_empty() || named(kind.words)))
        .then_some(from..end)
    })
}

/// The next letters and digits without what separates them, and where each ends.
fn compact(bytes: &[u8], from: usize) -> (Vec<u8>, Vec<usize>) {
    const LENGTH_MAX: usize = 16;
    let (mut compact, mut ends) = (
        Vec::with_capacity(LENGTH_MAX),
        Vec::with_capacity(LENGTH_MAX),
    );
    let mut separated = false;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b' ' | b'-' | b'.' | b'/' if !separated => separated = true,
            _ if byte.is_ascii_alphanumeric() && compact.len() < LENGTH_MAX => {
                compact.push(byte.to_ascii_uppercase());
                ends.push(at + 1);
                separated = false;
            }
            _ => break,
        }
    }
    (compact, ends)
}

struct Kind {
    length: usize,
    passes: fn(&[u8]) -> bool,
    /// Words one of which must stand in front; none when the check digits are enough.
    words: &'static [&'static str],
}

/// Longest first, so that a short kind does not take the front of a long one.
const KINDS: &[Kind] = &[
    // Italy: codice fiscale.
    Kind {
        length: 16,
        passes: italian,
        words: &[],
    },
    // France: numéro de sécurité sociale with its key.
    Kind {
        length: 15,
        passes: french,
        words: &[],
    },
    // Germany: steuerliche Identifikationsnummer.
    Kind {
        length: 11,
        passes: german,
        words: &["steuer", "idnr", "tin", "tax", "identifikationsnummer"],
    },
    // Poland: PESEL.
    Kind {
        length: 11,
        passes: polish,
        words: &["pesel"],
    },
    // Brazil: CPF.
    Kind {
        length: 11,
        passes: brazilian,
        words: &["cpf"],
    },
    // United Kingdom: National Insurance number, by form.
    Kind {
        length: 9,
        passes: british,
        words: &[],
    },
    // Spain: DNI and NIE.
    Kind {
        length: 9,
        passes: spanish,
        words: &[],
    },
    // Netherlands: burgerservicenummer.
    Kind {
        length: 9,
        passes: dutch,
        words: &["bsn", "burgerservice", "sofi"],
    },
    // Portugal: número de identificação fiscal.
    Kind {
        length: 9,
        passes: portuguese,
        words: &["nif", "contribuinte", "fiscal"],
    },
    // United States: Social Security number, by form.
    Kind {
        length: 9,
        passes: american,
        words: &["ssn", "social security"],
    },
];

fn digits(text: &[u8]) -> Option<Vec<u32>> {
    text.iter()
        .map(|byte| char::from(*byte).to_digit(10))
        .collect()
}

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits
        .iter()
        .zip(weights)
        .map(|(digit, weight)| digit * weight)
        .sum()
}

fn italian(text: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let form = b"AAAAAA00A00A000A";
    let fits = text.iter().zip(form).all(|(byte, kind)| match kind {
        b'A' => byte.is_ascii_uppercase(),
        // Digits may be written as letters where two people share a code.
        _ => byte.is_ascii_digit() || b"LMNPQRSTUV".contains(byte),
    });
    let value = |byte: u8| {
        u32::from(if byte.is_ascii_digit() {
            byte - b'0'
        } else {
            byte.wrapping_sub(b'A')
        })
    };
    let sum: u32 = text[..15]
        .iter()
        .enumerate()
        .map(|(position, byte)| match position % 2 {
            0 => ODD.get(value(*byte) as usize).copied().unwrap_or(0),
            _ => value(*byte),
        })
        .sum();
    fits && sum % 26 == value(text[15])
}

fn french(text: &[u8]) -> bool {
    // Corsica's departments are written 2A and 2B.
    let plain: Vec<u8> = match &text[5..7] {
        b"2A" => [&text[..5], b"19", &text[7..]].concat(),
        b"2B" => [&text[..5], b"18", &text[7..]].concat(),
        _ => text.to_vec(),
    };
    let Some(digits) = digits(&plain) else {
        return false;
    };
    let number = |part: &[u32]| {
        part.iter()
            .fold(0_u64, |n, digit| n * 10 + u64::from(*digit))
    };
    let month = number(&digits[3..5]);
    matches!(digits[0], 1 | 2 | 3 | 4 | 7 | 8)
        && (matches!(month, 1..=12 | 20 | 30..=42 | 50..=99))
        && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
}

fn german(text: &[u8]) -> bool {
    let Some(digits) = digits(text) else {
        return false;
    };
    let mut product = 10;
    for digit in &digits[..10] {
        let sum = (digit + product) % 10;
        product = (if sum == 0 { 10 } else { sum }) * 2 % 11;
    }
    digits[0] != 0 && (11 - product) % 10 == digits[10]
}

fn polish(text: &[u8]) -> bool {
    let Some(digits) = digits(text) else {
        return false;
    };
    let (month, day) = (
        (digits[2] * 10 + digits[3]) % 20,
        digits[4] * 10 + digits[5],
    );
    let sum = weighted(&digits, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    (1..=12).contains(&month) && (1..=31).contains(&day) && sum.is_multiple_of(10)
}

fn brazilian(text: &[u8]) -> bool {
    let Some(digits) = digits(text) else {
        return false;
    };
    let check = |length: usize| {
        let sum: u32 = digits[..length]
            .iter()
            .zip((2..=length as u32 + 1).rev())
            .map(|(d, w)| d * w)
            .sum();
        sum * 10 % 11 % 10
    };
    digits.iter().any(|digit| *digit != digits[0])
        && check(9) == digits[9]
        && check(10) == digits[10]
}

fn british(text: &[u8]) -> bool {
    let prefix = !b"DFIQUV".contains(&text[0])
        && !b"DFIQUVO".contains(&text[1])
        && ![b"BG", b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ"].contains(&&[text[0], text[1]]);
    text[..2].iter().all(u8::is_ascii_uppercase)
        && prefix
        && text[2..8].iter().all(u8::is_ascii_digit)
        && matches!(text[8], b'A'..=b'D')
}

fn spanish(text: &[u8]) -> bool {
    let first = match text[0] {
        b'X' => b'0',
        b'Y' => b'1',
        b'Z' => b'2',
        other => other,
    };
    let number = [&[first], &text[1..8]].concat();
    let Some(digits) = digits(&number) else {
        return false;
    };
    let value = digits.iter().fold(0, |n, digit| n * 10 + digit);
    text[8] == b"TRWAGMYFPDXBNJZSQVHLCKE"[(value % 23) as usize]
}

fn dutch(text: &[u8]) -> bool {
    let Some(digits) = digits(text) else {
        return false;
    };
    let sum = weighted(&digits, &[9, 8, 7, 6, 5, 4, 3, 2]);
    let rest = sum % 11;
    sum > 0 && rest == digits[8]
}

fn portuguese(text: &[u8]) -> bool {
    let Some(digits) = digits(text) else {
        return false;
    };
    let rest = weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    digits[0] != 0 && digits[8] == if rest < 2 { 0 } else { 11 - rest }
}

fn american(text: &[u8]) -> bool {
    let Some(digits) = digits(text) else {
        return false;
    };
    let part = |from: usize, to: usize| digits[from..to].iter().fold(0, |n, digit| n * 10 + digit);
    !matches!(part(0, 3), 0 | 666 | 900..) && part(3, 5) != 0 && part(5, 9) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let starts = text.char_indices().filter(|(at, c)| {
            c.is_ascii_digit() && !text[..*at].ends_with(|before: char| before.is_ascii_digit())
        });
        starts
            .filter_map(|(at, _)| number_at(text, at))
            .map(|span| &text[span])
            .next()
    }

    #[test]
    fn numbers_with_the_right_check_digits_are_found() {
        for (text, number) in [
            ("RSSMRA85T10A562S", "RSSMRA85T10A562S"),
            ("1 85 05 78 006 084 91", "1 85 05 78 006 084 91"),
            ("Steuer-ID 86095742719", "86095742719"),
            ("PESEL 44051401359", "44051401359"),
            ("CPF 111.444.777-35", "111.444.777-35"),
            ("NI AB 12 34 56 C", "AB 12 34 56 C"),
            ("DNI 12345678Z", "12345678Z"),
            ("NIE X1234567L", "X1234567L"),
            ("BSN 111222333", "111222333"),
            ("NIF 123456789", "123456789"),
            ("SSN 078-05-1120", "078-05-1120"),
        ] {
            assert_eq!(found(text), Some(number), "{text}");
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "RSSMRA85T10A562T",
            "PESEL 44051401358",
            "12345678A",
            "111222333",
            "078-05-1120",
            "ring 07700900461",
            "order 86095742719",
            "20261130120",
            "BSN 111222334",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
