//! The session token's table: every kind of bad token is refused, for its own reason.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_identity::{
    SignError, TokenError, VerifyingKeyFile, VerifyingKeys, generate_key, sign_request,
    sign_session, verify_session,
};
use serde_json::{Value, json};

use crate::forge::*;

fn refusal(token: &str) -> TokenError {
    verify_session(&keys(), token, NOW).expect_err(token)
}

#[test]
fn a_genuine_token_says_who_the_customer_is() {
    let token = sign_session(&key(), &session_claims()).unwrap();
    let claims = verify_session(&keys(), &token, NOW + 1).unwrap();
    assert_eq!(claims.customer, session_claims().customer);
    assert_eq!(claims.conversation, session_claims().conversation);
    assert_eq!(claims.turn, session_claims().turn);
    assert_eq!(claims.token_id, session_claims().token_id);
    assert!(
        claims
            .grant_secret
            .matches(session_claims().grant_secret.expose())
    );
    assert_eq!((claims.issued_at, claims.expires_at), (NOW, NOW + 120));
}

#[test]
fn the_hand_made_token_of_these_tests_is_accepted_while_nothing_is_changed() {
    let token = forge(&session_header(), &session_payload());
    assert!(verify_session(&keys(), &token, NOW).is_ok());
}

#[test]
fn a_token_holds_exactly_the_declared_header_and_claims() {
    let token = sign_session(&key(), &session_claims()).unwrap();
    let parts: Vec<Value> = token
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts, [session_header(), session_payload()]);
}

#[test]
fn another_algorithm_is_refused_whatever_its_spelling() {
    for alg in [
        "none", "None", "nOnE", "HS256", "RS256", "ES256", "Ed25519", "eddsa", "",
    ] {
        let header = with(session_header(), "alg", json!(alg));
        assert_eq!(
            refusal(&forge(&header, &session_payload())),
            TokenError::Algorithm,
            "{alg}"
        );
    }
}

#[test]
fn every_claim_is_required() {
    for (claim, _) in session_payload().as_object().unwrap() {
        let payload = with(session_payload(), claim, Value::Null);
        assert_eq!(
            refusal(&forge(&session_header(), &payload)),
            TokenError::Claims,
            "{claim}"
        );
    }
}

#[test]
fn every_claim_has_one_type() {
    for (claim, value) in [
        ("exp", json!((NOW + 120).to_string())),
        ("iat", json!(NOW.to_string())),
        ("exp", json!(1_796_000_120.0)),
        ("exp", json!(-1)),
        ("exp", json!(true)),
        ("exp", json!([NOW + 120])),
        ("sub", json!("")),
        ("sub", json!("cus_0000000000007000800000000000000A")),
        ("sub", json!("con_00000000000070008000000000000001")),
        ("sub", json!("c".repeat(2000))),
        ("sub", json!(["cus_00000000000070008000000000000001"])),
        ("sub", json!({"id": "cus_00000000000070008000000000000001"})),
        ("sid", json!("cus_00000000000070008000000000000002")),
        ("turn", json!("03")),
        ("turn", json!("0A".repeat(16))),
        ("jti", json!(5)),
        ("gsec", json!("")),
        ("gsec", json!("04".repeat(31))),
        ("gsec", json!(null)),
    ] {
        let mut payload = session_payload();
        payload[claim] = value.clone();
        assert_eq!(
            refusal(&forge(&session_header(), &payload)),
            TokenError::Claims,
            "{claim} {value}"
        );
    }
}

#[test]
fn an_undeclared_claim_is_refused() {
    for claim in ["nbf", "customer_id", "scope", "Sub", "act"] {
        let payload = with(session_payload(), claim, json!(1));
        assert_eq!(
            refusal(&forge(&session_header(), &payload)),
            TokenError::Claims,
            "{claim}"
        );
    }
}

#[test]
fn a_key_inside_the_token_is_refused_though_it_fits() {
    let x = {
        let pem = key_file().verifying_key_file().unwrap().public_pem;
        use ed25519_dalek::pkcs8::DecodePublicKey;
        let key = ed25519_dalek::VerifyingKey::from_public_key_pem(&pem).unwrap();
        URL_SAFE_NO_PAD.encode(key.as_bytes())
    };
    for (member, value) in [
        ("jwk", json!({"kty": "OKP", "crv": "Ed25519", "x": x})),
        ("jku", json!("https://keys.example/jwks.json")),
        ("x5u", json!("https://keys.example/cert.pem")),
        ("x5c", json!(["MIIB"])),
        ("x5t", json!("AAAA")),
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("b64", json!(false)),
        ("cty", json!("JWT")),
        ("zip", json!("DEF")),
        ("nonce", json!("n")),
    ] {
        let header = with(session_header(), member, value);
        assert_eq!(
            refusal(&forge(&header, &session_payload())),
            TokenError::Header,
            "{member}"
        );
    }
}

#[test]
fn every_header_member_is_required_and_a_text() {
    for member in ["alg", "kid", "typ"] {
        for value in [Value::Null, json!(1), json!(["EdDSA"])] {
            let header = with(session_header(), member, value);
            assert_eq!(
                refusal(&forge(&header, &session_payload())),
                TokenError::Header
            );
        }
    }
}

