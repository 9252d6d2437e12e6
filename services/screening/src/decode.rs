//! Texts inside texts: what an encoded part of a reply says once it is decoded.
//!
//! Each decoder is generous: what it finds is only looked through for codes, so a wrong guess costs time and a
//! missed one a leak.

use regex::Regex;
use std::sync::LazyLock;

/// Shortest decoded text worth looking at: a run of a code has ten characters.
const DECODED_MIN: usize = crate::canary::RUN_LENGTH;

/// Everything a text could stand for.
pub fn all(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(base64(text));
    found.extend(hexadecimal(text));
    found.extend(escapes(text));
    found.extend(decimal(text));
    found.retain(|decoded| decoded.len() >= DECODED_MIN);
    found
}

/// Letters moved half the alphabet on.
pub fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| {
        let place = (c as u8 - first + 13) % 26;
        char::from(first + place)
    };
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            other => other,
        })
        .collect()
}

/// Base64 of both alphabets, also broken by spaces and line ends, at each of the four places where it may begin.
fn base64(text: &str) -> Vec<String> {
    static PART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[A-Za-z0-9+/_-](?:\s{0,2}[A-Za-z0-9+/_-]){9,}").expect("a pattern")
    });
    let mut found = Vec::new();
    for part in PART.find_iter(text) {
        let sextets: Vec<u8> = part.as_str().bytes().filter_map(sextet).collect();
        for begin in 0..4 {
            found.push(readable(&bytes_of_sextets(
                sextets.get(begin..).unwrap_or_default(),
            )));
        }
    }
    found
}

const fn sextet(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn bytes_of_sextets(sextets: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sextets.len() * 3 / 4);
    for group in sextets.chunks(4) {
        let mut bits: u32 = 0;
        for (place, sextet) in group.iter().enumerate() {
            bits |= u32::from(*sextet) << (18 - 6 * place);
        }
        bytes.extend(
            bits.to_be_bytes()
                .into_iter()
                .skip(1)
                .take(group.len() * 3 / 4),
        );
    }
    bytes
}

/// Pairs of hexadecimal digits, bare or with the marks people put between them, from either digit on.
fn hexadecimal(text: &str) -> Vec<String> {
    static PART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:(?:\\x|0x|%|=|&#x)?[0-9a-f]{2}[\s,;:-]{0,2}){10,}[0-9a-f]?")
            .expect("a pattern")
    });
    static MARK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\\x|0x|&#x").expect("a pattern"));
    let mut found = Vec::new();
    for part in PART.find_iter(text) {
        let bare = MARK.replace_all(part.as_str(), "");
        let digits: Vec<u8> = bare
            .chars()
            .filter_map(|c| c.to_digit(16))
            .filter_map(|d| u8::try_from(d).ok())
            .collect();
        for begin in 0..2 {
            let bytes: Vec<u8> = digits
                .get(begin..)
                .unwrap_or_default()
                .chunks_exact(2)
                .map(|pair| pair[0] << 4 | pair[1])
                .collect();
            found.push(readable(&bytes));
        }
    }
    found
}

/// Percent, HTML and backslash escapes among ordinary letters, all taken out at once.
pub fn escapes(text: &str) -> Option<String> {
    static PART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)%([0-9a-f]{2})|&#x([0-9a-f]{1,6});?|\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})|&#([0-9]{1,7});?")
            .expect("a pattern")
    });
    if !PART.is_match(text) {
        return None;
    }
    let decoded = PART.replace_all(text, |found: &regex::Captures<'_>| {
        let hexadecimal = (1..=4)
            .find_map(|group| found.get(group))
            .map(|digits| u32::from_str_radix(digits.as_str(), 16));
        let code = hexadecimal.or_else(|| found.get(5).map(|digits| digits.as_str().parse()));
        code.and_then(Result::ok)
            .and_then(char::from_u32)
            .map(String::from)
            .unwrap_or_default()
    });
    Some(decoded.into_owned())
}

/// Character codes in decimal, one after the other.
fn decimal(text: &str) -> Vec<String> {
    static PART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:\b\d{2,3}\b[\s,;:-]{1,2}){9,}\d{2,3}\b").expect("a pattern")
    });
    PART.find_iter(text)
        .map(|part| {
            part.as_str()
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|number| number.parse::<u8>().ok())
                .map(char::from)
                .collect()
        })
        .collect()
}

/// Bytes as text, whatever they are.
fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decoder_reads_its_own_form() {
        assert_eq!(rot13("Hello 20"), "Uryyb 20");
        assert!(
            base64("x SGVsbG8gd29ybGQh y")
                .iter()
                .any(|text| text.contains("Hello world!"))
        );
        assert!(hexadecimal("48656c6c6f20776f726c6421").contains(&"Hello world!".to_owned()));
        assert_eq!(
            escapes("a%42c&#68;\\u0045&#x46;").as_deref(),
            Some("aBcDEF")
        );
        assert_eq!(
            decimal("72 101 108 108 111 32 119 111 114 108"),
            ["Hello worl"]
        );
    }

    #[test]
    fn ordinary_text_stands_for_nothing() {
        assert_eq!(escapes("You have 1,240.50 EUR."), None);
        assert_eq!(all("You have 1,240.50 EUR."), Vec::<String>::new());
    }
}
