//! Keys, witnesses and exports: the commands on a record, and what was done to it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign_journal::keys::KeyRing;
use countersign_journal::{Journal, Options};
use countersign_receipts::permission::{KeySet, Opening, Stated, verify_artifact};
use countersign_receipts::{
    AddCheckpoint, Approval, ApprovalDecision, ApprovalReason, ApprovalWay, Approver, CallOpening,
    Checkpoint, HeldCall, MemoryTree, Receipt, SignedApproval, TrustedKeys, WitnessVerifier,
    consistency_proof,
};
use serde_json::{Value, json};

use crate::stand::fresh_directory;

const ORIGIN: &str = "log.example/door";

/// A folder with a record and its keys, and a witness with its own.
struct Desk(PathBuf);

impl Desk {
    fn new() -> Self {
        let directory = fresh_directory();
        std::fs::create_dir_all(&directory).unwrap();
        let desk = Self(directory);
        desk.done(&format!("keys init --keys keys --origin {ORIGIN}"));
        desk.done("keys init --keys witness --origin witness.example/w");
        desk
    }

    /// Exit code, and what was printed to both.
    fn run(&self, arguments: &str) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            .output()
            .unwrap();
        let mut printed = String::from_utf8(output.stdout).unwrap();
        printed.push_str(&String::from_utf8(output.stderr).unwrap());
        (output.status.code().unwrap(), printed)
    }

    fn done(&self, arguments: &str) -> String {
        let (code, printed) = self.run(arguments);
        assert_eq!(code, 0, "{arguments}: {printed}");
        printed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn ring(&self) -> KeyRing {
        KeyRing::open(&self.path("keys"), false).unwrap()
    }

    /// Opens the record as a door does.
    fn journal(&self) -> Journal {
        let ring = self.ring();
        let options = Options {
            earlier_keys: ring.earlier,
            ..Options::default()
        };
        Journal::open_with(&self.path("log"), ring.signer, options)
            .unwrap()
            .0
    }

    fn filled(&self, calls: u64) {
        let journal = self.journal();
        for call in 0..calls {
            journal.append(&decision(call, "allowed")).unwrap();
        }
        journal.sign_head().unwrap();
    }
}

fn decision(call: u64, event: &str) -> Value {
    json!({
        "v": 1, "at": "2026-11-30T08:00:00.000Z", "event": event, "call": format!("{call:032x}"),
        "identity": "local", "server": "files", "method": "tools/call", "tool": "read_file",
        "policy": {"id": "starter", "sha256": "aa".repeat(32)}, "rule": "tools.read_file",
        "reason": "allowed", "arguments": {"names": ["path"], "unnamed": 0, "commitment": "bb".repeat(32)},
        "received": "cc".repeat(32),
    })
}

const WITNESS: &str =
    "witness --record log --log-keys keys/keys.json --keys witness --state state --out cosigned";

