//! JSON Web Tokens (RFC 7519): three or five parts whose first is a header that says so.

use std::ops::Range;

use base64::Engine as _;
use countersign_wire::{Caps, Document};

use super::anchors::Set;

/// How the header of a token begins in base64url: `{"`, or `{` and white space.
pub(super) const MARKS: &[&str] = &["eyJ", "eyA", "ewo", "ewk", "ew0K"];
/// Longest header that is read, in characters.
const HEADER_LENGTH_MAX: usize = 4096;
/// Most parts of a token: an encrypted one has five.
const PARTS_MAX: usize = 5;

/// Base64 of either alphabet, with or without its padding.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    use base64::alphabet::{STANDARD, URL_SAFE};
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    const ENGINES: [GeneralPurpose; 2] = [
        GeneralPurpose::new(&STANDARD, LENIENT),
        GeneralPurpose::new(&URL_SAFE, LENIENT),
    ];
    let url_safe = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
    ENGINES[usize::from(url_safe)].decode(text).ok()
}

/// One past the run of base64url that begins at a place.
pub(super) fn run_end(text: &[u8], from: usize) -> usize {
    from + text[from..]
        .iter()
        .take_while(|byte| Set::Word.has(**byte))
        .count()
}

/// The token that begins at a place, whose first part ends at `header_end`.
pub(super) fn token_at(text: &[u8], start: usize, header_end: usize) -> Option<Range<usize>> {
    if text.get(header_end) != Some(&b'.') || header_end - start > HEADER_LENGTH_MAX {
        return None;
    }
    is_header(&text[start..header_end]).then_some(())?;
    let part = |from: usize| run_end(text, from);
    let mut end = header_end;
    for _ in 1..PARTS_MAX {
        if text.get(end) != Some(&b'.') {
            break;
        }
        let next = part(end + 1);
        if next == end + 1 && !matches!(text.get(next), Some(b'.')) {
            break;
        }
        end = next;
    }
    (end > header_end).then_some(start..end)
}

fn is_header(part: &[u8]) -> bool {
    let Some(bytes) = decode(part) else {
        return false;
    };
    let Ok(document) = Document::read(&bytes, &Caps::MESSAGE) else {
        return false;
    };
    let root = document.root();
    ["alg", "enc", "typ", "kid"]
        .iter()
        .any(|name| root.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_at(text: &[u8], start: usize) -> Option<Range<usize>> {
        super::token_at(text, start, run_end(text, start))
    }

    const TOKEN: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dGhpcyBpcyBubyByZWFsIHNpZ25hdHVyZQ";

    #[test]
    fn a_token_goes_with_all_its_parts() {
        let text = format!("token {TOKEN}, next");
        assert_eq!(token_at(text.as_bytes(), 6), Some(6..6 + TOKEN.len()));
        let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.";
        assert_eq!(
            token_at(unsigned.as_bytes(), 0),
            Some(0..unsigned.len() - 1)
        );
        let sealed = "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ..aXY.Y2lwaGVy.dGFn";
        assert_eq!(token_at(sealed.as_bytes(), 0), Some(0..sealed.len()));
        let spaced = "ewogICJhbGciOiAiSFMyNTYiCn0.eyJzdWIiOiIxIn0.c2ln";
        assert_eq!(token_at(spaced.as_bytes(), 0), Some(0..spaced.len()));
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for text in [
            "eyJub3QiOiJhIGhlYWRlciJ9.e30.x",
            "eyJ.eyJ.x",
            "eyJhbGciOiJFZERTQSJ9",
            "eyJx.js is a file",
        ] {
            assert_eq!(token_at(text.as_bytes(), 0), None, "{text}");
        }
    }
}
