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

/// The runs of base64 in a text that decode to a text, each with that text.
pub(super) fn texts(text: &[u8]) -> impl Iterator<Item = (Range<usize>, String)> {
    runs(text).filter_map(|run| {
        let bytes = &text[run.clone()];
        let probe = decode(&bytes[..PROBE_LENGTH])?;
        // Random bytes pass this one time in a hundred thousand.
        if !probe
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t' | 0x80..))
        {
            return None;
        }
        let decoded = String::from_utf8(decode(bytes)?).ok()?;
        Some((run, decoded))
    })
}

/// Runs of base64 characters of a decodable length.
fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            while at < text.len() && CLASS[text[at] as usize] {
                at += 1;
            }
            let mut end = at;
            while at < text.len() && text[at] == b'=' && at - end < 2 {
                at += 1;
            }
            if (RUN_LENGTH_MIN..=RUN_LENGTH_MAX).contains(&(end - start)) {
                end = at;
                return Some(start..end);
            }
            at += 1;
        }
        None
    })
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
