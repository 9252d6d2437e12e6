//! The signed evidence that a decider was there (§3.8): two frozen shapes, and when each must be.

use serde_json::{Map, Value};

use super::refusal::{Refusal, RefusalCode};
use super::time_text::milliseconds;

/// The largest integer that every reader holds exactly.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

fn mismatch(what: &str) -> Refusal {
    Refusal::new(RefusalCode::DeciderProofMismatch, what)
}

/// Checks a signed proof against the signed way of authentication (§6.7 step 2).
pub(super) fn check(method: Option<&str>, proof: Option<&Value>) -> Result<(), Refusal> {
    let wanted = match method {
        Some("session_stepup_webauthn") => "webauthn",
        Some("session_reauth") => "reauth",
        _ if proof.is_some_and(|proof| !proof.is_null()) => {
            return Err(mismatch(
                "a decider's proof stands beside a way of authentication that proves nothing",
            ));
        }
        _ => return Ok(()),
    };
    let proof = proof
        .filter(|proof| !proof.is_null())
        .ok_or_else(|| mismatch("the way of authentication asks for a decider's proof"))?;
    let shape = proof.as_object().and_then(shape_of).ok_or_else(|| {
        Refusal::new(
            RefusalCode::DeciderProofInvalid,
            "the decider's proof is not of one of its two shapes",
        )
    })?;
    if shape == wanted {
        Ok(())
    } else {
        Err(mismatch(
            "the decider's proof is of another way of authentication",
        ))
    }
}

/// Which of the two shapes this is, every rule of it kept.
fn shape_of(proof: &Map<String, Value>) -> Option<&'static str> {
    let text = |name: &str| proof.get(name).and_then(Value::as_str);
    let digest = |name: &str| {
        text(name).is_some_and(|text| {
            text.len() == 64
                && text
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    let positive = |value: &Value| {
        value
            .as_u64()
            .is_some_and(|number| (1..=SAFE_INTEGER_MAX).contains(&number))
    };
    let only = |names: &[&str]| proof.keys().all(|name| names.contains(&name.as_str()));
    let verified_at = milliseconds(text("verifiedAt")?)?;
    match text("method")? {
        "webauthn" => {
            let sound = only(&[
                "method",
                "credentialIdHash",
                "challengeHash",
                "authenticatorDataHash",
                "userVerified",
                "rpId",
                "origin",
                "reviewGeneration",
                "verifiedAt",
            ]) && digest("credentialIdHash")
                && digest("challengeHash")
                && digest("authenticatorDataHash")
                && proof.get("userVerified").is_some_and(Value::is_boolean)
                && text("rpId").is_some_and(is_host)
                && text("origin").is_some_and(is_origin)
                && proof.get("reviewGeneration").is_none_or(positive);
            sound.then_some("webauthn")
        }
        "reauth" => {
            let most = proof.get("maxAgeMs").filter(|value| positive(value))?;
            let age = verified_at - milliseconds(text("authTime")?)?;
            let fresh = age <= most.as_i64()?;
            (fresh && only(&["method", "authTime", "maxAgeMs", "verifiedAt"])).then_some("reauth")
        }
        _ => None,
    }
}

fn is_host(text: &str) -> bool {
    (1..=253).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-')
}

/// An `http` or `https` origin in the one spelling that the URL standard gives it: lower case, no
/// path, no default port. Hosts are names or IPv4 addresses; a bracketed address is passed as it is.
fn is_origin(text: &str) -> bool {
    if text.len() > 2_048 {
        return false;
    }
    let (rest, default_port) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (rest, "443"),
        (_, Some(rest)) => (rest, "80"),
        _ => return false,
    };
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (rest, None),
    };
    let port_holds = port.is_none_or(|port| {
        port != default_port
            && port
                .parse::<u16>()
                .is_ok_and(|number| number.to_string() == port)
    });
    let named = !host.is_empty()
        && host
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_'));
    let bracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .and_then(|host| host.parse::<std::net::Ipv6Addr>().ok())
        .is_some_and(|address| format!("[{address}]") == host);
    port_holds && (named || bracketed)
}
