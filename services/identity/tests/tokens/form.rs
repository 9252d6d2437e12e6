//! One token has one text: no second spelling of header, claims or signature is accepted.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_identity::{TokenError, sign_session, verify_session};
use serde_json::{Value, json};

use crate::forge::*;

fn refusal(token: &str) -> TokenError {
    verify_session(&keys(), token, NOW).expect_err(token)
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
