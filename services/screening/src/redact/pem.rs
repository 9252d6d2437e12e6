//! Private keys as blocks of text: whole, without their line ends, or cut off.

use std::ops::Range;

use super::view::BREAK;

/// The words every kind of private key block has in its first and last line.
pub(super) const MARK: &str = "PRIVATE KEY";
/// First words of the key file of another program.
pub(super) const PUTTY: &str = "PuTTY-User-Key-File-";
/// First bytes of private keys without any frame: PKCS#8 and PKCS#1 in base64.
pub(super) const BARE: &[&str] = &[
    "IBADANBgkqhkiG9w0BAQEFAASC",
    "MC4CAQAwBQYDK2VwBCIEI",
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w",
    "MHcCAQEEI",
    "b3BlbnNzaC1rZXktdjEA",
];
/// Farthest that `BEGIN` stands from [`MARK`].
const LABEL_MAX: usize = 48;
/// Most dashes and spaces in front of `BEGIN` that belong to it.
const DASHES_MAX: usize = 16;
/// Fewest of them that frame a block.
const DASHES_MIN: usize = 2;
/// How far into a cut-off block its key begins at the latest, in bytes.
const HEADERS_MAX: usize = 512;
/// Shortest run of base64 that makes a cut-off block a key.
const BODY_RUN_MIN: usize = 16;

/// The block whose first line holds [`MARK`] at this place; or the next place worth looking at, so that many
/// first lines without a last one cost one search and not many.
pub(super) fn block_at(text: &[u8], mark: usize) -> Result<Range<usize>, usize> {
    let body = mark + MARK.len();
    let label_from = mark.saturating_sub(LABEL_MAX);
    let begin = label_from + find_last(&text[label_from..mark], b"BEGIN").ok_or(body)?;
    // Anything but a label between the two would be the sentence "BEGIN with the PRIVATE KEY".
    let label = &text[begin + 5..mark];
    let is_label = |byte: &u8| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b' ' | b'-')
    };
    if !label.iter().all(is_label) || find(label, b"KEY").is_some() {
        return Err(body);
    }
    let start = begin - trailing_dashes(&text[..begin]);
    let body = body + usize::from(text[body..].starts_with(b" BLOCK")) * 6;
    // The frame is dashes on both sides; without them somebody talks about it.
    let frame = &text[body..];
    let frame = frame.strip_prefix(b" ").unwrap_or(frame);
    if begin - start < DASHES_MIN || !frame.starts_with(b"--") {
        return Err(body);
    }
    let piece_end = find(&text[body..], &[BREAK]).map_or(text.len(), |length| body + length);
    match end_line(&text[..piece_end], body) {
        Some((end_mark, end)) if has_key(&text[body..end_mark]) => Ok(start..end),
        Some((_, end)) => Err(end),
        // The rest of the block may come later or never: everything behind the first line goes.
        None if begins_with_key(&text[body..piece_end]) => Ok(start..piece_end),
        None => Err(piece_end),
    }
}

/// The block of the other program's file: up to its last field, or to the end of the text.
pub(super) fn putty_at(text: &[u8], start: usize) -> Range<usize> {
    let piece_end = find(&text[start..], &[BREAK]).map_or(text.len(), |length| start + length);
    let end = find(&text[start..piece_end], b"Private-MAC:").map_or(piece_end, |length| {
        let mac = start + length + "Private-MAC:".len();
        let value = text[mac..piece_end]
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit() || **byte == b' ')
            .count();
        mac + value
    });
    start..end
}

/// The run of base64 around a place.
pub(super) fn run_around(text: &[u8], at: usize) -> Range<usize> {
    let is_part = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r')
    };
    let before = text[..at]
        .iter()
        .rev()
        .take_while(|byte| is_part(byte))
        .count();
    let after = text[at..].iter().take_while(|byte| is_part(byte)).count();
    at - before..at + after
}

/// Where the last line begins and ends: `END`, a label with [`MARK`], dashes.
pub(super) fn end_line(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    // Each turn moves on; the label behind an END is looked at once.
    while let Some(length) = find(&text[at..], b"END") {
        let label = at + length + 3;
        let until = text.len().min(label + LABEL_MAX);
        let line = &text[label..until];
        let line = &line[..find(line, b"END").unwrap_or(line.len())];
        if let Some(mark) = find(line, MARK.as_bytes()) {
            let end = label + mark + MARK.len();
            let end = end + usize::from(text[end..].starts_with(b" BLOCK")) * 6;
            let frame = |byte: &&u8| matches!(**byte, b'-' | b' ');
            let framed = text[end..].iter().take(DASHES_MAX).take_while(frame);
            let line = &text[end..end + framed.count()];
            return Some((at + length, end + line.trim_ascii_end().len()));
        }
        at = label;
    }
    None
}

