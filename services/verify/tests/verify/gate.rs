//! The gate: authorised, refused, or an input is missing.

use countersign_receipts::permission::{Decider, Decision, ExecuteRequest, KeyStatus, mint};
use countersign_receipts::{
    Approval, ApprovalDecision, ApprovalReason, ApprovalWay, Approver, CallOpening, HeldCall,
    LogSigner,
};

use crate::permission::request;
use crate::run::{Folder, key_set, signer_named};

const ORIGIN: &str = "log.example/door";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const INPUTS: &str = "--keys keys.json --trust trust --scope files:write_file";

fn opening() -> CallOpening {
    CallOpening {
        salt: [7; 32].into(),
        server: "files".into(),
        method: "tools/call".into(),
        tool: Some("write_file".into()),
        definition: None,
        identity: "local".into(),
        policy_sha256: "aa".repeat(32),
        message: r#"{"jsonrpc":"2.0"}"#.into(),
    }
}

fn approval(signer: &LogSigner, change: impl Fn(&mut Approval)) -> String {
    let held = HeldCall {
        approval: [1; 16],
        call: [2; 16],
        held: [3; 32].into(),
        opening: opening(),
        rule: "writes".into(),
        policy: "starter".into(),
        commit: Some(COMMIT.into()),
        held_at: "2026-11-30T08:00:00.000Z".into(),
        expires_at: "2026-11-30T08:15:00.000Z".into(),
    };
    let mut approval = Approval::about(
        &held,
        ApprovalDecision::Released,
        ApprovalReason::Approved,
        "2026-11-30T08:05:00.000Z".into(),
        signer,
    );
    approval.decided_by = Some(Approver {
        way: ApprovalWay::Page,
        name: "ada".into(),
    });
    change(&mut approval);
    serde_json::to_string(&approval.sign(signer).unwrap()).unwrap()
}

/// A folder with a sound approval and everything that belongs to it.
fn sound(name: &str) -> (Folder, LogSigner) {
    let folder = Folder::new(name);
    let signer = signer_named(ORIGIN, "door-1", 1);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Active));
    folder.write(
        "trust",
        &format!("# the door\n\n{}\n", signer.verifier().line()),
    );
    folder.write("approval.json", &approval(&signer, |_| {}));
    (folder, signer)
}

fn at(folder: &Folder, time: &str, more: &str) -> i32 {
    folder.code(&format!(
        "gate approval.json {INPUTS} --at 2026-11-30T{time}.000Z {more}"
    ))
}

#[test]
fn a_persons_approval_of_exactly_this_is_authorised() {
    let (folder, _) = sound("gate");
    folder.write_json("call.json", &opening());
    folder.write("digest", &opening().digest().to_string());
    assert_eq!(at(&folder, "08:10:00", ""), 0);
    assert_eq!(at(&folder, "08:10:00", &format!("--scope-sha {COMMIT}")), 0);
    assert_eq!(at(&folder, "08:10:00", "--call call.json"), 0);
    assert_eq!(at(&folder, "08:10:00", "--call digest"), 0);
}

#[test]
fn another_commit_call_scope_or_time_is_refused() {
    let (folder, _) = sound("gate-other");
    let other = CallOpening {
        message: r#"{"jsonrpc":"2.0","id":2}"#.into(),
        ..opening()
    };
    folder.write_json("other.json", &other);
    for more in [
        "--call other.json".to_owned(),
        format!("--scope-sha {}", COMMIT.replace('0', "1")),
        format!("--scope-sha {}", &COMMIT[..12]),
    ] {
        assert_eq!(at(&folder, "08:10:00", &more), 1, "{more}");
    }
    for time in ["08:15:00", "09:00:00", "08:04:59"] {
        assert_eq!(at(&folder, time, ""), 1, "{time}");
    }
    // Without a time, now is meant, which is long after.
    assert_eq!(folder.code(&format!("gate approval.json {INPUTS}")), 1);
    let scope =
        "gate approval.json --keys keys.json --trust trust --at 2026-11-30T08:10:00.000Z --scope";
    for other in ["files:read_file", "files:write_file2", "files", "*"] {
        assert_eq!(folder.code(&format!("{scope} {other}")), 1, "{other}");
    }
}

