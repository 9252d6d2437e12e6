//! Receipts in the Permission Protocol's format, with its verifier's exit codes.

use countersign_receipts::permission::{Decider, Decision, ExecuteRequest, KeyStatus, mint};
use serde_json::json;

use crate::run::{Folder, key_set, signer_named};

pub fn request() -> ExecuteRequest {
    ExecuteRequest {
        id: "dec_1".into(),
        agent: "local".into(),
        run: None,
        tool: "files".into(),
        operation: "write_file".into(),
        parameters: json!({"names": ["path"]}),
        origin: "log.example/door".into(),
        call: "0011".into(),
        input_hash: None,
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
fn an_artifact_is_checked_and_opened() {
    let folder = Folder::new("artifact");
    let signer = signer_named("log.example/door", "door-1", 1);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Active));
    let minted = mint(&request(), [5; 32], &signer).unwrap();
    folder.write_json("artifact.json", &minted.envelope);
    folder.write("request.json", &minted.request_json);
    folder.write("summary.txt", "rule writes\n");
    folder.write("binding.json", r#"{"idemKey":"0011","inputHash":null}"#);
    let salt = hex::encode(minted.salt);
    let (code, printed) = folder.run("artifact artifact.json --keys keys.json");
    assert_eq!(code, 0, "{printed}");
    for said in [
        "decision: APPROVED",
        "decider: ada (user:ada)",
        "not opened",
    ] {
        assert!(printed.contains(said), "{printed}");
    }
    let open =
        format!("artifact artifact.json --keys keys.json --request request.json --salt {salt}");
    assert_eq!(folder.code(&open), 0);
    assert_eq!(
        folder.code(&format!(
            "{open} --summary summary.txt --binding binding.json"
        )),
        0
    );
    folder.write("summary.txt", "another\n");
    assert_eq!(folder.code(&format!("{open} --summary summary.txt")), 10);
    folder.write("binding.json", r#"{"companyId":"other"}"#);
    assert_eq!(folder.code(&format!("{open} --binding binding.json")), 10);
    folder.write("request.json", &format!("{} ", minted.request_json));
    assert_eq!(folder.code(&open), 10);
    assert_eq!(
        folder.code("artifact artifact.json --keys keys.json --salt 00"),
        64
    );
    assert_eq!(
        folder.code("artifact artifact.json --keys keys.json --request request.json --salt 00"),
        64
    );
    folder.write("policy.yaml", "version: 1\n");
    assert_eq!(
        folder.code("artifact artifact.json --keys keys.json --policy policy.yaml"),
        9
    );
}

#[test]
fn what_was_done_to_an_artifact_has_its_code() {
    let folder = Folder::new("artifact-broken");
    let signer = signer_named("log.example/door", "door-1", 1);
    let minted = mint(&request(), [5; 32], &signer).unwrap();
    let whole = serde_json::to_string(&minted.envelope).unwrap();
    let code = |text: &str| {
        folder.write("artifact.json", text);
        folder.code("artifact artifact.json --keys keys.json")
    };
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Active));
    assert_eq!(code(&whole), 0);
    assert_eq!(code("{}"), 3);
    assert_eq!(code(""), 3);
    let hash = &minted.envelope.artifact.signed_payload_hash;
    assert_eq!(code(&whole.replace(hash.as_str(), &"0".repeat(64))), 4);
    let signature = &minted.envelope.artifact.signature_b64;
    let other = mint(&request(), [6; 32], &signer).unwrap();
    assert_eq!(
        code(&whole.replace(signature.as_str(), &other.envelope.artifact.signature_b64)),
        1
    );
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Revoked));
    assert_eq!(code(&whole), 2);
    folder.write_json(
        "keys.json",
        &key_set(&signer_named("o", "other", 1), KeyStatus::Active),
    );
    assert_eq!(code(&whole), 2);
    std::fs::remove_file(folder.0.join("keys.json")).unwrap();
    assert_eq!(code(&whole), 3);
}

#[test]
fn an_outcome_without_a_signature_shows_nothing() {
    let folder = Folder::new("attestation");
    let signer = signer_named("log.example/door", "door-1", 1);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Active));
    let minted = mint(&request(), [5; 32], &signer).unwrap();
    folder.write_json("receipt.json", &minted.envelope);
    let code = |artifact: serde_json::Value| {
        folder.write_json("outcome.json", &json!({"attestation_artifact": artifact}));
        folder.code("attestation outcome.json --receipt receipt.json --keys keys.json")
    };
    assert_eq!(code(json!({"signed": false, "outcome": "succeeded"})), 5);
    assert_eq!(code(json!({"payload_withheld": true})), 6);
    assert_eq!(code(json!({})), 3);
}
