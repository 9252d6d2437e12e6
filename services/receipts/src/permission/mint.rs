//! Writing `jcs_v3`: a decision of ours as a receipt that the format's own verifier accepts.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::artifact::{Artifact, ArtifactEnvelope};
use super::opening::{BINDING, SUMMARY, commitment};
use super::projection::build_projection;
use super::time_text::{is_instant, milliseconds};
use crate::payload::canonical;
use crate::{LogSigner, PayloadError};

/// The tag of calls to tools.
const TAG: &str = "execute/v1";
/// Longest life of a receipt, in milliseconds: a day.
const LIFE_MILLISECONDS_MAX: i64 = 86_400_000;

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The action may run.
    Approved,
    /// It may not.
    Denied,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The policy alone; nobody was asked.
    Policy,
    /// A person over a session of the approval page, or a signed call that names them.
    Person {
        /// The name they are known under.
        name: String,
    },
}

/// A call to a tool as a receipt commits to it. None of it but names and the two words of context
/// is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteRequest {
    /// The receipt's name.
    pub id: String,
    /// Who asked.
    pub agent: String,
    /// Which run of theirs.
    pub run: Option<String>,
    /// The server.
    pub tool: String,
    /// The tool of the server.
    pub operation: String,
    /// Everything else that is committed to and not shown; an object.
    pub parameters: Value,
    /// The record the receipt comes from.
    pub origin: String,
    /// What makes asking twice the same: the call's own name.
    pub call: String,
    /// A commitment to the arguments.
    pub input_hash: Option<String>,
    /// Why, in the policy's words.
    pub summary: Option<String>,
    /// The decision.
    pub decision: Decision,
    /// Who decided.
    pub decider: Decider,
    /// Reasons, as codes.
    pub reasons: Vec<String>,
    /// The policy's name and version.
    pub policy: String,
    /// When it was decided.
    pub created_at: String,
    /// Until when an approval counts.
    pub expires_at: String,
}

/// A minted receipt, and what opens its commitment. The second is for its owner alone.
#[derive(Clone, Debug)]
pub struct MintedArtifact {
    /// The public receipt.
    pub envelope: ArtifactEnvelope,
    /// The committed request's text.
    pub request_json: String,
    /// Its salt.
    pub salt: [u8; 32],
}

/// Why a decision cannot be written as such a receipt.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    /// A value has no canonical form.
    #[error("write a receipt")]
    Payload(#[from] PayloadError),
    /// The times are none, or out of order.
    #[error("write a receipt: its times are not instants, the later after the earlier")]
    Times,
    /// It would be good for more than a day.
    #[error("write a receipt: it may be good for 86400 seconds at most")]
    Life,
    /// The parameters are no object.
    #[error("write a receipt: the parameters are not an object")]
    Parameters,
}

/// Writes and signs a receipt. The salt must be fresh, or be kept as secret as the signing key.
///
/// # Errors
/// [`MintError`] when the decision cannot be written as one.
pub fn mint(
    request: &ExecuteRequest,
    salt: [u8; 32],
    signer: &LogSigner,
) -> Result<MintedArtifact, MintError> {
    let times = (
        milliseconds(&request.created_at),
        milliseconds(&request.expires_at),
    );
    let (Some(created), Some(expires)) = times else {
        return Err(MintError::Times);
    };
    if !is_instant(&request.created_at) || expires <= created {
        return Err(MintError::Times);
    }
    if expires - created > LIFE_MILLISECONDS_MAX {
        return Err(MintError::Life);
    }
    if !request.parameters.is_object() {
        return Err(MintError::Parameters);
    }
    let request_json = committed_request(request)?;
    let projection = build_projection(TAG, &request_json).ok_or(MintError::Parameters)?;
    let payload = payload(
        request,
        projection,
        commitment(&salt, &request_json),
        signer,
    )?;
    let bytes = canonical(&payload)?;
    let digest: [u8; 32] = Sha256::digest(&bytes).into();
    let status = payload.get("status").and_then(Value::as_str);
    let artifact = Artifact {
        receipt_id: request.id.clone(),
        status: status.map(str::to_owned),
        receipt_version: Some(3),
        canonicalization: Some("jcs_v3".into()),
        key_id: signer.key_id().to_owned(),
        alg: "ed25519".into(),
        signed_payload_hash: hex::encode(digest),
        signature_b64: STANDARD.encode(signer.sign_digest(&digest)),
        payload_bytes_b64: STANDARD.encode(&bytes),
        issued_at: Some(request.created_at.clone()),
        expires_at: Some(request.expires_at.clone()),
        redeemed_at: None,
    };
    Ok(MintedArtifact {
        envelope: ArtifactEnvelope {
            artifact,
            keys_url: None,
        },
        request_json,
        salt,
    })
}

fn committed_request(request: &ExecuteRequest) -> Result<String, MintError> {
    let mut committed = json!({
        "action": {
            "operation": request.operation,
            "parameters": request.parameters,
            "tool": request.tool,
        },
        "actor": {"agentId": request.agent, "runId": request.run},
        "context": {},
        "intent": {"category": "mcp", "name": format!("{}:{}", request.tool, request.operation)},
    });
    committed[BINDING] = json!({
        "companyId": request.origin,
        "idemKey": request.call,
        "inputHash": request.input_hash,
    });
    if let Some(summary) = &request.summary {
        committed[SUMMARY] = summary.as_str().into();
    }
    let bytes = canonical(&committed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn payload(
    request: &ExecuteRequest,
    projection: String,
    commitment: String,
    signer: &LogSigner,
) -> Result<Map<String, Value>, MintError> {
    let demo = signer.is_demo();
    let reasons = String::from_utf8_lossy(&canonical(&request.reasons)?).into_owned();
    let mut payload = json!({
        "agentId": request.agent,
        "attributionConfidence": "credentialed",
        "canonicalization": "jcs_v3",
        "createdAt": request.created_at,
        "expiresAt": request.expires_at,
        "id": request.id,
        "policyVersion": request.policy,
        "publicProjectionJson": projection,
        "reasonCodes": reasons,
        "receiptVersion": 3,
        "requestCommitment": commitment,
        "scope": if demo { "demo" } else { "production" },
        "signatureAlg": "ed25519",
        "signatureKeyId": signer.key_id(),
        "status": match request.decision {
            Decision::Approved => "APPROVED",
            Decision::Denied => "DENIED",
        },
    });
    if let Some(run) = &request.run {
        payload["runId"] = run.as_str().into();
    }
    let (id, display, method) = match &request.decider {
        Decider::Policy => (
            "system/countersign-door".to_owned(),
            "Countersign door policy",
            "policy",
        ),
        Decider::Person { name } => (format!("user:{name}"), name.as_str(), "session"),
    };
    payload["deciderId"] = id.into();
    payload["deciderDisplay"] = display.into();
    payload["deciderAuthMethod"] = method.into();
    if matches!(request.decider, Decider::Person { .. }) {
        payload["resolutionType"] = match request.decision {
            Decision::Approved => "allow_once",
            Decision::Denied => "deny",
        }
        .into();
    }
    match payload {
        Value::Object(payload) => Ok(payload),
        _ => Err(MintError::Parameters),
    }
}
