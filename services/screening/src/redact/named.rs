//! Values that something beside them calls a secret: `password: …`, `Authorization: Bearer …`, `//user:pass@`.

use std::ops::Range;

use super::place::{is_free_before, is_word};
use super::view::BREAK;

/// Words that name a secret, in lower case.
pub(crate) const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "kennwort",
    "contraseña",
    "contrasena",
    "senha",
    "wachtwoord",
    "hasło",
    "haslo",
    "mot de passe",
    "pwd",
    "secret",
    "apikey",
    "api_key",
    "api-key",
    "api key",
    "access_token",
    "access-token",
    "accesstoken",
    "access token",
    "refresh_token",
    "refresh-token",
    "refreshtoken",
    "auth_token",
    "authtoken",
    "auth-token",
    "bearer_token",
    "session_token",
    "sessiontoken",
    "private_key",
    "privatekey",
    "private-key",
    "accesskey",
    "access_key",
    "access-key",
    "encryption_key",
    "signing_key",
    "master_key",
    "secret_key",
    "client_secret",
    "credential",
    "passcode",
    "token",
];
/// Words in front of a token in a header.
pub(crate) const SCHEMES: &[&str] = &["bearer ", "basic ", "token ", "cookie: "];
/// What stands between an address's scheme and its user.
pub(crate) const ADDRESS: &str = "://";

/// How much of a value decides what it is, in bytes; the rest of it goes with it.
const VALUE_LENGTH_MAX: usize = 512;
/// Most spaces and quotes between a name and its value.
const GAP_MAX: usize = 16;
/// Longest name, in bytes.
const NAME_LENGTH_MAX: usize = 64;

/// The value of the name that holds the word found at a span.
pub(super) fn value_of(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = name_around(bytes, &word);
    // The rest of the name may only number it: `password_hash` and `tokenType` hold no secret.
    let rest = &bytes[word.end..name.end];
    let numbers = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b's');
    if !rest.iter().all(numbers) || rest.len() > 4 {
        return None;
    }
    let head = text.get(name.start..word.start)?.to_ascii_lowercase();
    let found = text.get(word.clone())?.to_ascii_lowercase();
    if !names_a_secret(&head, &found) {
        return None;
    }
    let start = value_start(bytes, name.end)?;
    let length = bytes[start..]
        .iter()
        .take(VALUE_LENGTH_MAX)
        .take_while(|byte| is_value(**byte))
        .count();
    let until = text.floor_char_boundary(start + length);
    let end = start
        + text[start..until]
            .trim_end_matches(['.', ':', '!', '?'])
            .len();
    let whole = bytes
        .get(until)
        .is_none_or(|byte| !byte.is_ascii_whitespace());
    looks_secret(&text[start..end], found != "token", whole).then_some(())?;
    let rest = bytes[until..]
        .iter()
        .take_while(|byte| is_value(**byte))
        .count();
    Some(start..if rest > 0 { until + rest } else { end })
}

/// The whole name a word is part of.
fn name_around(bytes: &[u8], word: &Range<usize>) -> Range<usize> {
    let is_name = |byte: &&u8| is_word(**byte) || **byte == b'-';
    let before = bytes[..word.start]
        .iter()
        .rev()
        .take(NAME_LENGTH_MAX)
        .take_while(is_name)
        .count();
    let after = bytes[word.end..]
        .iter()
        .take(NAME_LENGTH_MAX)
        .take_while(is_name)
        .count();
    word.start - before..word.end + after
}

/// Whether the name is one of a secret, by what stands in front of the word.
fn names_a_secret(head: &str, word: &str) -> bool {
    let head = head.trim_end_matches(['_', '-']);
    if word == "token" {
        // Page cursors and the like are called tokens too.
        const HARMLESS: &[&str] = &[
            "next",
            "page",
            "cursor",
            "continuation",
            "progress",
            "sync",
            "count",
            "max",
            "min",
            "per",
            "previous",
            "prev",
            "start",
            "resume",
            "design",
            "cancel",
            "idempotency",
        ];
        return !HARMLESS.iter().any(|other| head.ends_with(other));
    }
    ![
        "no", "is", "has", "need", "needs", "require", "requires", "forgot", "show", "hide",
    ]
    .contains(&head)
}

/// Where the value begins: behind `:`, `=`, `=>`, a word for "is", or the end of a member name.
fn value_start(bytes: &[u8], name_end: usize) -> Option<usize> {
    let skip = |at: usize| {
        let is_gap = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'"' | b'\'' | b'`');
        at + bytes[at..].iter().take(GAP_MAX).take_while(is_gap).count()
    };
    let at = skip(name_end);
    let rest = &bytes[at..];
    let separator = match rest {
        [b':' | b'=', b'>' | b'=', ..] => 2,
        [b':' | b'=' | BREAK, ..] => 1,
        _ => ["is ", "ist ", "est ", "es ", "è ", "é ", "to ", "lautet "]
            .iter()
            .find(|word| at > name_end && rest.starts_with(word.as_bytes()))
            .map(|word| word.len())?,
    };
    let start = skip(at + separator);
    (start < bytes.len() && is_value(bytes[start])).then_some(start)
}

