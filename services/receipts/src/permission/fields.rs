//! The signed members of each version (§3.1, §3.4), and their canonical bytes (§4).

use serde_json::{Map, Value};

use super::refusal::{Refusal, RefusalCode};
use crate::payload::canonical;

const V1: [&str; 18] = [
    "agentId",
    "canonicalization",
    "companyId",
    "createdAt",
    "expiresAt",
    "id",
    "idemKey",
    "inputHash",
    "policyVersion",
    "reasonCodes",
    "receiptVersion",
    "requestJson",
    "riskTier",
    "runId",
    "signatureAlg",
    "signatureKeyId",
    "status",
    "summary",
];

/// What `jcs_v2` adds.
const DECIDER: [&str; 6] = [
    "attributionConfidence",
    "deciderAuthMethod",
    "deciderDisplay",
    "deciderId",
    "resolutionType",
    "scope",
];

const V3: [&str; 22] = [
    "agentId",
    "attributionConfidence",
    "canonicalization",
    "createdAt",
    "deciderAuthMethod",
    "deciderDisplay",
    "deciderId",
    "deciderProof",
    "expiresAt",
    "id",
    "policyVersion",
    "publicProjectionJson",
    "reasonCodes",
    "receiptVersion",
    "requestCommitment",
    "resolutionType",
    "riskTier",
    "runId",
    "scope",
    "signatureAlg",
    "signatureKeyId",
    "status",
];

const ATTESTATION: [&str; 11] = [
    "approvalReceiptId",
    "attestationVersion",
    "canonicalization",
    "createdAt",
    "finishedAt",
    "outcome",
    "outputHash",
    "signatureAlg",
    "signatureKeyId",
    "startedAt",
    "toolCallId",
];

fn listed(payload: &Map<String, Value>, is_listed: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    let kept: Map<String, Value> = payload
        .iter()
        .filter(|(name, value)| !value.is_null() && is_listed(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    canonical(&kept).ok()
}

/// The bytes that this payload must be, under the version it names itself.
pub(super) fn canonical_bytes(payload: &Map<String, Value>) -> Result<Vec<u8>, Refusal> {
    let version = payload.get("canonicalization").and_then(Value::as_str);
    let bytes = match version {
        Some("jcs_v1") => listed(payload, |name| V1.contains(&name)),
        Some("jcs_v2") => listed(payload, |name| {
            V1.contains(&name) || DECIDER.contains(&name)
        }),
        Some("jcs_v3") => listed(payload, |name| V3.contains(&name)),
        Some(_) => {
            return Err(Refusal::new(
                RefusalCode::CanonicalizationUnsupported,
                "signed, and of a version that is not known here: unverifiable, not tampered with",
            ));
        }
        None => return Err(Refusal::malformed("the payload names no canonicalization")),
    };
    bytes.ok_or_else(not_canonical)
}

/// The bytes that an attestation's payload must be (§9.3).
pub(super) fn attestation_bytes(payload: &Map<String, Value>) -> Result<Vec<u8>, Refusal> {
    if payload.get("canonicalization").and_then(Value::as_str) != Some("attest_v1") {
        return Err(Refusal::malformed("the attestation is not of attest_v1"));
    }
    listed(payload, |name| ATTESTATION.contains(&name)).ok_or_else(not_canonical)
}

fn not_canonical() -> Refusal {
    Refusal::new(
        RefusalCode::CanonicalMismatch,
        "the payload's bytes are not its canonical ones",
    )
}
