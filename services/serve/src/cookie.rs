//! A session's cookie: it holds one secret and nothing else.

use axum::http::{HeaderMap, HeaderValue, header};
use countersign_domain::Secret;

/// Digits of a secret in a cookie.
const SECRET_DIGITS: usize = 64;

/// The one cookie of an origin.
#[derive(Clone, Copy, Debug)]
pub struct SecretCookie {
    name: &'static str,
    same_site: &'static str,
}

impl SecretCookie {
    /// A cookie of this name. It begins with `__Host-`, so that a browser takes it only with Secure, Path=/ and no
    /// Domain, and no neighbour can set it.
    ///
    /// # Panics
    /// At compile time, with another name.
    pub const fn new(name: &'static str) -> Self {
        assert!(
            matches!(
                name.as_bytes(),
                [b'_', b'_', b'H', b'o', b's', b't', b'-', _, ..]
            ),
            "a session's cookie is bound to its host"
        );
        Self {
            name,
            same_site: "Strict",
        }
    }

    /// The same, but it also comes along when another site's page sends the browser here: for the way back from a sign-in.
    ///
    /// # Panics
    /// As [`SecretCookie::new`].
    pub const fn lax(name: &'static str) -> Self {
        Self {
            same_site: "Lax",
            ..Self::new(name)
        }
    }

    /// The session secret a request carries. None when the cookie is absent, malformed, or there twice.
    pub fn read(self, headers: &HeaderMap) -> Option<Secret> {
        let mut found = None;
        for line in headers.get_all(header::COOKIE) {
            for pair in line.to_str().ok()?.split(';') {
                let Some((name, value)) = pair.trim().split_once('=') else {
                    continue;
                };
                if name != self.name {
                    continue;
                }
                // Two of a cookie that must be one are never "the first".
                if found.is_some() || !is_secret(value) {
                    return None;
                }
                found = Some(Secret::new(value));
            }
        }
        found
    }

    /// The header that gives a browser its session for `seconds`.
    pub fn set(self, secret: &Secret, seconds: u32) -> HeaderValue {
        header_value(&format!(
            "{}={}; Path=/; Secure; HttpOnly; SameSite={}; Max-Age={seconds}",
            self.name,
            secret.expose(),
            self.same_site
        ))
    }

    /// The header that takes the cookie away.
    pub fn clear(self) -> HeaderValue {
        header_value(&format!(
            "{}=; Path=/; Secure; HttpOnly; SameSite={}; Max-Age=0",
            self.name, self.same_site
        ))
    }
}

fn header_value(text: &str) -> HeaderValue {
    let mut value = HeaderValue::from_str(text).expect("a secret is hexadecimal digits");
    value.set_sensitive(true);
    value
}

fn is_secret(value: &str) -> bool {
    value.len() == SECRET_DIGITS
        && value
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "__Host-countersign-panel";
    const COOKIE: SecretCookie = SecretCookie::new(NAME);

    fn read_lines(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, line.parse().unwrap());
        }
        COOKIE
            .read(&headers)
            .map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn the_cookie_comes_back_as_it_was_set() {
        let secret = Secret::from_random([0xab; 32]);
        let set = COOKIE.set(&secret, 60);
        assert!(set.is_sensitive());
        let text = set.to_str().unwrap();
        for attribute in [
            "Path=/",
            "Secure",
            "HttpOnly",
            "SameSite=Strict",
            "Max-Age=60",
        ] {
            assert!(
                text.split("; ").any(|part| part == attribute),
                "{attribute}"
            );
        }
        assert!(!text.contains("Domain"));
        let pair = text.split(';').next().unwrap();
        assert_eq!(
            read_lines(&[&format!("other=1; {pair}")]).as_deref(),
            Some(secret.expose())
        );
    }

    #[test]
    fn what_is_not_exactly_one_secret_is_none() {
        let good = "a".repeat(64);
        for lines in [
            vec![],
            vec![format!("countersign-panel={good}")],
            vec![format!("{NAME}={}", "A".repeat(64))],
            vec![format!("{NAME}={}", "a".repeat(63))],
            vec![format!("{NAME}=\"{good}\"")],
            vec![format!("{NAME}={good}; {NAME}={good}")],
            vec![format!("{NAME}={good}"), format!("{NAME}={good}")],
            vec![format!("{NAME}=; {NAME}={good}")],
        ] {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            assert_eq!(read_lines(&lines), None, "{lines:?}");
        }
    }
}
