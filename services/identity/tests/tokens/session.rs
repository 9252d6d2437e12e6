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
fn an_unsigned_token_is_refused() {
    let header = with(session_header(), "alg", json!("none"));
    let signed = forge(&header, &session_payload());
    let (unsigned, _) = signed.rsplit_once('.').unwrap();
    assert_eq!(refusal(&format!("{unsigned}.")), TokenError::Form);
    assert_eq!(refusal(unsigned), TokenError::Form);
}

#[test]
fn the_public_key_is_no_shared_secret() {
    // HMAC-SHA-256 over the signing input with the public PEM as key, as the classic confusion goes.
    use sha2::{Digest, Sha256};
    let header = with(session_header(), "alg", json!("HS256"));
    let message = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header.to_string()),
        URL_SAFE_NO_PAD.encode(session_payload().to_string())
    );
    let pem = key_file().verifying_key_file().unwrap().public_pem;
    let mut block = [0u8; 64];
    let digest = Sha256::digest(pem.as_bytes());
    let secret: &[u8] = if pem.len() > 64 {
        &digest
    } else {
        pem.as_bytes()
    };
    block[..secret.len()].copy_from_slice(secret);
    let pad = |with: u8| block.map(|b| b ^ with);
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(&message)
        .finalize();
    let mac = Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize();
    // Once at its natural length, once as long as a signature.
    for signature in [mac.to_vec(), [mac.as_slice(), mac.as_slice()].concat()] {
        let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature));
        assert!(matches!(
            refusal(&token),
            TokenError::Form | TokenError::Algorithm
        ));
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
fn a_claim_that_stands_twice_is_refused() {
    let text = session_payload().to_string();
    for second in [
        r#""sub":"cus_00000000000070008000000000000009""#,
        r#""sub":"cus_00000000000070008000000000000001""#,
        r#""\u0073ub":"cus_00000000000070008000000000000009""#,
        r#""exp":1796000100"#,
    ] {
        for payload in [
            text.replacen('{', &format!("{{{second},"), 1),
            format!("{},{second}}}", text.strip_suffix('}').unwrap()),
        ] {
            let token = forge_bytes(session_header().to_string().as_bytes(), payload.as_bytes());
            assert_eq!(refusal(&token), TokenError::Claims, "{payload}");
        }
    }
    let header = r#"{"alg":"none","alg":"EdDSA","kid":"k-1","typ":"cs-session+jwt"}"#;
    let token = forge_bytes(header.as_bytes(), text.as_bytes());
    assert_eq!(refusal(&token), TokenError::Header);
}

#[test]
fn what_is_no_strict_json_object_is_refused() {
    let header = session_header().to_string();
    let payload = session_payload().to_string();
    for (header, payload, reason) in [
        ("", payload.as_str(), TokenError::Form),
        ("null", &payload, TokenError::Header),
        ("[]", &payload, TokenError::Header),
        (
            r#"["EdDSA","k-1","cs-session+jwt"]"#,
            &payload,
            TokenError::Header,
        ),
        (&format!("{header} x"), &payload, TokenError::Header),
        (&format!("\u{feff}{header}"), &payload, TokenError::Header),
        (
            &header.replace("k-1", "k-1\\u0000"),
            &payload,
            TokenError::Header,
        ),
        (&header, "{}", TokenError::Claims),
        (&header, "[]", TokenError::Claims),
        (&header, &format!("{payload}{payload}"), TokenError::Claims),
        (&header, &format!("\u{feff}{payload}"), TokenError::Claims),
        (
            &header,
            &payload.replace("door", r"door\ud800"),
            TokenError::Claims,
        ),
        (
            &header,
            &payload.replace("1796000120", "1796000120e0"),
            TokenError::Claims,
        ),
    ] {
        let token = forge_bytes(header.as_bytes(), payload.as_bytes());
        assert_eq!(refusal(&token), reason, "{header} {payload}");
    }
    let token = forge_bytes(header.as_bytes(), b"{\"iss\":\"\xff\"}");
    assert_eq!(refusal(&token), TokenError::Claims);
}

#[test]
fn a_claims_list_in_the_right_order_is_no_object() {
    // A derived reader would take a list for a struct.
    let payload = session_payload();
    let list: Vec<Value> = [
        "iss", "aud", "sub", "sid", "turn", "gsec", "iat", "exp", "jti",
    ]
    .map(|claim| payload[claim].clone())
    .to_vec();
    assert_eq!(
        refusal(&forge(&session_header(), &json!(list))),
        TokenError::Claims
    );
}

#[test]
fn a_token_has_one_text() {
    let token = sign_session(&key(), &session_claims()).unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else {
        panic!("three parts")
    };
    for twin in [
        format!("{token}="),
        format!("{header}=.{payload}.{signature}"),
        format!(" {token}"),
        format!("{token}\n"),
        format!("{token}."),
        format!(".{token}"),
        format!("{header}.{payload}.{signature}.{signature}"),
        format!("{header}..{signature}"),
        token.replace('-', "+").replace('_', "/") + "A",
        format!("{header}\n.{payload}.{signature}"),
        format!("{token}{}", "A".repeat(5000)),
        String::new(),
        "..".into(),
    ] {
        assert_eq!(refusal(&twin), TokenError::Form, "{twin}");
    }
    // The last character of 64 bytes carries four bits that a careless decoder drops.
    let (body, last) = token.split_at(token.len() - 1);
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for letter in alphabet.chars().filter(|letter| !last.starts_with(*letter)) {
        assert!(verify_session(&keys(), &format!("{body}{letter}"), NOW).is_err());
    }
}

#[test]
fn a_signature_has_one_form() {
    // Adding the group order to the second half gives a signature that a lax verifier accepts.
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let token = sign_session(&key(), &session_claims()).unwrap();
    let (message, signature) = token.rsplit_once('.').unwrap();
    let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let mut carry = 0u16;
    for (byte, add) in bytes[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    let twin = format!("{message}.{}", URL_SAFE_NO_PAD.encode(&bytes));
    assert_eq!(refusal(&twin), TokenError::Signature);
}

#[test]
fn a_signature_with_a_point_of_small_order_is_refused() {
    // With the neutral point as commitment, k·a satisfies the lax equation for every message.
    use curve25519_dalek::Scalar;
    use ed25519_dalek::{Signature, Verifier, pkcs8::DecodePrivateKey};
    use sha2::{Digest, Sha512};
    let token = sign_session(&key(), &session_claims()).unwrap();
    let (message, _) = token.rsplit_once('.').unwrap();
    let key = ed25519_dalek::SigningKey::from_pkcs8_pem(key_file().pkcs8_pem.expose()).unwrap();
    let mut neutral = [0u8; 32];
    neutral[0] = 1;
    let hash = Sha512::new()
        .chain_update(neutral)
        .chain_update(key.verifying_key().as_bytes())
        .chain_update(message)
        .finalize();
    let k = Scalar::from_bytes_mod_order_wide(&hash.into());
    let mut bytes = [0u8; 64];
    bytes[..32].copy_from_slice(&neutral);
    bytes[32..].copy_from_slice((k * key.to_scalar()).as_bytes());
    let lax = key.verifying_key();
    assert!(
        lax.verify(message.as_bytes(), &Signature::from_bytes(&bytes))
            .is_ok()
    );
    let twin = format!("{message}.{}", URL_SAFE_NO_PAD.encode(bytes));
    assert_eq!(refusal(&twin), TokenError::Signature);
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