#[test]
fn nobodys_approval_is_refused() {
    let (folder, signer) = sound("gate-nobody");
    let code = |change: &dyn Fn(&mut Approval)| {
        folder.write("approval.json", &approval(&signer, change));
        at(&folder, "08:10:00", "")
    };
    assert_eq!(code(&|_| {}), 0);
    let by = |way| {
        move |approval: &mut Approval| {
            if let Some(approver) = &mut approval.decided_by {
                approver.way = way;
            }
        }
    };
    assert_eq!(code(&by(ApprovalWay::Webhook)), 0);
    assert_eq!(code(&by(ApprovalWay::Client)), 1);
    assert_eq!(
        code(&|approval| {
            by(ApprovalWay::Countdown)(approval);
            approval.reason = ApprovalReason::Countdown;
        }),
        1
    );
    assert_eq!(
        code(&|approval| {
            approval.decision = ApprovalDecision::Denied;
            approval.reason = ApprovalReason::Denied;
        }),
        1
    );
    assert_eq!(
        code(&|approval| approval.expires_at = "2026-12-01T08:05:00.001Z".into()),
        1,
        "for more than a day"
    );
    assert_eq!(code(&|approval| approval.commit = None), 0);
    assert_eq!(at(&folder, "08:10:00", &format!("--scope-sha {COMMIT}")), 1);
}

#[test]
fn keys_that_are_not_trusted_revoked_or_for_demonstrations_are_refused() {
    let (folder, signer) = sound("gate-keys");
    folder.write(
        "trust",
        &signer_named(ORIGIN, "door-1", 2).verifier().line(),
    );
    assert_eq!(at(&folder, "08:10:00", ""), 1);
    folder.write(
        "trust",
        &signer_named("log.example/other", "door-1", 1)
            .verifier()
            .line(),
    );
    assert_eq!(at(&folder, "08:10:00", ""), 1);
    folder.write_json("trust", &key_set(&signer, KeyStatus::Active));
    assert_eq!(at(&folder, "08:10:00", ""), 0);
    folder.write_json("trust", &key_set(&signer, KeyStatus::Revoked));
    assert_eq!(at(&folder, "08:10:00", ""), 1);
    folder.write("trust", &signer.verifier().line());
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Revoked));
    assert_eq!(at(&folder, "08:10:00", ""), 1);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Rotated));
    assert_eq!(at(&folder, "08:10:00", ""), 0);
    let demo = signer_named(ORIGIN, "demo-1", 1);
    folder.write_json("keys.json", &key_set(&demo, KeyStatus::Active));
    folder.write("approval.json", &approval(&demo, |_| {}));
    assert_eq!(at(&folder, "08:10:00", ""), 1);
    // Nor when somebody takes the mark off the record.
    let marked = approval(&demo, |_| {});
    let unmarked = marked.replace(r#"demo\":true"#, r#"demo\":false"#);
    assert_ne!(marked, unmarked);
    folder.write("approval.json", &unmarked);
    assert_eq!(at(&folder, "08:10:00", ""), 1);
}

#[test]
fn a_missing_input_is_said_and_a_broken_one_is_refused() {
    for missing in ["approval.json", "keys.json", "trust"] {
        let (folder, _) = sound("gate-missing");
        std::fs::remove_file(folder.0.join(missing)).unwrap();
        assert_eq!(at(&folder, "08:10:00", ""), 2, "{missing}");
        folder.write(missing, " \n");
        assert_eq!(at(&folder, "08:10:00", ""), 2, "{missing} empty");
        folder.write(missing, "{\"x\":");
        assert_eq!(at(&folder, "08:10:00", ""), 1, "{missing} broken");
    }
    let (folder, _) = sound("gate-missing-call");
    assert_eq!(at(&folder, "08:10:00", "--call nowhere"), 2);
    assert_eq!(folder.code("gate approval.json"), 64);
}

#[test]
fn every_changed_byte_of_an_approval_is_refused() {
    let (folder, signer) = sound("gate-bytes");
    let whole = approval(&signer, |_| {});
    let inputs = format!("gate approval.json {INPUTS} --at 2026-11-30T08:10:00.000Z");
    assert_eq!(folder.code(&inputs), 0);
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] ^= 1;
        std::fs::write(folder.0.join("approval.json"), bytes).unwrap();
        assert_eq!(folder.code(&inputs), 1, "byte {at}");
    }
}

#[test]
fn an_artifact_of_a_persons_approval_is_taken_and_a_policys_is_not() {
    let (folder, signer) = sound("gate-artifact");
    let code = |change: &dyn Fn(&mut ExecuteRequest), signer: &LogSigner| {
        let mut request = request();
        change(&mut request);
        let minted = mint(&request, [5; 32], signer).unwrap();
        folder.write_json("approval.json", &minted.envelope);
        at(&folder, "08:10:00", "")
    };
    assert_eq!(code(&|_| {}, &signer), 0);
    assert_eq!(
        code(&|request| request.decider = Decider::Policy, &signer),
        1
    );
    assert_eq!(
        code(&|request| request.decision = Decision::Denied, &signer),
        1
    );
    assert_eq!(
        code(&|request| request.operation = "read_file".into(), &signer),
        1
    );
    let demo = signer_named(ORIGIN, "demo-1", 1);
    folder.write_json("keys.json", &key_set(&demo, KeyStatus::Active));
    assert_eq!(code(&|_| {}, &demo), 1);
}