/// Whether anything but dashes and words of a sentence stands there.
fn has_key(body: &[u8]) -> bool {
    const LENGTH_MIN: usize = 4;
    runs(body).any(|run| run.len() >= LENGTH_MIN && is_no_word(run))
}

/// Whether a key stands at the front, behind the dashes and the fields that old formats put there.
fn begins_with_key(body: &[u8]) -> bool {
    let front = &body[..body.len().min(HEADERS_MAX)];
    let lines = front.split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut lines =
        lines.filter(|line| line.iter().any(|byte| !matches!(byte, b'-' | b' ' | b'\t')));
    lines
        .find(|line| !line.contains(&b':'))
        .and_then(|line| runs(line).next())
        .is_some_and(|run| run.len() >= BODY_RUN_MIN && is_no_word(run))
}

/// Runs of base64 characters.
fn runs(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.split(move |byte| !is_part(byte))
        .filter(|run| !run.is_empty())
}

/// A digit, a sign or a second capital: no word of a sentence has them.
fn is_no_word(run: &[u8]) -> bool {
    let capitals = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    capitals >= 2
        || run
            .iter()
            .any(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/' | b'='))
}

fn trailing_dashes(text: &[u8]) -> usize {
    text.iter()
        .rev()
        .take(DASHES_MAX)
        .take_while(|byte| matches!(byte, b'-' | b' '))
        .count()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    match part {
        [one] => text.iter().position(|byte| byte == one),
        _ => text.windows(part.len()).position(|window| window == part),
    }
}

fn find_last(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> String {
        let mut left = text.to_owned();
        if let Some(mark) = text.find(MARK)
            && let Ok(span) = block_at(text.as_bytes(), mark)
        {
            left.replace_range(span, "#");
        }
        left
    }

    #[test]
    fn a_block_goes_whole_however_it_is_written() {
        let body = "MIIEvQIBADANBgkqh\nkiG9w0BAQ/FAASC+==";
        for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "] {
            let block = format!(
                "-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"
            );
            assert_eq!(left(&format!("a {block} b")), "a# b", "{kind}");
            assert_eq!(
                left(&format!("a:{} b", block.replace('\n', ""))),
                "a:# b",
                "{kind}"
            );
            assert_eq!(
                left(&format!("a:{} b", block.replace('\n', "\\n"))),
                "a:# b",
                "{kind}"
            );
        }
        assert_eq!(
            left(
                "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nP2/56wAA\n---- END SSH2 ENCRYPTED PRIVATE KEY ---- x"
            ),
            "# x"
        );
        let pgp = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBGABCDEF\n-----END PGP PRIVATE KEY BLOCK-----";
        assert_eq!(left(pgp), "#");
        assert_eq!(
            left("x\n-----BEGIN PRIVATE KEY-----\nMIIE...\n-----END PRIVATE KEY-----\n"),
            "x\n#\n"
        );
    }

    #[test]
    fn a_foreign_line_in_the_middle_ends_nothing() {
        let text = "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----BEGIN CERTIFICATE-----\nIBADANB\n-----END CERTIFICATE-----\nabc\n-----END PRIVATE KEY-----.";
        assert_eq!(left(text), "#.");
    }

    #[test]
    fn a_block_that_is_cut_off_goes_to_the_end() {
        assert_eq!(
            left("k: -----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B"),
            "k:#"
        );
    }

    #[test]
    fn talk_about_keys_stays() {
        for text in [
            "The file begins with -----BEGIN PRIVATE KEY-----.",
            "Copy everything between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- please",
            "Never share a PRIVATE KEY",
            "If your key has `BEGIN EC PRIVATE KEY` at the top, convert it with opensslPKCS8Tool123.",
            "It starts with -----BEGIN PRIVATE KEY-----\n```\nand PBKDF2 or someLongIdentifier1234567 follow.",
            "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0B\n-----END PUBLIC KEY-----",
        ] {
            assert_eq!(left(text), text);
        }
    }
}
