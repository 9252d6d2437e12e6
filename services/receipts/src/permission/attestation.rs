//! Attestations of what came of an approved action (§9), each with the receipt it is about.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::artifact::{SignedBytes, VerifiedArtifact, is_commitment, verify_artifact};
use super::fields::attestation_bytes;
use super::keys::KeySet;
use super::refusal::{Refusal, RefusalCode};
use super::time_text::milliseconds;

#[derive(Deserialize)]
struct Envelope {
    attestation_artifact: Map<String, Value>,
}

/// An attestation that holds, and the receipt it is about.
#[derive(Clone, Debug)]
pub struct VerifiedAttestation {
    /// The signed payload.
    pub payload: Map<String, Value>,
    /// The receipt.
    pub receipt: VerifiedArtifact,
}

/// Checks an attestation with the receipt it is about (§9.5).
///
/// # Errors
/// [`Refusal`] with the format's own code.
pub fn verify_attestation(
    envelope: &str,
    receipt: &str,
    keys: &KeySet,
) -> Result<VerifiedAttestation, Refusal> {
    let Envelope {
        attestation_artifact: artifact,
    } = serde_json::from_str(envelope)
        .map_err(|_| Refusal::malformed("the file is not an attestation artifact"))?;
    if artifact.get("signed") == Some(&Value::Bool(false)) {
        return Err(Refusal::new(
            RefusalCode::AttestationUnsigned,
            "the outcome was recorded without a signature and proves nothing",
        ));
    }
    if artifact.get("payload_withheld") == Some(&Value::Bool(true)) {
        return Err(Refusal::new(
            RefusalCode::PayloadWithheld,
            "the attestation's payload is not handed out here",
        ));
    }
    let text = |name: &str| {
        artifact
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| Refusal::malformed("the attestation artifact lacks a member"))
    };
    let (receipt_id, key_id) = (text("approval_receipt_id")?, text("key_id")?);
    let (hash, signature) = (text("signed_payload_hash")?, text("signature_b64")?);
    if text("alg")? != "ed25519" {
        return Err(Refusal::malformed("the algorithm is not ed25519"));
    }
    let payload_b64 = text("payload_bytes_b64")?;
    let receipt = verify_artifact(receipt, keys, None)?;
    if receipt.text("id") != Some(receipt_id) {
        return Err(Refusal::malformed(
            "the attestation is about another receipt",
        ));
    }
    if receipt.text("status") != Some("APPROVED") {
        return Err(Refusal::malformed("what was not approved has no outcome"));
    }
    let signed = SignedBytes::read(payload_b64, hash, key_id)?;
    signed.is_exactly(&attestation_bytes(&signed.payload)?)?;
    signed.check(keys, key_id, signature)?;
    let payload = signed.payload;
    if payload.get("approvalReceiptId").and_then(Value::as_str) != Some(receipt_id) {
        return Err(Refusal::malformed(
            "the signed attestation is about another receipt than its envelope says",
        ));
    }
    if !claims_agree(&payload) {
        return Err(Refusal::new(
            RefusalCode::AttestationInconsistent,
            "the attestation's claims contradict each other",
        ));
    }
    Ok(VerifiedAttestation { payload, receipt })
}

/// §9.2: an outcome that is known has its times, one that is not has neither end nor output.
fn claims_agree(payload: &Map<String, Value>) -> bool {
    let time = |name: &str| {
        payload
            .get(name)
            .map(|value| value.as_str().and_then(milliseconds))
    };
    let (started, finished) = (time("startedAt"), time("finishedAt"));
    if started == Some(None) || finished == Some(None) {
        return false;
    }
    let output = payload.get("outputHash");
    if !output.is_none_or(|hash| hash.as_str().is_some_and(is_commitment)) {
        return false;
    }
    match payload.get("outcome").and_then(Value::as_str) {
        Some("unknown") => finished.is_none() && output.is_none(),
        Some("succeeded" | "failed") => match (started.flatten(), finished.flatten()) {
            (Some(started), Some(finished)) => started <= finished,
            _ => false,
        },
        _ => false,
    }
}
