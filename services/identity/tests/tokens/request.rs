//! The request token's table: good for one method, one path and exactly these bytes.

use countersign_identity::{
    TokenError, sign_request, sign_session, verify_request, verify_session,
};
use serde_json::{Value, json};

use crate::forge::*;

fn verify(token: &str) -> Result<(), TokenError> {
    verify_request(&keys(), token, NOW, "POST", "/mcp", BODY).map(|_| ())
}

#[test]
fn a_genuine_token_is_accepted_with_its_own_call() {
    let token = sign_request(&key(), &request_claims()).unwrap();
    let claims = verify_request(&keys(), &token, NOW + 29, "POST", "/mcp", BODY).unwrap();
    assert_eq!(claims.customer, request_claims().customer);
    assert_eq!(claims.conversation, request_claims().conversation);
    assert_eq!(claims.token_id, request_claims().token_id);
    assert_eq!(claims.record_leaf, request_claims().record_leaf);
    assert_eq!(claims.body_digest, request_claims().body_digest);
    assert!(
        claims
            .grant_secret
            .matches(request_claims().grant_secret.expose())
    );
    assert_eq!(
        verify(&forge(&request_header(), &request_payload())),
        Ok(())
    );
}

#[test]
fn one_changed_byte_of_the_body_is_refused() {
    let token = sign_request(&key(), &request_claims()).unwrap();
    for at in 0..BODY.len() {
        let mut body = BODY.to_vec();
        body[at] ^= 1;
        let answer = verify_request(&keys(), &token, NOW, "POST", "/mcp", &body);
        assert_eq!(answer.unwrap_err(), TokenError::Body, "byte {at}");
    }
    for body in [&BODY[1..], &[BODY, b" "].concat(), b""] {
        let answer = verify_request(&keys(), &token, NOW, "POST", "/mcp", body);
        assert_eq!(answer.unwrap_err(), TokenError::Body);
    }
}

#[test]
fn another_method_or_path_is_refused() {
    let token = sign_request(&key(), &request_claims()).unwrap();
    for (method, path) in [
        ("GET", "/mcp"),
        ("post", "/mcp"),
        ("DELETE", "/mcp"),
        ("POST", "/mcp/"),
        ("POST", "/"),
        ("POST", "/MCP"),
        ("POST", "/mcp?x=1"),
        ("", ""),
    ] {
        let answer = verify_request(&keys(), &token, NOW, method, path, BODY);
        assert_eq!(answer.unwrap_err(), TokenError::Target, "{method} {path}");
    }
}

#[test]
fn every_claim_is_required_and_of_its_form() {
    for (claim, _) in request_payload().as_object().unwrap() {
        let payload = with(request_payload(), claim, Value::Null);
        assert_eq!(
            verify(&forge(&request_header(), &payload)),
            Err(TokenError::Claims),
            "{claim}"
        );
    }
    for (claim, value) in [
        ("act", json!("agent")),
        ("act", json!({"sub": "door"})),
        ("rcpt", json!("")),
        ("rcpt", json!("09".repeat(31))),
        ("rcpt", json!("0G".repeat(32))),
        ("gsec", json!("x")),
        ("jti", json!("06")),
        ("turn", json!("03".repeat(16))),
    ] {
        let payload = with(request_payload(), claim, value);
        assert_eq!(
            verify(&forge(&request_header(), &payload)),
            Err(TokenError::Claims),
            "{claim}"
        );
    }
    for digest in ["", "AAAA", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"] {
        let payload = with(request_payload(), "bd", json!(digest));
        assert_eq!(
            verify(&forge(&request_header(), &payload)),
            Err(TokenError::Body),
            "{digest}"
        );
    }
}

#[test]
fn it_ends_after_half_a_minute() {
    let token = sign_request(&key(), &request_claims()).unwrap();
    let at = |now: u64| verify_request(&keys(), &token, now, "POST", "/mcp", BODY).map(|_| ());
    assert_eq!(at(NOW - 5), Ok(()));
    assert_eq!(at(NOW - 6), Err(TokenError::Time));
    assert_eq!(at(NOW + 34), Ok(()));
    assert_eq!(at(NOW + 36), Err(TokenError::Time));
    let payload = with(request_payload(), "exp", json!(NOW + 31));
    assert_eq!(
        verify(&forge(&request_header(), &payload)),
        Err(TokenError::Lifetime)
    );
}

#[test]
fn no_token_serves_in_the_place_of_the_other() {
    let session = sign_session(&key(), &session_claims()).unwrap();
    assert_eq!(verify(&session), Err(TokenError::Type));
    // Even with the other's type, the claims give it away.
    let dressed = forge(&request_header(), &session_payload());
    assert_eq!(verify(&dressed), Err(TokenError::Claims));
    let dressed = forge(&session_header(), &request_payload());
    assert_eq!(
        verify_session(&keys(), &dressed, NOW).unwrap_err(),
        TokenError::Claims
    );
    for audience in ["door", "panel", "other-bank"] {
        let payload = with(request_payload(), "aud", json!(audience));
        assert_eq!(
            verify(&forge(&request_header(), &payload)),
            Err(TokenError::Audience)
        );
    }
}
