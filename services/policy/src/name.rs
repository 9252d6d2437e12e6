//! Names of tools: their characters, their words, and patterns over them.

/// Longest name, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// Longest identity in a rule, in bytes.
const IDENTITY_BYTES_MAX: usize = 256;

/// Whether a name is plain: 1 to 128 ASCII letters, digits, dashes and underscores, and dots where
/// the policy says so. Anything else could look like another name.
#[must_use]
pub fn check_name(name: &str, allow_dots: bool) -> bool {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || (allow_dots && byte == b'.')
    };
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(plain)
}

/// The words of a name in lower case: `sendMoney`, `send_money`, `SEND-money2` all hold `send`.
#[must_use]
pub fn name_tokens(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut tokens = Vec::new();
    let mut token = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphabetic() {
            tokens.extend((!token.is_empty()).then(|| std::mem::take(&mut token)));
            continue;
        }
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + 1);
        // A capital starts a word after a small letter, and before one (the U of `PAYUser`).
        let starts = byte.is_ascii_uppercase()
            && (before.is_some_and(|before| before.is_ascii_lowercase())
                || after.is_some_and(u8::is_ascii_lowercase));
        if starts && !token.is_empty() {
            tokens.push(std::mem::take(&mut token));
        }
        token.push(char::from(byte.to_ascii_lowercase()));
    }
    tokens.extend((!token.is_empty()).then_some(token));
    tokens
}

/// A pattern over whole names in which `*` stands for any characters, also none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Box<str>);

impl Glob {
    /// A pattern, unless it holds more than name characters, slashes and stars.
    #[must_use]
    pub fn new(pattern: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./$*".contains(&byte);
        let good = !pattern.is_empty() && pattern.len() <= NAME_BYTES_MAX;
        (good && pattern.bytes().all(plain)).then(|| Self(pattern.into()))
    }

    /// A pattern over identities, unless it holds more than printable ASCII without spaces.
    pub(crate) fn of_identity(pattern: &str) -> Option<Self> {
        let good = !pattern.is_empty() && pattern.len() <= IDENTITY_BYTES_MAX;
        let printable = pattern.bytes().all(|byte| byte.is_ascii_graphic());
        (good && printable).then(|| Self(pattern.into()))
    }

    /// The pattern as written.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether it matches the whole name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
            return false;
        };
        let mut parts: Vec<_> = parts.collect();
        let Some(last) = parts.pop() else {
            return rest.is_empty();
        };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_names() {
        assert!(check_name("get_balance-2", false));
        assert!(check_name(&"a".repeat(128), false));
        for name in [
            "",
            "a b",
            "a.b",
            "a/b",
            "request_transf\u{435}r",
            "a ",
            "a\u{200b}",
        ] {
            assert!(!check_name(name, false), "{name}");
        }
        assert!(!check_name(&"a".repeat(129), false));
        assert!(check_name("a.b", true));
    }

    #[test]
    fn names_fall_into_words() {
        for (name, expected) in [
            ("sendMoney", vec!["send", "money"]),
            ("PAYUser", vec!["pay", "user"]),
            ("send-money_2Bob", vec!["send", "money", "bob"]),
            ("HTTPSend", vec!["http", "send"]),
            ("__", vec![]),
        ] {
            assert_eq!(name_tokens(name), expected, "{name}");
        }
    }

    #[test]
    fn a_pattern_matches_whole_names() {
        let matches = |pattern: &str, name: &str| Glob::new(pattern).unwrap().matches(name);
        assert!(matches("request_*", "request_transfer"));
        assert!(matches("*", ""));
        assert!(matches("*transfer", "request_transfer"));
        assert!(matches("a*b*c", "aXbYbc"));
        assert!(matches("abc", "abc"));
        assert!(!matches("abc", "abcd"));
        assert!(!matches("a*a", "a"));
        assert!(!matches("request_*", "a_request_x"));
        assert_eq!(Glob::new("a?"), None);
        assert_eq!(Glob::new(""), None);
    }
}