#[test]
fn keys_are_made_shown_replaced_and_revoked_by_hand() {
    let desk = Desk::new();
    let (code, printed) = desk.run(&format!("keys init --keys keys --origin {ORIGIN}"));
    assert_eq!(code, 1);
    assert!(printed.contains("keys rotate"), "{printed}");
    assert!(desk.done("keys show --keys keys").contains("usable"));
    let line = desk.done("keys show --keys keys --line");
    assert!(TrustedKeys::read(line.trim()).is_ok(), "{line}");
    let set = KeySet::read(&desk.done("keys show --keys keys --json")).unwrap();
    let first = set.keys[0].key_id.clone();
    desk.done("keys rotate --keys keys");
    desk.done(&format!("keys revoke --keys keys {first}"));
    let printed = desk.done("keys show --keys keys");
    assert!(
        printed.contains("revoked") && printed.contains("active"),
        "{printed}"
    );
    let key = format!("keys/{}.key", desk.ring().signer.key_id());
    std::fs::set_permissions(desk.path(&key), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(desk.done("keys show --keys keys").contains("NOT usable"));
    let (code, printed) = desk.run("keys show --keys nowhere");
    assert_eq!(code, 1);
    assert!(printed.contains("keys init"), "{printed}");
}

#[test]
fn a_witness_signs_what_grows_and_refuses_what_was_changed() {
    let desk = Desk::new();
    desk.filled(5);
    desk.done(WITNESS);
    let witness = WitnessVerifier::read(&desk.done("keys show --keys witness --witness")).unwrap();
    assert!(witness.signed_at(&desk.read("cosigned")).is_some());
    let at_five = copied(&desk, "at-five");
    desk.filled(4);
    desk.done(WITNESS);
    let at_nine = copied(&desk, "at-nine");
    assert!(desk.read("cosigned").contains("\n9\n"));

    // The folder of before put back: sound in itself, and shorter than what was seen.
    put(&desk, &at_five);
    let (code, printed) = desk.run(WITNESS);
    assert_eq!(code, 12, "{printed}");
    // Grown again from there in another way.
    desk.journal().append(&decision(99, "denied")).unwrap();
    desk.filled(8);
    let (code, printed) = desk.run(WITNESS);
    assert_eq!(code, 13, "{printed}");
    put(&desk, &at_nine);
    desk.done(WITNESS);
    // Lines that the head was not signed for.
    let lines = desk.read("log/decisions.jsonl");
    std::fs::write(
        desk.path("log/decisions.jsonl"),
        lines.replacen("allowed", "denied_", 1),
    )
    .unwrap();
    assert_eq!(desk.run(WITNESS).0, 11);
    let cut = lines.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(desk.path("log/decisions.jsonl"), format!("{cut}\n")).unwrap();
    assert_eq!(desk.run(WITNESS).0, 12);
    std::fs::write(desk.path("log/decisions.jsonl"), lines).unwrap();
    // A state that somebody rolled back by hand is not this witness's word.
    let state = std::fs::read_dir(desk.path("state"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.extension()
                .is_some_and(|ending| ending == "checkpoint")
        })
        .unwrap();
    std::fs::copy(desk.path("log/decisions.checkpoint"), &state).unwrap();
    let (code, printed) = desk.run(WITNESS);
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("not signed by this witness"), "{printed}");
}

#[test]
fn a_witness_takes_requests_with_a_proof() {
    let desk = Desk::new();
    desk.filled(5);
    desk.done(WITNESS);
    desk.filled(6);
    let mut tree = MemoryTree::new();
    for line in desk.read("log/decisions.jsonl").lines() {
        tree.append_leaf(countersign_receipts::leaf_hash(line.as_bytes()));
    }
    let request = |old| {
        let add = AddCheckpoint {
            old,
            proof: consistency_proof(old, 11, |node| tree.node(node)).unwrap(),
            note: desk.read("log/decisions.checkpoint"),
        };
        std::fs::write(desk.path("request"), add.to_string()).unwrap();
        desk.run("witness --request request --log-keys keys/keys.json --keys witness --state state")
    };
    assert_eq!(
        request(4).0,
        3,
        "goes on from another head than the last one seen"
    );
    let (code, printed) = request(5);
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.starts_with("\u{2014} witness.example/w "),
        "{printed}"
    );
}

/// A copy of the record beside it.
fn copied(desk: &Desk, name: &str) -> PathBuf {
    let to = desk.path(name);
    copy(&desk.path("log"), &to);
    to
}