#[test]
fn only_a_pinned_key_id_counts() {
    for kid in ["../../k", "' OR 1=1", "", "K-1", "k-1 ", "k-2", "/dev/null"] {
        let header = with(session_header(), "kid", json!(kid));
        assert_eq!(
            refusal(&forge(&header, &session_payload())),
            TokenError::Key,
            "{kid:?}"
        );
    }
}

#[test]
fn a_key_id_does_not_lend_its_name_to_another_key() {
    let other = generate_key([8; 32], "k-1").verifying_key_file().unwrap();
    let token = sign_session(&key(), &session_claims()).unwrap();
    let keys = VerifyingKeys::new(vec![other]).unwrap();
    assert_eq!(
        verify_session(&keys, &token, NOW).unwrap_err(),
        TokenError::Signature
    );
}

#[test]
fn a_retired_key_ends_at_its_second() {
    let retired = VerifyingKeyFile {
        accept_until: Some(NOW + 10),
        ..key_file().verifying_key_file().unwrap()
    };
    let next = generate_key([8; 32], "k-2").verifying_key_file().unwrap();
    let keys = VerifyingKeys::new(vec![retired, next]).unwrap();
    let token = sign_session(&key(), &session_claims()).unwrap();
    assert!(verify_session(&keys, &token, NOW + 9).is_ok());
    assert_eq!(
        verify_session(&keys, &token, NOW + 10).unwrap_err(),
        TokenError::Key
    );
    assert_eq!(
        verify_session(&keys, &token, NOW + 11).unwrap_err(),
        TokenError::Key
    );
}

#[test]
fn a_token_of_another_type_is_refused() {
    for typ in [
        "JWT",
        "at+jwt",
        "cs-request+jwt",
        "application/cs-session+jwt",
        "CS-SESSION+JWT",
    ] {
        let header = with(session_header(), "typ", json!(typ));
        assert_eq!(
            refusal(&forge(&header, &session_payload())),
            TokenError::Type,
            "{typ}"
        );
    }
}

#[test]
fn a_token_by_or_for_somebody_else_is_refused() {
    for (claim, value) in [
        ("aud", json!("panel")),
        ("aud", json!("bank-mcp")),
        ("aud", json!("DOOR")),
        ("iss", json!("countersign-door")),
        ("iss", json!("countersign-panel")),
    ] {
        let payload = with(session_payload(), claim, value.clone());
        assert_eq!(
            refusal(&forge(&session_header(), &payload)),
            TokenError::Audience,
            "{value}"
        );
    }
    // A list that contains the right audience is still no text.
    let payload = with(session_payload(), "aud", json!(["door", "panel"]));
    assert_eq!(
        refusal(&forge(&session_header(), &payload)),
        TokenError::Claims
    );
}

#[test]
fn a_request_token_is_no_session_token() {
    let token = sign_request(&key(), &request_claims()).unwrap();
    assert_eq!(refusal(&token), TokenError::Type);
}

#[test]
fn clocks_may_differ_by_less_than_five_seconds_and_no_more() {
    let token = sign_session(&key(), &session_claims()).unwrap();
    let at = |now: u64| verify_session(&keys(), &token, now).map(|_| ());
    assert_eq!(at(NOW - 5), Ok(()));
    assert_eq!(at(NOW - 6), Err(TokenError::Time));
    assert_eq!(at(NOW - 120), Err(TokenError::Time));
    assert_eq!(at(NOW + 120 + 4), Ok(()));
    assert_eq!(at(NOW + 120 + 5), Err(TokenError::Time));
    assert_eq!(at(NOW + 120 + 6), Err(TokenError::Time));
    assert_eq!(at(u64::MAX), Err(TokenError::Time));
    assert_eq!(at(0), Err(TokenError::Time));
}

#[test]
fn a_long_or_backward_life_is_neither_signed_nor_accepted() {
    for (iat, exp) in [
        (NOW, NOW + 121),
        (NOW, NOW),
        (NOW, NOW - 1),
        (0, u64::MAX),
        (u64::MAX, 0),
    ] {
        let mut payload = session_payload();
        payload["iat"] = json!(iat);
        payload["exp"] = json!(exp);
        assert_eq!(
            refusal(&forge(&session_header(), &payload)),
            TokenError::Lifetime,
            "{iat} {exp}"
        );
        let mut claims = session_claims();
        (claims.issued_at, claims.expires_at) = (iat, exp);
        assert_eq!(sign_session(&key(), &claims), Err(SignError::Lifetime));
    }
}

#[test]
fn a_grant_secret_of_another_form_is_not_signed() {
    let mut claims = session_claims();
    claims.grant_secret = countersign_domain::Secret::new("short");
    assert_eq!(sign_session(&key(), &claims), Err(SignError::GrantSecret));
}

#[test]
fn a_refusal_shows_nothing_of_the_token() {
    let token = forge(
        &with(session_header(), "kid", json!("k-9")),
        &session_payload(),
    );
    let shown = format!("{0} {0:?}", refusal(&token));
    assert!(!shown.contains("k-9") && !shown.contains("cus_"));
    let claims = verify_session(
        &keys(),
        &sign_session(&key(), &session_claims()).unwrap(),
        NOW,
    );
    assert!(!format!("{claims:?}").contains("0404"));
}
