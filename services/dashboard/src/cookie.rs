//! The one cookie of this origin: it holds the operator session's secret and nothing else.

use axum::http::{HeaderMap, HeaderValue};
use countersign_domain::Secret;
use countersign_serve::cookie::SecretCookie;

const COOKIE: SecretCookie = SecretCookie::new("__Host-countersign-dashboard");

/// The session secret a request carries. None when the cookie is absent, malformed, or there twice.
pub fn read(headers: &HeaderMap) -> Option<Secret> {
    COOKIE.read(headers)
}

/// The header that gives a browser its session for `seconds`.
pub fn set(secret: &Secret, seconds: u32) -> HeaderValue {
    COOKIE.set(secret, seconds)
}

/// The header that takes the cookie away.
pub fn clear() -> HeaderValue {
    COOKIE.clear()
}