fn put(desk: &Desk, from: &Path) {
    std::fs::remove_dir_all(desk.path("log")).unwrap();
    copy(from, &desk.path("log"));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn decisions_are_exported_as_receipts_that_stand_alone() {
    let desk = Desk::new();
    desk.filled(5);
    desk.done("export --record log --keys keys --out out --tlog-proof");
    let keys = TrustedKeys::read(&desk.read("out/keys.json")).unwrap();
    let (_, key) = keys.usable().next().unwrap();
    for index in 0..5 {
        let name = format!("out/decision-{index:012}");
        let receipt = Receipt::read(&desk.read(&format!("{name}.json"))).unwrap();
        let (payload, _) = receipt.verify(key).unwrap();
        assert_eq!(payload["sequence"], index);
        let proof = desk.read(&format!("{name}.tlog-proof"));
        let proof = countersign_receipts::ProofText::read(&proof).unwrap();
        let line = desk.read(&format!("{name}.payload"));
        assert!(proof.verify(line.as_bytes(), key).is_ok());
    }
    // Nothing is exported of a record that is not the signed one.
    let lines = desk.read("log/decisions.jsonl");
    let cut = lines.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(desk.path("log/decisions.jsonl"), format!("{cut}\n")).unwrap();
    assert_eq!(desk.run("export --record log --keys keys --out other").0, 1);
    assert!(!desk.path("other").exists());
}

/// A call that was held and released by a person, as the record holds it.
fn released(desk: &Desk) {
    let journal = desk.journal();
    let mut held = decision(7, "held");
    held["tool"] = "write_file".into();
    let leaf = journal.append(&held).unwrap();
    let held = HeldCall {
        approval: [1; 16],
        call: [0; 16],
        held: leaf,
        opening: CallOpening {
            salt: [7; 32].into(),
            server: "files".into(),
            method: "tools/call".into(),
            tool: Some("write_file".into()),
            definition: None,
            identity: "local".into(),
            policy_sha256: "aa".repeat(32),
            message: "{}".into(),
        },
        rule: "writes".into(),
        policy: "starter".into(),
        commit: None,
        held_at: "2026-11-30T08:00:00.000Z".into(),
        expires_at: "2026-11-30T08:15:00.000Z".into(),
    };
    let signer = desk.ring().signer;
    let mut approval = Approval::about(
        &held,
        ApprovalDecision::Released,
        ApprovalReason::Approved,
        "2026-11-30T08:05:00.000Z".into(),
        &signer,
    );
    approval.decided_by = Some(Approver {
        way: ApprovalWay::Page,
        name: "ada".into(),
    });
    let line = json!({
        "v": 1, "at": "2026-11-30T08:05:00.000Z", "event": "released", "call": format!("{:032x}", 7),
        "hold": "01".repeat(16), "rule": "writes", "reason": "approved",
        "approval": approval.sign(&signer).unwrap(),
    });
    journal.append(&line).unwrap();
    journal.sign_head().unwrap();
}

#[test]
fn decisions_are_exported_in_the_other_format_and_hold_there() {
    let desk = Desk::new();
    desk.filled(2);
    released(&desk);
    desk.done(
        "export --record log --keys keys --out out --permission-protocol --openings --approvals",
    );
    let approval: SignedApproval =
        serde_json::from_str(&desk.read(&format!("out/approval-{:032x}.json", 7))).unwrap();
    let key = desk.ring().signer.verifier();
    assert!(approval.verify(&key).unwrap().is_released_by_a_person());
    let keys = KeySet::read(&desk.read("out/keys.json")).unwrap();
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(desk.path("out")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(id) = name
            .strip_suffix(".json")
            .filter(|id| id.starts_with("dec_"))
        else {
            continue;
        };
        if id.ends_with(".request") {
            continue;
        }
        let request = desk.read(&format!("out/{id}.request.json"));
        let salt = hex::decode(desk.read(&format!("out/{id}.salt"))).unwrap();
        let opening = Opening {
            request_json: &request,
            salt: &salt,
            summary: Stated::Nothing,
            binding: Stated::This(json!({"companyId": ORIGIN})),
        };
        let verified = verify_artifact(&desk.read(&format!("out/{name}")), &keys, Some(&opening));
        let verified = verified.unwrap();
        let text = |name| verified.text(name).unwrap().to_owned();
        seen.push((text("deciderId"), text("status"), text("expiresAt")));
        assert!(text("publicProjectionJson").contains("files"), "{id}");
    }
    seen.sort();
    let policy = || {
        (
            "system/countersign-door".into(),
            "APPROVED".into(),
            "2026-11-30T08:15:00.000Z".into(),
        )
    };
    let ada = (
        "user:ada".into(),
        "APPROVED".into(),
        "2026-11-30T08:15:00.000Z".into(),
    );
    assert_eq!(seen, vec![policy(), policy(), ada]);
    let day = "export --record log --keys keys --out out --permission-protocol --life-seconds";
    desk.done(&format!("{day} 86400"));
    assert_eq!(desk.run(&format!("{day} 86401")).0, 2);
}

#[test]
fn a_replaced_key_is_in_the_record_and_its_heads_still_count() {
    let desk = Desk::new();
    desk.filled(3);
    desk.done(WITNESS);
    desk.done("keys rotate --keys keys");
    desk.filled(2);
    desk.done(WITNESS);
    let lines = desk.read("log/decisions.jsonl");
    let changed = lines.lines().nth(3).unwrap();
    assert!(changed.contains(r#""event":"key_changed""#), "{changed}");
    let trusted = TrustedKeys::read(&desk.read("keys/keys.json")).unwrap();
    assert_eq!(trusted.usable().count(), 2);
    let head = trusted
        .verify(&desk.read("log/decisions.checkpoint"))
        .unwrap();
    assert_eq!(head.checkpoint.size, 6);
    let new = desk.ring().signer.verifier();
    assert!(Checkpoint::verify(&head.note, &new).is_ok());
}