const fn is_value(byte: u8) -> bool {
    !matches!(
        byte,
        0..=b' '
            | b'"'
            | b'\''
            | b'`'
            | b','
            | b';'
            | b'<'
            | b'>'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'\\'
            | b'|'
    )
}

/// Whether a value is one that nobody would write as a word, a number or a stand-in.
fn looks_secret(value: &str, is_strong: bool, whole: bool) -> bool {
    let length_min = if is_strong { 6 } else { 20 };
    if value.len() < length_min {
        return false;
    }
    let stands_in = [
        "$", "%", "*", "env:", "http", "/", "./", "~", "your", "xxx", "example", "redacted", "#",
        "&",
    ];
    let lower = value.to_ascii_lowercase();
    if stands_in.iter().any(|start| lower.starts_with(start)) || lower.contains("://") {
        return false;
    }
    let bytes = value.as_bytes();
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    let (letter, digit) = (has(u8::is_ascii_alphabetic), has(u8::is_ascii_digit));
    // A date, a time or an amount.
    let number = |byte: &u8| {
        byte.is_ascii_digit()
            || matches!(byte, b'-' | b':' | b'.' | b'T' | b'Z' | b'+' | b'/' | b'%')
    };
    if bytes.iter().all(number) {
        return false;
    }
    // The name of a variable: DB_PASSWORD_2, my.password.key1.
    let names = ["password", "secret", "token", "key", "credential"];
    let variable = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    if names.iter().any(|name| lower.contains(name))
        && (bytes.iter().all(variable) || value.contains('.'))
    {
        return false;
    }
    let symbol = has(|byte| {
        matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'^' | b'*' | b'+' | b'=' | b'~' | b'?'
        )
    });
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    match is_strong {
        true => {
            (letter && (digit || symbol))
                || (cases && value.len() >= 12 && whole && !value.contains('-'))
        }
        false => letter && digit,
    }
}

