//! The envelope of a receipt, and the order in which it is checked (§6.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signature;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::decider_proof;
use super::fields::canonical_bytes;
use super::keys::KeySet;
use super::opening::{Opened, Opening};
use super::projection;
use super::refusal::{Refusal, RefusalCode};

/// What goes over the wire. Only the payload's bytes and the signature are looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactEnvelope {
    /// The receipt.
    pub artifact: Artifact,
    /// Where the issuer publishes its keys. Never followed.
    #[serde(default)]
    pub keys_url: Option<String>,
}

/// A receipt's bytes and signature, with conveniences that prove nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The receipt's name.
    pub receipt_id: String,
    /// `APPROVED` or `DENIED`, unsigned here.
    #[serde(default)]
    pub status: Option<String>,
    /// The payload's version, unsigned here.
    #[serde(default)]
    pub receipt_version: Option<u32>,
    /// The payload's canonicalization, unsigned here.
    #[serde(default)]
    pub canonicalization: Option<String>,
    /// The key's name.
    pub key_id: String,
    /// Always `ed25519`.
    pub alg: String,
    /// SHA-256 of the payload's bytes, in hexadecimal.
    pub signed_payload_hash: String,
    /// Ed25519 over the digest, in base64.
    pub signature_b64: String,
    /// The payload, in base64.
    pub payload_bytes_b64: String,
    /// When it was issued, unsigned here.
    #[serde(default)]
    pub issued_at: Option<String>,
    /// When it expires, unsigned here.
    #[serde(default)]
    pub expires_at: Option<String>,
    /// When it was used, unsigned here.
    #[serde(default)]
    pub redeemed_at: Option<String>,
}

/// A receipt that holds. Everything in it was signed.
#[derive(Clone, Debug)]
pub struct VerifiedArtifact {
    /// The signed payload.
    pub payload: Map<String, Value>,
    /// The public projection of a `jcs_v3` receipt.
    pub projection: Option<Value>,
    /// What the opened request commits to, when an opening was given.
    pub opened: Option<Opened>,
}

impl VerifiedArtifact {
    /// A signed member that is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.payload.get(name).and_then(Value::as_str)
    }
}

/// The bytes of a signed object after hash, key and signature were checked.
pub(super) struct SignedBytes {
    pub bytes: Vec<u8>,
    digest: [u8; 32],
    pub payload: Map<String, Value>,
}

impl SignedBytes {
    /// Steps 2 and 3: the hash, and an object that names its key as the envelope does.
    pub fn read(payload_b64: &str, hash: &str, key_id: &str) -> Result<Self, Refusal> {
        let bytes = STANDARD
            .decode(payload_b64)
            .map_err(|_| Refusal::malformed("the payload is not base64"))?;
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        if hex::encode(digest) != hash {
            return Err(Refusal::new(
                RefusalCode::PayloadHashMismatch,
                "the payload's SHA-256 is not the one beside it",
            ));
        }
        let Ok(Value::Object(payload)) = serde_json::from_slice(&bytes) else {
            return Err(Refusal::malformed("the payload is not a JSON object"));
        };
        if payload.get("signatureKeyId").and_then(Value::as_str) != Some(key_id) {
            return Err(Refusal::malformed(
                "the envelope names another key than the signed payload",
            ));
        }
        Ok(Self {
            bytes,
            digest,
            payload,
        })
    }

    /// Steps 4 and 5: the key and the signature over the digest.
    pub fn check(&self, keys: &KeySet, key_id: &str, signature_b64: &str) -> Result<(), Refusal> {
        let key = keys.find(key_id)?;
        let signature = STANDARD
            .decode(signature_b64)
            .ok()
            .and_then(|bytes| Signature::from_slice(&bytes).ok())
            .ok_or_else(|| Refusal::malformed("the signature is not 64 bytes"))?;
        key.verify_strict(&self.digest, &signature).map_err(|_| {
            Refusal::new(
                RefusalCode::SignatureInvalid,
                "the signature over the digest does not hold",
            )
        })
    }

    /// Step 6: the bytes are the canonical ones.
    pub fn is_exactly(&self, expected: &[u8]) -> Result<(), Refusal> {
        if self.bytes == expected {
            return Ok(());
        }
        Err(Refusal::new(
            RefusalCode::CanonicalMismatch,
            "the payload's bytes are not its canonical ones",
        ))
    }
}

/// Checks a receipt in the order of §6.2 and stops at the first thing that does not hold.
///
/// That a receipt has expired is for the caller to say: its signature stays evidence.
///
/// # Errors
/// [`Refusal`] with the format's own code.
pub fn verify_artifact(
    envelope: &str,
    keys: &KeySet,
    opening: Option<&Opening<'_>>,
) -> Result<VerifiedArtifact, Refusal> {
    let envelope: ArtifactEnvelope = serde_json::from_str(envelope)
        .map_err(|_| Refusal::malformed("the file is not a receipt artifact"))?;
    let artifact = envelope.artifact;
    if artifact.alg != "ed25519" {
        return Err(Refusal::malformed("the algorithm is not ed25519"));
    }
    let signed = SignedBytes::read(
        &artifact.payload_bytes_b64,
        &artifact.signed_payload_hash,
        &artifact.key_id,
    )?;
    signed.check(keys, &artifact.key_id, &artifact.signature_b64)?;
    signed.is_exactly(&canonical_bytes(&signed.payload)?)?;
    let payload = signed.payload;
    if payload.get("canonicalization").and_then(Value::as_str) != Some("jcs_v3") {
        if opening.is_some() {
            return Err(Refusal::new(
                RefusalCode::OpeningNotApplicable,
                "this receipt signs its request in the open; there is nothing to open",
            ));
        }
        return Ok(VerifiedArtifact {
            payload,
            projection: None,
            opened: None,
        });
    }
    let projection = check_third_version(&payload)?;
    let opened = opening.map(|opening| opening.check(&payload)).transpose()?;
    Ok(VerifiedArtifact {
        payload,
        projection: Some(projection),
        opened,
    })
}

/// §6.7 before its third step: what everybody can see in the signed payload.
fn check_third_version(payload: &Map<String, Value>) -> Result<Value, Refusal> {
    if payload.get("receiptVersion").and_then(Value::as_u64) != Some(3) {
        return Err(Refusal::malformed(
            "a jcs_v3 payload is of receiptVersion 3",
        ));
    }
    let commitment = payload.get("requestCommitment").and_then(Value::as_str);
    if !commitment.is_some_and(is_commitment) {
        return Err(Refusal::new(
            RefusalCode::RequestCommitmentMalformed,
            "requestCommitment is not sha256: and 64 hexadecimal digits",
        ));
    }
    let text = payload.get("publicProjectionJson").and_then(Value::as_str);
    let text = text.ok_or_else(|| Refusal::malformed("publicProjectionJson is no text"))?;
    let projection = projection::check(text)?;
    decider_proof::check(
        payload.get("deciderAuthMethod").and_then(Value::as_str),
        payload.get("deciderProof"),
    )?;
    Ok(projection)
}

/// `sha256:` and 64 lower-case hexadecimal digits.
pub(super) fn is_commitment(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|digits| {
        digits.len() == 64
            && digits
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
