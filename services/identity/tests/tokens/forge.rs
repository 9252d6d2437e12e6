//! A token maker that signs anything, so that only the verifier stands between it and acceptance.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_identity::{
    RequestClaims, SessionClaims, SigningKey, SigningKeyFile, TokenId, TurnId, VerifyingKeys,
    body_digest, generate_key,
};
use ed25519_dalek::{Signer, pkcs8::DecodePrivateKey};
use serde_json::{Value, json};

pub const NOW: u64 = 1_796_000_000;
pub const BODY: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_limits","arguments":{}}}"#;

pub fn key_file() -> SigningKeyFile {
    generate_key([7; 32], "k-1")
}

pub fn key() -> SigningKey {
    SigningKey::from_file(&key_file()).unwrap()
}

pub fn keys() -> VerifyingKeys {
    VerifyingKeys::new(vec![key_file().verifying_key_file().unwrap()]).unwrap()
}

pub fn session_claims() -> SessionClaims {
    SessionClaims {
        customer: "cus_00000000000070008000000000000001".parse().unwrap(),
        conversation: "con_00000000000070008000000000000002".parse().unwrap(),
        turn: TurnId::from_random([3; 16]),
        grant_secret: countersign_domain::Secret::from_random([4; 32]),
        issued_at: NOW,
        expires_at: NOW + 120,
        token_id: TokenId::from_random([5; 16]),
    }
}

pub fn request_claims() -> RequestClaims {
    RequestClaims {
        customer: session_claims().customer,
        conversation: session_claims().conversation,
        grant_secret: session_claims().grant_secret,
        issued_at: NOW,
        token_id: TokenId::from_random([6; 16]),
        method: "POST".into(),
        path: "/mcp".into(),
        body_digest: body_digest(BODY),
        record_leaf: [9; 32],
    }
}

pub fn session_header() -> Value {
    json!({"alg": "EdDSA", "kid": "k-1", "typ": "cs-session+jwt"})
}

pub fn session_payload() -> Value {
    json!({
        "iss": "countersign-intake", "aud": "door",
        "sub": "cus_00000000000070008000000000000001",
        "sid": "con_00000000000070008000000000000002",
        "turn": "03".repeat(16), "gsec": "04".repeat(32),
        "iat": NOW, "exp": NOW + 120, "jti": "05".repeat(16),
    })
}

pub fn request_header() -> Value {
    json!({"alg": "EdDSA", "kid": "k-1", "typ": "cs-request+jwt"})
}

pub fn request_payload() -> Value {
    json!({
        "iss": "countersign-door", "aud": "bank-mcp",
        "sub": "cus_00000000000070008000000000000001",
        "sid": "con_00000000000070008000000000000002",
        "gsec": "04".repeat(32), "act": "door",
        "iat": NOW, "exp": NOW + 30, "jti": "06".repeat(16),
        "htm": "POST", "htu": "/mcp",
        "bd": URL_SAFE_NO_PAD.encode(body_digest(BODY)), "rcpt": "09".repeat(32),
    })
}

/// Signs the given bytes with the genuine key, whatever they say.
pub fn forge_bytes(header: &[u8], payload: &[u8]) -> String {
    let message = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(payload)
    );
    let key = ed25519_dalek::SigningKey::from_pkcs8_pem(key_file().pkcs8_pem.expose()).unwrap();
    let signature = key.sign(message.as_bytes()).to_bytes();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Signs the given JSON with the genuine key, whatever it says.
pub fn forge(header: &Value, payload: &Value) -> String {
    forge_bytes(
        header.to_string().as_bytes(),
        payload.to_string().as_bytes(),
    )
}

/// The value with one member set, or removed for `Value::Null`.
pub fn with(mut object: Value, member: &str, value: Value) -> Value {
    let map = object.as_object_mut().unwrap();
    if value.is_null() {
        map.remove(member)
            .expect("only a member that is there can be removed");
    } else {
        map.insert(member.into(), value);
    }
    object
}