/// The token behind the name of a scheme that ends at `end`.
pub(super) fn credentials(text: &[u8], scheme: Range<usize>) -> Option<Range<usize>> {
    if !is_free_before(text, scheme.start) {
        return None;
    }
    let spaces = text[scheme.end..]
        .iter()
        .take(GAP_MAX)
        .take_while(|byte| **byte == b' ')
        .count();
    let start = scheme.end + spaces;
    let is_part = |byte: &&u8| {
        byte.is_ascii_alphanumeric()
            || matches!(**byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
    };
    let mut end = start + text[start..].iter().take_while(is_part).count();
    while end > start && text[end - 1] == b'.' {
        end -= 1;
    }
    let token = &text[start..end];
    let begins = [text[scheme.start], text[scheme.start + 1]];
    let is_secret = match &begins.map(|byte| byte.to_ascii_lowercase()) {
        b"ba" => is_basic(token),
        b"to" => is_behind_its_header(text, scheme.start) && is_bearer(token),
        b"co" => return cookie(text, start),
        _ => is_bearer(token),
    };
    is_secret.then_some(start..end)
}

/// `Authorization: token …`: without the header in front it is a word of a sentence.
fn is_behind_its_header(text: &[u8], scheme: usize) -> bool {
    let is_gap = |byte: &&u8| matches!(**byte, BREAK | b':' | b'"' | b'\'' | b' ');
    let gap = text[..scheme].iter().rev().take(GAP_MAX).take_while(is_gap);
    let head = &text[..scheme - gap.count()];
    let name = head.get(head.len().wrapping_sub("authorization".len())..);
    name.is_some_and(|name| name.eq_ignore_ascii_case(b"authorization"))
}

/// The value of the first cookie of a header that looks like a key: the rest of them name things as well.
fn cookie(text: &[u8], start: usize) -> Option<Range<usize>> {
    let line = text[start..].iter().take(VALUE_LENGTH_MAX);
    let name = line
        .take_while(|byte| is_word(**byte) || **byte == b'-' || **byte == b'.')
        .count();
    let value = start + name + 1;
    if name == 0 || text.get(value - 1) != Some(&b'=') {
        return None;
    }
    let length = text[value..]
        .iter()
        .take_while(|byte| is_value(**byte))
        .count();
    let found = &text[value..value + length];
    (found.len() >= 16 && is_bearer(found)).then_some(value..value + length)
}

fn is_basic(token: &[u8]) -> bool {
    let decoded = super::jwt::decode(token).filter(|_| token.len() >= 8);
    decoded.is_some_and(|decoded| decoded.contains(&b':') && decoded.is_ascii())
}

/// A token and not the next word of a sentence: dots inside, or letters and digits.
fn is_bearer(token: &[u8]) -> bool {
    let dotted = token.len() >= 7
        && token.contains(&b'.')
        && token
            .split(|byte| *byte == b'.')
            .all(|part| part.len() >= 3);
    let letter = token.iter().any(u8::is_ascii_alphabetic);
    let digit = token.iter().any(u8::is_ascii_digit);
    let mixed_case =
        token.iter().any(u8::is_ascii_uppercase) && token.iter().any(u8::is_ascii_lowercase);
    dotted || (token.len() >= 8 && letter && digit) || (token.len() >= 20 && mixed_case)
}

/// The password in an address, when there is one: `scheme://user:password@host`.
pub(super) fn address_password(text: &[u8], mark: Range<usize>) -> Option<Range<usize>> {
    if mark.start == 0 || !text[mark.start - 1].is_ascii_alphanumeric() {
        return None;
    }
    let authority = text[mark.end..]
        .iter()
        .take(VALUE_LENGTH_MAX)
        .take_while(|byte| {
            !matches!(
                byte,
                0..=b' ' | b'/' | b'?' | b'"' | b'\'' | b'<' | b'>' | b'\\'
            )
        })
        .count();
    let authority = &text[mark.end..mark.end + authority];
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..at].iter().position(|byte| *byte == b':')?;
    let password = &authority[colon + 1..at];
    let stands_in = password
        .iter()
        .all(|byte| matches!(byte, b'*' | b'x' | b'X'))
        || password.starts_with(b"$");
    (!password.is_empty() && !stands_in && !password.starts_with(b"[redacted"))
        .then_some(mark.end + colon + 1..mark.end + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<&str> {
        let lower = text.to_ascii_lowercase();
        NAMES.iter().find_map(|name| {
            let at = lower.find(name)?;
            value_of(text, at..at + name.len()).map(|span| &text[span])
        })
    }

    #[test]
    fn a_named_value_is_found() {
        for (text, expected) in [
            ("password: hunter2!", "hunter2"),
            ("DB_PASSWORD=s3cr3tvalue", "s3cr3tvalue"),
            ("\"client_secret\": \"Zx81-abc-99\"", "Zx81-abc-99"),
            (
                "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            ),
            ("api_key\u{0}9f8e7d6c5b4a", "9f8e7d6c5b4a"),
            ("Ihr Passwort lautet Sommer2026x", "Sommer2026x"),
            ("mot de passe : Soleil42", "Soleil42"),
            ("access_token\u{0}abcDEF1234567890", "abcDEF1234567890"),
            ("{token: 9f8e7d6c5b4a39281706ab}", "9f8e7d6c5b4a39281706ab"),
            ("x-api-key: 1a2b3c4d5e", "1a2b3c4d5e"),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn names_of_other_things_and_stand_ins_hold_no_secret() {
        for text in [
            "password: required",
            "password_hash: 9f8e7d6c5b4a",
            "Your password: 8-20 characters",
            "password=${DB_PASSWORD}",
            "password: ********",
            "next_token\u{0}eyJwYWdlIjoyfQ1234567890",
            "tokenType: Bearer1234",
            "nextPageToken: abc123def456ghi789jkl",
            "password: 2026-11-30",
            "secret: see chapter4",
            "The password was changed on 2026-11-30",
            "max_tokens: 4096",
            "password=DB_PASSWORD_1",
            "api key: https://example.org/docs1",
            "forgot password? Ask us",
            "token\u{0}abc123",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn tokens_behind_a_scheme_are_found_and_words_are_not() {
        let found = |text: &str| {
            let lower = text.to_ascii_lowercase();
            SCHEMES.iter().find_map(|scheme| {
                let at = lower.find(scheme)?;
                credentials(text.as_bytes(), at..at + scheme.len())
                    .map(|span| text[span].to_owned())
            })
        };
        assert_eq!(found("Bearer aaa.bbb"), Some("aaa.bbb".to_owned()));
        assert_eq!(
            found("authorization: bearer 9f8e7d6c5b"),
            Some("9f8e7d6c5b".to_owned())
        );
        assert_eq!(found("Basic dXNlcjpwYXNz"), Some("dXNlcjpwYXNz".to_owned()));
        assert_eq!(
            found("Authorization\0token 9f8e7d6c5b"),
            Some("9f8e7d6c5b".to_owned())
        );
        assert_eq!(
            found("Set-Cookie: sid=9f8e7d6c5b4a3928x; Secure"),
            Some("9f8e7d6c5b4a3928x".to_owned())
        );
        for text in [
            "the bearer of this cheque",
            "Bearer shares",
            "Basic account",
            "basic questions",
            "forbearer aaa.bbb",
            "token 9f8e7d6c5b4a39281706",
            "Cookie: theme=dark",
            "a cookie: sweet1",
            "Bearer token.",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn the_password_of_an_address_is_found() {
        let found = |text: &str| {
            let at = text.find(ADDRESS)?;
            address_password(text.as_bytes(), at..at + 3).map(|span| text[span].to_owned())
        };
        assert_eq!(
            found("postgres://app:s3cr@t@db/x"),
            Some("s3cr@t".to_owned())
        );
        for text in [
            "https://example.org:8443/a@b",
            "https://user@example.org",
            "ssh://git@host:22/x",
            "p://u:***@h",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
