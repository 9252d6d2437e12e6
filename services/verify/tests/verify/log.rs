//! The command with files it is given, and with what somebody did to them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersign_domain::Secret;
use countersign_receipts::{
    Checkpoint, LogEntry, LogKeyFile, LogSigner, MemoryTree, Receipt, SignedCheckpoint, leaf_hash,
};
use ed25519_dalek::pkcs8::EncodePrivateKey as _;

const ORIGIN: &str = "countersign.example/bank";

fn signer(seed: u8) -> LogSigner {
    let pem = ed25519_dalek::SigningKey::from_bytes(&[seed; 32])
        .to_pkcs8_pem(Default::default())
        .unwrap();
    let file = LogKeyFile {
        key_id: "notary".into(),
        pkcs8_pem: Secret::new(pem.as_str()),
    };
    LogSigner::new(ORIGIN, &file).unwrap()
}

/// A log of some lines, its files in a folder of its own.
struct Log {
    directory: PathBuf,
    lines: Vec<String>,
    tree: MemoryTree,
}

impl Log {
    fn new(name: &str, count: u64) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("verify-{name}"));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let mut log = Self {
            directory,
            lines: Vec::new(),
            tree: MemoryTree::new(),
        };
        let mut previous = None;
        for sequence in 0..count {
            let event =
                serde_json::json!({"event": "executed", "action": format!("act_{sequence}")});
            let entry = LogEntry {
                event,
                previous,
                sequence,
            };
            let line = String::from_utf8(entry.line().unwrap()).unwrap();
            previous = Some(leaf_hash(line.as_bytes()));
            log.tree.append_leaf(leaf_hash(line.as_bytes()));
            log.lines.push(line);
        }
        log.write("key", &signer(1).verifier().line());
        log.write("log", &log.text(count as usize));
        log.write("head", &log.head(count).note);
        log
    }

    fn text(&self, count: usize) -> String {
        self.lines[..count]
            .iter()
            .map(|line| format!("{line}\n"))
            .collect()
    }

    fn head(&self, size: u64) -> SignedCheckpoint {
        let root = self.tree.root_at(size).unwrap();
        let origin = ORIGIN.to_owned();
        Checkpoint { origin, size, root }.sign(&signer(1)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.directory.join(name), text).unwrap();
    }

    fn verify(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_countersign-verify"))
            .args(arguments)
            .current_dir(&self.directory)
            .output()
            .unwrap()
    }

    fn code(&self) -> i32 {
        let output = self.verify(&["log", "log", "--checkpoint", "head", "--key", "key"]);
        output.status.code().unwrap()
    }

    fn receipt_code(&self) -> i32 {
        let output = self.verify(&["receipt", "receipt.json", "--key", "key"]);
        output.status.code().unwrap()
    }
}

#[test]
fn a_log_under_its_head_holds() {
    let log = Log::new("holds", 9);
    let output = log.verify(&["log", "log", "--checkpoint", "head", "--key", "key"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        format!("holds: 9 of 9 lines under the signed head of {ORIGIN}\n")
    );
    // A head saved earlier holds for a log that has grown.
    log.write("head", &log.head(4).note);
    assert_eq!(log.code(), 0);
    // The other form of the key.
    let file = signer(1).public_key_file().unwrap();
    log.write("key", &serde_json::to_string_pretty(&file).unwrap());
    assert_eq!(log.code(), 0);
}

#[test]
fn a_line_taken_out_or_changed_is_a_break() {
    let log = Log::new("break", 9);
    let without_fifth = log.text(9).replace(&format!("{}\n", log.lines[4]), "");
    log.write("log", &without_fifth);
    assert_eq!(log.code(), 11);
    log.write("log", &log.text(9).replace("act_4", "act_5"));
    assert_eq!(log.code(), 11);
    log.write(
        "log",
        &log.text(9)
            .replace("{\"action\":\"act_8\"", "{ \"action\":\"act_8\""),
    );
    assert_eq!(log.code(), 11);
}

#[test]
fn a_cut_end_is_seen_against_a_head_saved_elsewhere() {
    let log = Log::new("cut", 9);
    log.write("log", &log.text(6));
    assert_eq!(log.code(), 12);
    // Whoever cuts and signs again is seen by whoever kept the older head.
    log.write("log", &log.text(0));
    assert_eq!(log.code(), 12);
}

#[test]
fn another_past_is_a_fork() {
    let log = Log::new("fork", 9);
    log.write(
        "log",
        &log.text(9)
            .replace("\"sequence\":8", "\"sequence\":8,\"x\":1"),
    );
    assert_eq!(log.code(), 13);
    // A whole other log, chained in order and signed by the same key.
    let other = Log::new("fork-other", 9);
    let mut previous = None;
    let mut forged = String::new();
    for sequence in 0..12 {
        let event = serde_json::json!({"event": "executed", "action": format!("act_x{sequence}")});
        let entry = LogEntry {
            event,
            previous,
            sequence,
        };
        let line = entry.line().unwrap();
        previous = Some(leaf_hash(&line));
        forged.push_str(&format!("{}\n", String::from_utf8(line).unwrap()));
    }
    other.write("log", &forged);
    assert_eq!(other.code(), 13);
}

#[test]
fn other_keys_and_broken_files_are_refused() {
    let log = Log::new("keys", 3);
    log.write("key", &signer(2).verifier().line());
    assert_eq!(log.code(), 2);
    log.write("key", &signer(1).verifier().line());
    let note = log.head(3).note;
    log.write("head", &note.replace("\n3\n", "\n2\n"));
    assert_eq!(log.code(), 1);
    log.write("head", "no note");
    assert_eq!(log.code(), 3);
    log.write("head", &note);
    log.write("key", "no key");
    assert_eq!(log.code(), 3);
    std::fs::remove_file(log.directory.join("key")).unwrap();
    assert_eq!(log.code(), 3);
    assert_eq!(log.verify(&["log"]).status.code(), Some(64));
    assert_eq!(log.verify(&["--help"]).status.code(), Some(0));
}

#[test]
fn a_receipt_holds_and_a_changed_one_does_not() {
    let log = Log::new("receipt", 9);
    let receipt = Receipt::new(&log.lines[4], 4, &log.head(9), |node| log.tree.node(node)).unwrap();
    let text = serde_json::to_string(&receipt).unwrap();
    log.write("receipt.json", &text);
    let output = log.verify(&["receipt", "receipt.json", "--key", "key"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(
        printed.starts_with(&format!("holds: event 4 of 9 in {ORIGIN}\n")),
        "{printed}"
    );
    assert!(printed.contains("\"action\": \"act_4\""), "{printed}");
    for (from, to, code) in [
        ("act_4", "act_5", 4),
        ("\"leaf_index\":4", "\"leaf_index\":5", 4),
        ("\"leaf_index\":4", "\"leaf_index\":99", 4),
        (r#"\"action\":"#, r#" \"action\":"#, 4),
        ("\\n9\\n", "\\n8\\n", 1),
        ("receipt/v1", "receipt/v2", 3),
        ("\"payload\"", "\"status\":\"APPROVED\",\"payload\"", 3),
        ("\"inclusion\":[\"", "\"inclusion\":[\"x", 3),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        log.write("receipt.json", &changed);
        assert_eq!(log.receipt_code(), code, "{from} -> {to}");
    }
    log.write("receipt.json", &text);
    log.write("key", &signer(2).verifier().line());
    assert_eq!(log.receipt_code(), 2);
}
