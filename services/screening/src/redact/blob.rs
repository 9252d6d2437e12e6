//! Texts inside base64: decoded once, redacted, and encoded again in the alphabet they came in.

use std::ops::Range;

use base64::Engine as _;

use super::jwt::decode;

/// Shortest run that is decoded, in characters: no secret is shorter.
pub(super) const RUN_LENGTH_MIN: usize = 20;
/// Longest run that is decoded, in characters. Larger ones are files, and pass as they are.
pub(super) const RUN_LENGTH_MAX: usize = 256 * 1024;
/// How much of a run is decoded to see whether it is a text.
const PROBE_LENGTH: usize = 16;

/// The text that a run of base64 decodes to, if it is one.
pub(crate) fn text_of(run: &[u8]) -> Option<String> {
    let probe = decode(&run[..PROBE_LENGTH])?;
    // Random bytes pass this one time in a hundred thousand.
    let is_readable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t' | 0x80..);
    if !probe.iter().all(is_readable) {
        return None;
    }
    String::from_utf8(decode(run)?).ok()
}

/// Runs of base64 characters of a decodable length, hexadecimal ones among them.
///
/// Looks at the last byte that a run would need first, so that ordinary words are mostly skipped.
pub(crate) fn runs(text: &[u8]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    while start + RUN_LENGTH_MIN <= text.len() {
        let window = &text[start..start + RUN_LENGTH_MIN];
        if let Some(outside) = window.iter().rposition(|byte| !CLASS[*byte as usize]) {
            start += outside + 1;
            continue;
        }
        let inside = |byte: &&u8| CLASS[**byte as usize];
        let mut end = start + RUN_LENGTH_MIN;
        end += text[end..].iter().take_while(inside).count();
        let padding = text[end..]
            .iter()
            .take(2)
            .take_while(|byte| **byte == b'=')
            .count();
        if end - start <= RUN_LENGTH_MAX {
            runs.push(start..end + padding);
        }
        start = end + padding + 1;
    }
    runs
}

/// The characters of both alphabets.
const CLASS: [bool; 256] = {
    let mut class = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        class[byte] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    class
};

/// A text in the alphabet and with the padding that the run had.
pub(super) fn encode_like(run: &[u8], text: &str) -> String {
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    let url_safe = run.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let padded = run.ends_with(b"=") || run.len().is_multiple_of(4);
    match (url_safe, padded) {
        (false, true) => STANDARD.encode(text),
        (false, false) => STANDARD_NO_PAD.encode(text),
        (true, true) => URL_SAFE.encode(text),
        (true, false) => URL_SAFE_NO_PAD.encode(text),
    }
}
