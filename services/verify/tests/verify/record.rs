//! Whole records as a door writes them: directories, policies, witnesses, heads of single lines.

use countersign_domain::Secret;
use countersign_journal::{Journal, Mode, Options};
use countersign_receipts::permission::KeyStatus;
use countersign_receipts::{Checkpoint, LogKeyFile, WitnessSigner};
use ed25519_dalek::pkcs8::EncodePrivateKey as _;
use serde_json::json;
use sha2::Digest as _;

use crate::run::{Folder, key_set, signer_named};

const ORIGIN: &str = "log.example/door";
const POLICY: &str = "version: 1\nid: starter\ndefault: deny\n";

/// A record of several files in the folder's `log`, every line decided by [`POLICY`].
fn record(name: &str, mode: Mode) -> Folder {
    let folder = Folder::new(name);
    let signer = signer_named(ORIGIN, "door-1", 1);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Active));
    folder.write("policy.yaml", POLICY);
    let options = Options {
        mode,
        segment_bytes_max: 2_000,
        ..Options::default()
    };
    let (journal, _) = Journal::open_with(&folder.0.join("log"), signer, options).unwrap();
    let sha256 = hex::encode(sha2::Sha256::digest(POLICY));
    for number in 0..30 {
        let line = json!({"event": "allowed", "n": number,
            "policy": {"id": "starter", "sha256": sha256}});
        journal.append(&line).unwrap();
    }
    journal.sign_head().unwrap();
    folder
}

const HEAD: &str = "--checkpoint log/decisions.checkpoint --key keys.json";

#[test]
fn a_directory_of_several_files_is_one_log() {
    let folder = record("directory", Mode::Written);
    let (code, printed) = folder.run(&format!("log log {HEAD} --policy policy.yaml"));
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("lines under the signed head"), "{printed}");
    // A whole file taken out of the middle, and the first one.
    let mut names: Vec<_> = std::fs::read_dir(folder.0.join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("decisions-") && name.ends_with(".jsonl"))
        .collect();
    names.sort();
    for (name, with_part) in [(&names[1], 11), (&names[0], 0)] {
        let (from, to) = (folder.0.join("log").join(name), folder.0.join("aside"));
        std::fs::rename(&from, &to).unwrap();
        assert_eq!(folder.code(&format!("log log {HEAD}")), 11, "{name}");
        let (code, printed) = folder.run(&format!("log log {HEAD} --part"));
        assert_eq!(code, with_part, "{name}: {printed}");
        if code == 0 {
            assert!(printed.contains("are not here"), "{printed}");
        }
        std::fs::rename(&to, &from).unwrap();
    }
}

#[test]
fn a_decision_of_another_policy_is_found() {
    let folder = record("policy", Mode::Written);
    folder.write("other.yaml", "version: 1\nid: other\ndefault: deny\n");
    let with = |policy: &str| folder.code(&format!("log log {HEAD} {policy}"));
    assert_eq!(with("--policy other.yaml"), 9);
    assert_eq!(with("--policy other.yaml --policy policy.yaml"), 0);
    assert_eq!(with("--policy missing.yaml"), 3);
}

#[test]
fn a_head_of_its_own_is_asked_of_every_line() {
    let folder = record("each", Mode::SignEach);
    let command = format!("log log {HEAD} --each-signed");
    let (code, printed) = folder.run(&command);
    assert_eq!(code, 0, "{printed}");
    let heads = folder.0.join("log/decisions.heads");
    let whole = std::fs::read_to_string(&heads).unwrap();
    let without_first = whole.split_once('\n').unwrap().1;
    std::fs::write(&heads, without_first).unwrap();
    assert_eq!(folder.code(&command), 1);
    std::fs::write(&heads, whole.replacen(' ', "0 ", 1)).unwrap();
    assert_eq!(folder.code(&command), 1);
    std::fs::write(&heads, "nothing\n").unwrap();
    assert_eq!(folder.code(&command), 3);
    // Cut behind the last head that was published, which the lines' own heads still show.
    std::fs::write(&heads, &whole).unwrap();
    let earlier = folder.0.join("log/decisions.checkpoint");
    let lines = std::fs::read_to_string(folder.0.join("log/decisions.jsonl")).unwrap();
    let cut = lines.trim_end().rsplit_once('\n').unwrap().0;
    folder.write("log/decisions.jsonl", &format!("{cut}\n"));
    let signer = signer_named(ORIGIN, "door-1", 1);
    let walked = countersign_journal::walk(
        &countersign_journal::line_files(&folder.0.join("log")).unwrap(),
        false,
        |_| {},
    )
    .unwrap();
    let head = Checkpoint {
        origin: ORIGIN.into(),
        size: walked.frontier.size(),
        root: walked.frontier.root(),
    };
    std::fs::write(&earlier, head.sign(&signer).unwrap().note).unwrap();
    assert_eq!(folder.code(&format!("log log {HEAD}")), 0);
    assert_eq!(folder.code(&command), 12);
}

#[test]
fn a_head_must_carry_the_witness_that_is_asked_for() {
    let folder = record("witness", Mode::Written);
    let pem = ed25519_dalek::SigningKey::from_bytes(&[9; 32])
        .to_pkcs8_pem(Default::default())
        .unwrap();
    let file = LogKeyFile {
        key_id: "w".into(),
        pkcs8_pem: Secret::new(pem.as_str()),
    };
    let witness = WitnessSigner::new("witness.example/w", &file).unwrap();
    folder.write("witness", &witness.verifier().line());
    let command = format!("log log {HEAD} --witness witness");
    assert_eq!(folder.code(&command), 2);
    let path = folder.0.join("log/decisions.checkpoint");
    let note = std::fs::read_to_string(&path).unwrap();
    let key = signer_named(ORIGIN, "door-1", 1).verifier();
    let head = Checkpoint::verify(&note, &key).unwrap();
    let line = witness.cosign(&head, 1_790_000_000);
    std::fs::write(&path, format!("{note}{line}")).unwrap();
    let (code, printed) = folder.run(&command);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("witnessed at 1790000000"), "{printed}");
}

#[test]
fn a_revoked_key_signs_for_nothing() {
    let folder = record("revoked", Mode::Written);
    let signer = signer_named(ORIGIN, "door-1", 1);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Rotated));
    assert_eq!(folder.code(&format!("log log {HEAD}")), 0);
    folder.write_json("keys.json", &key_set(&signer, KeyStatus::Revoked));
    assert_eq!(folder.code(&format!("log log {HEAD}")), 2);
}
