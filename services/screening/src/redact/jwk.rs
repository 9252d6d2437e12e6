//! Private keys written as JSON (RFC 7517): the members that hold the secret part.

use std::ops::Range;

use super::anchors::Set;
use super::view::BREAK;

/// The member that says what kind of key it is.
pub(super) const MARK: &str = "kty";
/// Farthest that a secret member stands from it, in bytes: an RSA key of 8,192 bits is shorter.
const REACH: usize = 12 * 1024;
/// The members that are secret: those of RSA and of curves (RFC 7518, section 6), and a shared key.
const MEMBERS: [&[u8]; 7] = [b"d", b"p", b"q", b"dp", b"dq", b"qi", b"k"];
/// Shortest secret, in characters.
const LENGTH_MIN: usize = 20;

/// The secret members of the key whose mark stands at a span, and where looking on makes sense.
pub(super) fn secrets_at(text: &[u8], mark: Range<usize>) -> (Vec<Range<usize>>, usize) {
    // In a document names and values are pieces; in a text they stand in quotes.
    let edge = |at: Option<usize>| at.and_then(|at| text.get(at)).copied();
    let (before, after) = (edge(mark.start.checked_sub(1)), edge(Some(mark.end)));
    let is_member = |before: Option<u8>, after: Option<u8>| {
        matches!(before, None | Some(BREAK | b'"' | b'\''))
            && matches!(after, Some(BREAK | b'"' | b'\''))
    };
    if !is_member(before, after) {
        return (Vec::new(), mark.end);
    }
    let from = mark.start.saturating_sub(REACH);
    let until = text.len().min(mark.end + REACH);
    let mut found = Vec::new();
    let mut at = from;
    while at < until {
        let length = text[at..until]
            .iter()
            .take_while(|byte| Set::Word.has(**byte))
            .count();
        let name = at..at + length;
        at = name.end + 1;
        let is_named = MEMBERS.contains(&&text[name.clone()])
            && is_member(edge(name.start.checked_sub(1)), edge(Some(name.end)));
        if !is_named {
            continue;
        }
        let gap = text[name.end..]
            .iter()
            .take(16)
            .take_while(|byte| matches!(**byte, BREAK | b'"' | b'\'' | b':' | b' ' | b'\n' | b'\t'))
            .count();
        let start = name.end + gap;
        let length = text[start..]
            .iter()
            .take_while(|byte| Set::Word.has(**byte))
            .count();
        if length >= LENGTH_MIN {
            found.push(start..start + length);
            at = start + length;
        }
    }
    (found, until)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(text: &str) -> Vec<&str> {
        let at = text.find(MARK).expect("a mark");
        let (found, _) = secrets_at(text.as_bytes(), at..at + MARK.len());
        found.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn the_secret_members_are_found_and_the_public_ones_stay() {
        let (public, private) = ("x".repeat(43), "d0_-".repeat(11));
        let text = format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{public}","d" : "{private}"}}"#);
        assert_eq!(secrets(&text), [&private]);
        let pieces = format!("d\0{private}\0kty\0RSA\0n\0{public}\0q\0{private}\0");
        assert_eq!(secrets(&pieces), [&private, &private]);
        for text in [
            format!(r#"{{"kty":"EC","x":"{public}","y":"{public}"}}"#),
            format!(r#"{{"qkty":"EC","d":"{private}"}}"#),
            r#"{"kty":"RSA","d":"short"}"#.to_owned(),
        ] {
            assert_eq!(secrets(&text), Vec::<&str>::new(), "{text}");
        }
    }
}
