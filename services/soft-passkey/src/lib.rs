//! A passkey in software, for tests alone: it signs what a browser and an authenticator would sign, and, where a test
//! asks, what they never would.
//!
//! It holds a P-256 key in memory and builds client data, authenticator data and attestation objects by the W3C
//! specification (Web Authentication Level 3, sections 5.8.1, 6.1 and 6.5). No product crate depends on it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Flag bit: somebody was there.
pub const USER_PRESENT: u8 = 0x01;
/// Flag bit: it was the right somebody, by PIN or biometrics.
pub const USER_VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;

/// One passkey.
#[derive(Clone, Debug)]
pub struct SoftPasskey {
    key: SigningKey,
    id: Vec<u8>,
    /// What the next assertion's counter says; a synced passkey stays at 0.
    pub counter: u32,
}

/// What an assertion says. Every member can be made wrong.
#[derive(Clone, Debug)]
pub struct Saying {
    /// The relying party the authenticator believes it talks to.
    pub rp_id: String,
    /// The client data, as the browser made it.
    pub client_data: Value,
    /// The flags.
    pub flags: u8,
}

impl Saying {
    /// What an honest browser at `origin` says for a challenge.
    pub fn honest(origin: &str, challenge: &[u8]) -> Self {
        Self {
            rp_id: host(origin).to_owned(),
            client_data: json!({
                "type": "webauthn.get", "challenge": URL_SAFE_NO_PAD.encode(challenge),
                "origin": origin, "crossOrigin": false,
            }),
            flags: USER_PRESENT | USER_VERIFIED,
        }
    }
}

/// The challenge in the options of a prompt, in the JSON form of the specification; empty when there is none.
pub fn challenge(options: &Value) -> Vec<u8> {
    let text = options["challenge"].as_str().unwrap_or_default();
    URL_SAFE_NO_PAD.decode(text).unwrap_or_default()
}

/// What a page sends on beside an answer: the challenge in hexadecimal.
pub fn answered(options: &Value, answer: &Value) -> Value {
    let hex: String = challenge(options)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    json!({"challenge": hex, "answer": answer})
}

/// The host of an origin.
pub fn host(origin: &str) -> &str {
    let after_scheme = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    after_scheme.split(':').next().unwrap_or(after_scheme)
}

impl SoftPasskey {
    /// A passkey whose key comes from a seed, so that a test is the same each time.
    ///
    /// # Panics
    /// Never for a byte that is not 0.
    pub fn new(seed: u8) -> Self {
        let key = SigningKey::from_slice(&[seed; 32]).expect("a scalar below the order");
        let id = Sha256::digest([seed; 32]).to_vec();
        Self {
            key,
            id,
            counter: 0,
        }
    }

    /// The credential's id.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The answer to `navigator.credentials.create()`, as a page sends it on.
    pub fn create(&self, origin: &str, challenge: &[u8]) -> Value {
        let mut saying = Saying::honest(origin, challenge);
        saying.client_data["type"] = json!("webauthn.create");
        self.create_saying(&saying)
    }

    /// The same with every part as the test wants it.
    pub fn create_saying(&self, saying: &Saying) -> Value {
        let client_data = saying.client_data.to_string();
        let mut data = head(&saying.rp_id, saying.flags | ATTESTED, self.counter);
        data.extend([0; 16]);
        data.extend(
            u16::try_from(self.id.len())
                .unwrap_or(u16::MAX)
                .to_be_bytes(),
        );
        data.extend(&self.id);
        data.extend(self.cose_key());
        let mut object = vec![0xa3];
        object.extend(text("fmt"));
        object.extend(text("none"));
        object.extend(text("attStmt"));
        object.push(0xa0);
        object.extend(text("authData"));
        object.extend(bytes(&data));
        json!({
            "id": URL_SAFE_NO_PAD.encode(&self.id), "rawId": URL_SAFE_NO_PAD.encode(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(client_data),
                "attestationObject": URL_SAFE_NO_PAD.encode(object),
            },
        })
    }

    /// The answer to `navigator.credentials.get()`.
    pub fn get(&self, origin: &str, challenge: &[u8]) -> Value {
        self.get_saying(&Saying::honest(origin, challenge))
    }

    /// The same with every part as the test wants it, signed.
    pub fn get_saying(&self, saying: &Saying) -> Value {
        let client_data = saying.client_data.to_string();
        let data = head(&saying.rp_id, saying.flags, self.counter);
        let mut signed = data.clone();
        signed.extend(Sha256::digest(client_data.as_bytes()));
        let signature: Signature = self.key.sign(&signed);
        json!({
            "id": URL_SAFE_NO_PAD.encode(&self.id), "rawId": URL_SAFE_NO_PAD.encode(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(client_data),
                "authenticatorData": URL_SAFE_NO_PAD.encode(data),
                "signature": URL_SAFE_NO_PAD.encode(signature.to_der()),
            },
        })
    }

    /// The public key as RFC 9053 writes a P-256 one for ES256.
    fn cose_key(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let point = point.as_bytes();
        let mut key = vec![0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21];
        key.extend(bytes(&point[1..33]));
        key.push(0x22);
        key.extend(bytes(&point[33..65]));
        key
    }
}

/// The head of authenticator data: whose page, how it was agreed to, how often.
fn head(rp_id: &str, flags: u8, counter: u32) -> Vec<u8> {
    let mut data = Sha256::digest(rp_id.as_bytes()).to_vec();
    data.push(flags);
    data.extend(counter.to_be_bytes());
    data
}

/// A short CBOR text.
fn text(value: &str) -> Vec<u8> {
    let mut item = vec![0x60 | u8::try_from(value.len()).unwrap_or(0)];
    item.extend(value.as_bytes());
    item
}

/// A CBOR byte string of less than 64 KiB.
fn bytes(value: &[u8]) -> Vec<u8> {
    let mut item = vec![0x59];
    item.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
    item.extend(value);
    item
}
