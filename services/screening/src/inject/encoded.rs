//! Orders in a code that a model reads as easily: each is decoded once and screened like any text.

use std::ops::Range;

use crate::decode;
use crate::redact::blob;
use crate::redact::view::Hidden;

/// Shortest run of hexadecimal digits that is decoded, in digits.
const HEX_LENGTH_MIN: usize = 24;
/// Most bytes of one code that are decoded.
const DECODED_MAX: usize = 64 * 1024;
/// Escapes in a string from which on it is decoded.
const ESCAPES_MIN: usize = 4;

/// Calls back with every text that a part of this one stands for, and where the part is. `runs` are those of
/// base64 characters in it.
pub(super) fn each(text: &str, runs: &[Range<usize>], mut on: impl FnMut(&str, Range<usize>)) {
    let bytes = text.as_bytes();
    for span in runs {
        let run = &bytes[span.clone()];
        let decoded = match run.iter().all(u8::is_ascii_hexdigit) {
            true if run.len() >= HEX_LENGTH_MIN => hex(&run[..run.len().min(2 * DECODED_MAX)]),
            _ => blob::text_of(run).or_else(|| wide(run)),
        };
        if let Some(decoded) = decoded {
            on(&decoded, span.clone());
        }
    }
    if escapes(bytes) < ESCAPES_MIN {
        return;
    }
    let mut start = 0;
    for piece in text.split('\0') {
        let part = &piece[..piece.floor_char_boundary(DECODED_MAX)];
        if escapes(part.as_bytes()) >= ESCAPES_MIN
            && let Some(decoded) = decode::escapes(part)
        {
            on(&decoded, start..start + part.len());
        }
        start += piece.len() + 1;
    }
}

/// Percent, entity and backslash escapes in a text, as far as they matter.
fn escapes(bytes: &[u8]) -> usize {
    memchr::memchr3_iter(b'%', b'&', b'\\', bytes)
        .filter(|at| match &bytes[*at..] {
            [b'%', first, second, ..] => first.is_ascii_hexdigit() && second.is_ascii_hexdigit(),
            [b'&', b'#', ..] | [b'\\', b'x' | b'u', ..] => true,
            _ => false,
        })
        .take(ESCAPES_MIN)
        .count()
}

/// The text of base64 whose bytes are text of two bytes a character, the lower one first.
fn wide(run: &[u8]) -> Option<String> {
    const PROBE_LENGTH: usize = 16;
    let is_wide = |bytes: &[u8]| {
        let mut pairs = bytes.chunks_exact(2);
        pairs.all(|pair| pair[1] == 0 && matches!(pair[0], b' '..=b'~' | b'\n' | b'\r' | b'\t'))
    };
    if !is_wide(&crate::redact::decode(run.get(..PROBE_LENGTH)?)?) {
        return None;
    }
    let decoded = crate::redact::decode(&run[..run.len().min(DECODED_MAX)])?;
    let units = decoded
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    Some(char::decode_utf16(units).filter_map(Result::ok).collect())
}

/// The text of hexadecimal digits; none where they stand for no text.
fn hex(digits: &[u8]) -> Option<String> {
    let digits = &digits[..digits.len() & !1];
    let value = |digit: u8| char::from(digit).to_digit(16);
    let mut decoded = Vec::with_capacity(digits.len() / 2);
    for pair in digits.chunks_exact(2) {
        let byte = (value(pair[0])? << 4 | value(pair[1])?) as u8;
        if !matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t' | 0x80..) {
            return None;
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).ok()
}

/// What a run of characters that cannot be seen spells: tags, or bytes in variation selectors.
pub(super) fn hidden(run: &Hidden) -> String {
    let bytes = run
        .characters
        .iter()
        .filter_map(|character| match *character as u32 {
            code @ 0xE0020..=0xE007E => Some((code - 0xE0000) as u8),
            code @ 0xFE00..=0xFE0F => Some((code - 0xFE00) as u8),
            code @ 0xE0100..=0xE01EF => Some((code - 0xE0100 + 16) as u8),
            _ => None,
        });
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}
