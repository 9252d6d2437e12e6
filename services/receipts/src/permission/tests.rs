//! Known answers of the format, the same kinds again under a key of our own, and broken bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::key::tests::signer;
use crate::{LogSigner, canonical};

fn vectors() -> Value {
    serde_json::from_str(include_str!(
        "../../fixtures/permission-protocol/vectors.json"
    ))
    .unwrap()
}

fn published_keys() -> KeySet {
    KeySet::read(&vectors()["keys"].to_string()).unwrap()
}

/// The envelope around these bytes.
fn envelope(payload: &[u8], key_id: &str, signature: &str) -> String {
    json!({"artifact": {
        "receipt_id": "any",
        "status": "APPROVED",
        "key_id": key_id,
        "alg": "ed25519",
        "signed_payload_hash": hex::encode(Sha256::digest(payload)),
        "signature_b64": signature,
        "payload_bytes_b64": STANDARD.encode(payload),
    }})
    .to_string()
}

fn published(vector: &Value) -> String {
    let payload = canonical(&vector["payload"]).unwrap();
    let signature = vector["signature"].as_str().unwrap();
    envelope(&payload, "pp-test-2026-q2", signature)
}

fn code(result: Result<VerifiedArtifact, Refusal>) -> String {
    match result {
        Ok(_) => "verified".into(),
        Err(refusal) => format!("{:?}", refusal.code),
    }
}

#[test]
fn published_receipts_come_out_as_published() {
    for vector in vectors()["receipts"].as_array().unwrap() {
        let payload = canonical(&vector["payload"]).unwrap();
        assert_eq!(hex::encode(Sha256::digest(&payload)), vector["hash"]);
        let result = verify_artifact(&published(vector), &published_keys(), None);
        assert_eq!(code(result), vector["expected"], "{}", vector["name"]);
        // The tampered ones there are of this kind: a value edited, the hash made again.
        let text = String::from_utf8(payload).unwrap();
        let edited = text.replace("production", "pr0duction");
        let signature = vector["signature"].as_str().unwrap();
        let tampered = envelope(edited.as_bytes(), "pp-test-2026-q2", signature);
        let result = verify_artifact(&tampered, &published_keys(), None);
        assert_eq!(code(result), "SignatureInvalid");
    }
}

#[test]
fn published_projections_come_out_of_their_requests() {
    let vectors = vectors();
    for case in vectors["projections"].as_array().unwrap() {
        let mut receipts = vectors["receipts"].as_array().unwrap().iter();
        let receipt = receipts
            .find(|receipt| receipt["name"] == case["receipt"])
            .unwrap();
        let shown = receipt["payload"]["publicProjectionJson"].as_str().unwrap();
        let tag = super::projection::tag_of(shown).unwrap();
        let built = build_projection(&tag, case["request"].as_str().unwrap()).unwrap();
        assert_eq!(built, shown);
    }
}

#[test]
fn a_published_request_opens_up_to_the_binding_it_lacks() {
    let vectors = vectors();
    let opening = &vectors["opening"];
    let receipt = vectors["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|receipt| receipt["name"] == opening["receipt"])
        .unwrap();
    let salt = hex::decode(opening["salt"].as_str().unwrap()).unwrap();
    let request = opening["request"].as_str().unwrap();
    let open = |request: &str, salt: &[u8], summary| {
        let opening = Opening {
            request_json: request,
            salt,
            summary,
            binding: Stated::Nothing,
        };
        code(verify_artifact(
            &published(receipt),
            &published_keys(),
            Some(&opening),
        ))
    };
    assert_eq!(
        open(request, &salt, Stated::Nothing),
        "ReceiptBindingMismatch"
    );
    assert_eq!(
        open(request, &salt, Stated::This(Some("another"))),
        "CommittedSummaryMismatch"
    );
    assert_eq!(
        open(request, &salt, Stated::This(None)),
        "CommittedSummaryMismatch"
    );
    let changed = request.replace("480000", "480001");
    assert_eq!(
        open(&changed, &salt, Stated::Nothing),
        "RequestCommitmentMismatch"
    );
    assert_eq!(
        open(request, &[0; 32], Stated::Nothing),
        "RequestCommitmentMismatch"
    );
    let shown = build_projection("execute/v1", request).unwrap();
    assert_eq!(shown, receipt["payload"]["publicProjectionJson"]);
}

fn own_keys(signer: &LogSigner, status: KeyStatus) -> KeySet {
    KeySet {
        issuer: signer.origin().into(),
        keys: vec![KeyEntry {
            key_id: signer.key_id().into(),
            alg: "ed25519".into(),
            public_key_b64: signer.public_key_b64(),
            status,
            created_at: None,
            revoked_at: None,
            endorsed_by: None,
        }],
    }
}

/// These members, signed by a key of our own.
fn signed(signer: &LogSigner, payload: &Value) -> String {
    let bytes = canonical(payload).unwrap();
    let digest: [u8; 32] = Sha256::digest(&bytes).into();
    let signature = STANDARD.encode(signer.sign_digest(&digest));
    envelope(&bytes, signer.key_id(), &signature)
}

fn request() -> ExecuteRequest {
    ExecuteRequest {
        id: "dec_1".into(),
        agent: "local".into(),
        run: Some("turn-1".into()),
        tool: "files".into(),
        operation: "write_file".into(),
        parameters: json!({"names": ["path"], "commitment": "00"}),
        origin: "log.example/door".into(),
        call: "00112233".into(),
        input_hash: Some("sha256:00".into()),
        summary: Some("rule writes".into()),
        decision: Decision::Approved,
        decider: Decider::Person { name: "ada".into() },
        reasons: vec!["approved".into()],
        policy: "starter@aa".into(),
        created_at: "2026-11-30T08:00:00.000Z".into(),
        expires_at: "2026-11-30T08:15:00.000Z".into(),
    }
}

#[test]
fn a_minted_receipt_holds_and_opens_and_shows_no_parameter() {
    let signer = signer("log.example/door", 1);
    let minted = mint(&request(), [9; 32], &signer).unwrap();
    let text = serde_json::to_string(&minted.envelope).unwrap();
    let opening = Opening {
        request_json: &minted.request_json,
        salt: &minted.salt,
        summary: Stated::This(Some("rule writes")),
        binding: Stated::This(json!({"companyId": "log.example/door", "idemKey": "00112233"})),
    };
    let keys = own_keys(&signer, KeyStatus::Rotated);
    let verified = verify_artifact(&text, &keys, Some(&opening)).unwrap();
    assert_eq!(verified.text("status"), Some("APPROVED"));
    assert_eq!(verified.text("scope"), Some("production"));
    assert_eq!(
        verified.text("publicProjectionJson"),
        Some(
            r#"{"action":{"operation":"write_file","tool":"files"},"intent":{"category":"mcp","name":"files:write_file"},"projection":"execute/v1"}"#
        )
    );
    let bytes = STANDARD
        .decode(minted.envelope.artifact.payload_bytes_b64)
        .unwrap();
    let shown = String::from_utf8(bytes).unwrap();
    for private in ["path", "00112233", "rule writes", "log.example/door"] {
        assert!(!shown.contains(private), "{private}");
    }
    let stated = |binding| {
        let opening = Opening {
            binding: Stated::This(binding),
            ..opening.clone()
        };
        code(verify_artifact(&text, &keys, Some(&opening)))
    };
    assert_eq!(
        stated(json!({"idemKey": "other"})),
        "ReceiptBindingMismatch"
    );
    assert_eq!(stated(json!({"other": null})), "ReceiptBindingMismatch");
}

#[test]
fn no_receipt_is_minted_for_longer_than_a_day() {
    let signer = signer("log.example/door", 1);
    let until = |expires_at: &str| {
        let request = ExecuteRequest {
            expires_at: expires_at.into(),
            ..request()
        };
        mint(&request, [9; 32], &signer).map(|_| ())
    };
    assert!(until("2026-12-01T08:00:00.000Z").is_ok());
    assert!(matches!(
        until("2026-12-01T08:00:00.001Z"),
        Err(MintError::Life)
    ));
    assert!(matches!(
        until("2026-11-30T08:00:00.000Z"),
        Err(MintError::Times)
    ));
    assert!(matches!(until("tomorrow"), Err(MintError::Times)));
}

#[test]
fn each_kind_of_refusal_has_its_code() {
    let signer = signer("log.example/door", 1);
    let keys = own_keys(&signer, KeyStatus::Active);
    let minted = mint(&request(), [9; 32], &signer).unwrap();
    let artifact = minted.envelope.artifact.clone();
    let bytes = STANDARD.decode(&artifact.payload_bytes_b64).unwrap();
    let payload: Value = serde_json::from_slice(&bytes).unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut payload = payload.clone();
        change(&mut payload);
        code(verify_artifact(&signed(&signer, &payload), &keys, None))
    };
    let projection = |text: &str| {
        let text = text.to_owned();
        with(&move |payload| payload["publicProjectionJson"] = text.as_str().into())
    };
    assert_eq!(with(&|_| {}), "verified");
    assert_eq!(
        with(&|p| p["canonicalization"] = "jcs_v9".into()),
        "CanonicalizationUnsupported"
    );
    assert_eq!(with(&|p| p["canonicalization"] = 3.into()), "Malformed");
    assert_eq!(with(&|p| p["extra"] = "x".into()), "CanonicalMismatch");
    assert_eq!(with(&|p| p["runId"] = Value::Null), "CanonicalMismatch");
    assert_eq!(with(&|p| p["receiptVersion"] = 2.into()), "Malformed");
    assert_eq!(
        with(&|p| p["requestCommitment"] = "sha256:AB".into()),
        "RequestCommitmentMalformed"
    );
    assert_eq!(
        with(&|p| p["deciderAuthMethod"] = "session_reauth".into()),
        "DeciderProofMismatch"
    );
    assert_eq!(
        with(&|p| {
            p["deciderAuthMethod"] = "session_reauth".into();
            p["deciderProof"] = json!({"method": "reauth", "authTime": "2026-11-30T07:00:00.000Z",
                "maxAgeMs": 3_599_999, "verifiedAt": "2026-11-30T08:00:00.000Z"});
        }),
        "DeciderProofInvalid"
    );
    assert_eq!(
        with(&|p| {
            p["deciderAuthMethod"] = "session_stepup_webauthn".into();
            p["deciderProof"] = json!({"method": "reauth", "authTime": "2026-11-30T07:00:00.000Z",
                "maxAgeMs": 3_600_000, "verifiedAt": "2026-11-30T08:00:00.000Z"});
        }),
        "DeciderProofMismatch"
    );
    assert_eq!(
        projection(r#"{"projection":"execute/v9"}"#),
        "ProjectionUnsupported"
    );
    assert_eq!(projection("[]"), "Malformed");
    for text in [
        r#"{"intent":{"name": "a"},"projection":"execute/v1"}"#,
        r#"{"intent":{},"projection":"execute/v1"}"#,
        r#"{"intent":{"name":"two words"},"projection":"execute/v1"}"#,
        r#"{"context":{"environment":"moon"},"projection":"execute/v1"}"#,
        r#"{"intent.name":"a","projection":"execute/v1"}"#,
        r#"{"projection":"deploy_gate/v1","scope":{"repo":"acme/core","visibility":"private"}}"#,
        r#"{"policy":{"decision":{"ruleId":"r"}},"projection":"deploy_gate/v2"}"#,
        r#"{"policyAuthorization":{"recordedDecisions":[{}]},"projection":"deploy_gate/v1"}"#,
    ] {
        assert_eq!(projection(text), "ProjectionNotAllowed", "{text}");
    }
    assert_eq!(
        projection(r#"{"policy":{"decision":{"ruleId":"r"}},"projection":"deploy_gate/v1"}"#),
        "verified"
    );
    let whole = serde_json::to_string(&minted.envelope).unwrap();
    let key = |status| code(verify_artifact(&whole, &own_keys(&signer, status), None));
    assert_eq!(key(KeyStatus::Revoked), "KeyRevoked");
    assert_eq!(
        code(verify_artifact(&whole, &published_keys(), None)),
        "KeyNotFound"
    );
    let flipped = whole.replace(&artifact.signed_payload_hash, &"0".repeat(64));
    assert_eq!(
        code(verify_artifact(&flipped, &keys, None)),
        "PayloadHashMismatch"
    );
    // What stands beside the signed bytes proves nothing and changes nothing.
    let claimed = whole.replace(r#""status":"APPROVED""#, r#""status":"DENIED""#);
    let verified = verify_artifact(&claimed, &keys, None).unwrap();
    assert_eq!(verified.text("status"), Some("APPROVED"));
}

#[test]
fn an_attestation_needs_its_receipt_and_must_not_contradict_itself() {
    let signer = signer("log.example/door", 1);
    let keys = own_keys(&signer, KeyStatus::Active);
    let minted = mint(&request(), [9; 32], &signer).unwrap();
    let receipt = serde_json::to_string(&minted.envelope).unwrap();
    let attest = |change: &dyn Fn(&mut Value)| {
        let mut payload = json!({
            "approvalReceiptId": "dec_1", "attestationVersion": 1, "canonicalization": "attest_v1",
            "createdAt": "2026-11-30T08:00:02.000Z", "finishedAt": "2026-11-30T08:00:01.000Z",
            "outcome": "succeeded", "signatureAlg": "ed25519", "signatureKeyId": signer.key_id(),
            "startedAt": "2026-11-30T08:00:00.000Z",
        });
        change(&mut payload);
        let artifact: Value = serde_json::from_str(&signed(&signer, &payload)).unwrap();
        let mut artifact = artifact["artifact"].clone();
        artifact["approval_receipt_id"] = "dec_1".into();
        let text = json!({"attestation_artifact": artifact}).to_string();
        match verify_attestation(&text, &receipt, &keys) {
            Ok(_) => 0,
            Err(refusal) => refusal.code.exit_code(),
        }
    };
    assert_eq!(attest(&|_| {}), 0);
    assert_eq!(attest(&|p| p["outcome"] = "unknown".into()), 7);
    assert_eq!(
        attest(&|p| p["finishedAt"] = "2026-11-30T07:59:59.000Z".into()),
        7
    );
    assert_eq!(attest(&|p| p["outputHash"] = "sha256:x".into()), 7);
    assert_eq!(attest(&|p| p["approvalReceiptId"] = "dec_2".into()), 3);
    assert_eq!(attest(&|p| p["more"] = 1.into()), 4);
    for (envelope, code) in [
        (json!({"attestation_artifact": {"signed": false}}), 5),
        (
            json!({"attestation_artifact": {"payload_withheld": true}}),
            6,
        ),
        (json!({"attestation_artifact": {}}), 3),
        (json!({}), 3),
    ] {
        let refused = verify_attestation(&envelope.to_string(), &receipt, &keys).unwrap_err();
        assert_eq!(refused.code.exit_code(), code, "{envelope}");
    }
}

#[test]
fn a_demo_key_marks_what_it_signs() {
    let file = crate::LogKeyFile {
        key_id: "demo-1".into(),
        pkcs8_pem: crate::key::tests::pem(7),
    };
    let signer = LogSigner::new("log.example/demo", &file).unwrap();
    let minted = mint(&request(), [9; 32], &signer).unwrap();
    let text = serde_json::to_string(&minted.envelope).unwrap();
    let keys = own_keys(&signer, KeyStatus::Active);
    let verified = verify_artifact(&text, &keys, None).unwrap();
    assert_eq!(verified.text("scope"), Some("demo"));
}

proptest! {
    #[test]
    fn no_changed_byte_of_the_signed_parts_passes(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let signer = signer("log.example/door", 1);
        let minted = mint(&request(), [9; 32], &signer).unwrap();
        let keys = own_keys(&signer, KeyStatus::Active);
        let artifact = &minted.envelope.artifact;
        let mut bytes = STANDARD.decode(&artifact.payload_bytes_b64).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let changed = envelope(&bytes, &artifact.key_id, &artifact.signature_b64);
        prop_assert!(verify_artifact(&changed, &keys, None).is_err());
    }

    #[test]
    fn no_bytes_make_a_reader_panic(text in any::<String>(), at in any::<prop::sample::Index>()) {
        let signer = signer("log.example/door", 1);
        let minted = mint(&request(), [9; 32], &signer).unwrap();
        let keys = own_keys(&signer, KeyStatus::Active);
        let whole = serde_json::to_string(&minted.envelope).unwrap();
        let mut at = at.index(whole.len());
        while !whole.is_char_boundary(at) { at -= 1 }
        let mixed = format!("{}{text}{}", &whole[..at], &whole[at..]);
        for text in [&text, &mixed] {
            let _ = verify_artifact(text, &keys, None);
            let _ = verify_attestation(text, text, &keys);
            let _ = KeySet::read(text);
            let _ = build_projection("deploy_gate/v2", text);
            let _ = crate::Receipt::read(text);
            let _ = crate::ProofText::read(text);
            let _ = crate::Checkpoint::verify(text, &signer.verifier());
            let _ = crate::LogVerifier::read(text);
        }
    }
}
