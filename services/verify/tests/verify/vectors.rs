//! What the command and the page both judge: `fixtures/verifier/cases.json`. Every case says its code; this test makes
//! the cases again, runs the command over each, and compares the file. The page's tests run over the same file.

use std::collections::BTreeMap;
use std::path::Path;

use countersign_receipts::permission::{KeySet, KeyStatus};
use countersign_receipts::{
    Checkpoint, LogEntry, LogSigner, MemoryTree, Receipt, SignedCheckpoint, leaf_hash,
};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::Digest as _;

use crate::run::{Folder, key_set, signer_named};

const ORIGIN: &str = "log.example/door";
const POLICY: &str = "version: 1\nid: starter\ndefault: deny\n";
const LINES: u64 = 11;
/// Of each file of a good case one byte in so many is changed.
const FLIPPED_EVERY: usize = 13;

/// Files by what they are.
type Files = BTreeMap<&'static str, String>;

/// All that command and page are given.
#[derive(Debug, Serialize)]
struct Vectors {
    /// The files of the good case of each kind.
    good: BTreeMap<&'static str, Files>,
    cases: Vec<Case>,
}

/// What is done to the good files of a kind, and what the command says of them then.
#[derive(Clone, Debug, Serialize)]
struct Case {
    name: String,
    kind: &'static str,
    /// Files that are others than the good ones, or come beside them.
    files: Files,
    #[serde(skip_serializing_if = "Option::is_none")]
    flip: Option<Flip>,
    code: i32,
}

/// One byte of a good file, changed.
#[derive(Clone, Debug, Serialize)]
struct Flip {
    file: &'static str,
    position: usize,
    bits: u8,
}

struct Made {
    signer: LogSigner,
    lines: Vec<String>,
    tree: MemoryTree,
}

impl Made {
    fn new(seed: u8) -> Self {
        let mut made = Self {
            signer: signer_named(ORIGIN, "door-1", seed),
            lines: Vec::new(),
            tree: MemoryTree::new(),
        };
        let sha256 = hex::encode(sha2::Sha256::digest(POLICY));
        let mut previous = None;
        for sequence in 0..LINES {
            let event = json!({"event": "allowed", "tool": format!("tool_{sequence}"), "note": "é\n\u{1f600}\"\\",
                "share": 0.25, "policy": {"id": "starter", "sha256": sha256}});
            let entry = LogEntry {
                event,
                previous,
                sequence,
            };
            let line = String::from_utf8(entry.line().unwrap()).unwrap();
            previous = Some(leaf_hash(line.as_bytes()));
            made.tree.append_leaf(leaf_hash(line.as_bytes()));
            made.lines.push(line);
        }
        made
    }

    fn head(&self, size: u64) -> SignedCheckpoint {
        let root = self.tree.root_at(size).unwrap();
        let origin = ORIGIN.to_owned();
        Checkpoint { origin, size, root }
            .sign(&self.signer)
            .unwrap()
    }

    fn receipt(&self, index: u64) -> Receipt {
        let line = &self.lines[index as usize];
        let node = |node| self.tree.node(node);
        Receipt::new(line, index, &self.head(LINES), node).unwrap()
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn keys(signer: &LogSigner, status: KeyStatus) -> String {
    json_text(&key_set(signer, status))
}

/// The good files of each kind.
fn good(made: &Made) -> [(&'static str, Files); 3] {
    let receipt = made.receipt(6);
    let keys = keys(&made.signer, KeyStatus::Active);
    [
        (
            "receipt",
            BTreeMap::from([("receipt", json_text(&receipt)), ("keys", keys.clone())]),
        ),
        (
            "proof",
            BTreeMap::from([
                ("payload", made.lines[6].clone()),
                ("proof", receipt.proof_text().unwrap().to_string()),
                ("keys", keys.clone()),
            ]),
        ),
        (
            "log",
            BTreeMap::from([
                ("lines", made.text()),
                ("checkpoint", made.head(LINES).note),
                ("keys", keys),
            ]),
        ),
    ]
}

fn cases() -> Vec<Case> {
    let made = Made::new(1);
    let [(_, receipt), (_, proof), _] = good(&made);
    let mut cases = Vec::new();
    let mut add = |name: &str, kind, files: Files, code| {
        let name = name.to_owned();
        cases.push(Case {
            name,
            kind,
            files,
            flip: None,
            code,
        });
    };
    let with = |name, text: &str| Files::from([(name, text.to_owned())]);
    let other = signer_named(ORIGIN, "door-2", 2);
    for (kind, _) in good(&made) {
        add(&format!("a {kind} that holds"), kind, Files::new(), 0);
        for (name, text) in [
            ("one line", made.signer.verifier().line()),
            (
                "its file",
                json_text(&made.signer.public_key_file().unwrap()),
            ),
            ("a rotated one", keys(&made.signer, KeyStatus::Rotated)),
        ] {
            add(
                &format!("{kind}, the key as {name}"),
                kind,
                with("keys", &text),
                0,
            );
        }
        let mut both: KeySet = key_set(&other, KeyStatus::Active);
        both.keys
            .extend(key_set(&made.signer, KeyStatus::Active).keys);
        add(
            &format!("{kind}, the second key"),
            kind,
            with("keys", &json_text(&both)),
            0,
        );
        for (name, text, code) in [
            ("a stranger's", keys(&other, KeyStatus::Active), 2),
            ("a revoked one", keys(&made.signer, KeyStatus::Revoked), 2),
            (
                "another log's",
                keys(&signer_named("log.example/b", "b", 1), KeyStatus::Active),
                2,
            ),
            ("none", String::new(), 3),
            (
                "an empty set",
                r#"{"issuer":"log.example/door","keys":[]}"#.to_owned(),
                3,
            ),
            (
                "one anybody can sign for",
                json_text(
                    &json!({"issuer": ORIGIN, "keys": [{"key_id": "w", "alg": "ed25519", "status": "active",
                    "public_key_b64": "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}]}),
                ),
                3,
            ),
        ] {
            add(
                &format!("{kind}, the key is {name}"),
                kind,
                with("keys", &text),
                code,
            );
        }
        add(
            &format!("{kind}, its policy"),
            kind,
            with("policy", POLICY),
            0,
        );
        add(
            &format!("{kind}, another policy"),
            kind,
            with("policy", "version: 1\n"),
            9,
        );
    }
    let value: Value = serde_json::from_str(&receipt["receipt"]).unwrap();
    let changed = |member: &str, to: Value| {
        let mut value = value.clone();
        value[member] = to;
        value.to_string()
    };
    let payload = made.lines[6].as_str();
    let inclusion = value["inclusion"].as_array().unwrap();
    let checkpoint = value["checkpoint"].as_str().unwrap();
    let stranger = Made::new(2);
    let cosigned = format!("{checkpoint}\u{2014} witness.example AAAAAAAA\n");
    let twice = receipt["receipt"].replacen('{', r#"{"leaf_index":6,"#, 1);
    for (name, text, code) in [
        ("in another order", json_text(&json!(value)), 0),
        (
            "with a cosignature",
            changed("checkpoint", json!(cosigned)),
            0,
        ),
        ("a member twice", twice, 3),
        (
            "an unsigned status",
            changed("status", json!("APPROVED")),
            3,
        ),
        (
            "another format",
            changed("format", json!("countersign.receipt/v2")),
            3,
        ),
        ("not JSON", receipt["receipt"].replacen('{', "", 1), 3),
        ("more behind it", format!("{}x", receipt["receipt"]), 3),
        (
            "another tool",
            changed("payload", json!(payload.replace("tool_6", "tool_7"))),
            4,
        ),
        (
            "spaces in the payload",
            changed("payload", json!(payload.replacen(',', ", ", 1))),
            4,
        ),
        (
            "a member of the payload twice",
            changed(
                "payload",
                json!(payload.replacen('{', r#"{"a":1,"a":1,"#, 1)),
            ),
            4,
        ),
        (
            "an escape in the payload",
            changed("payload", json!(payload.replace('é', "\\u00e9"))),
            4,
        ),
        (
            "half a character in the payload",
            changed("payload", json!(payload.replace('é', "\\ud800"))),
            3,
        ),
        (
            "an inexact number in the payload",
            changed("payload", json!(r#"{"a":9007199254740994}"#)),
            4,
        ),
        (
            "a number beyond all in the payload",
            changed("payload", json!(r#"{"a":1e400}"#)),
            3,
        ),
        (
            "a payload too deep",
            changed("payload", json!("[".repeat(200))),
            3,
        ),
        (
            "a payload that is a list",
            changed("payload", json!("[]")),
            3,
        ),
        ("another place", changed("leaf_index", json!(5)), 4),
        (
            "a place beyond the log",
            changed("leaf_index", json!(11)),
            4,
        ),
        ("a place below nothing", changed("leaf_index", json!(-1)), 3),
        (
            "a place as a fraction",
            changed("leaf_index", json!(6.0)),
            3,
        ),
        (
            "a hash too few",
            changed("inclusion", json!(inclusion[1..])),
            4,
        ),
        (
            "a hash too many",
            changed(
                "inclusion",
                json!([inclusion.clone(), inclusion.clone()].concat()),
            ),
            4,
        ),
        (
            "a hash that is none",
            changed("inclusion", json!(["AAAA"])),
            3,
        ),
        (
            "a hash without its padding",
            changed(
                "inclusion",
                json!([inclusion[0].as_str().unwrap().trim_end_matches('=')]),
            ),
            3,
        ),
        (
            "another size",
            changed("checkpoint", json!(checkpoint.replace("\n11\n", "\n12\n"))),
            1,
        ),
        (
            "a size with a zero in front",
            changed("checkpoint", json!(checkpoint.replace("\n11\n", "\n011\n"))),
            3,
        ),
        (
            "another log's head",
            changed("checkpoint", json!(checkpoint.replace("/door", "/back"))),
            2,
        ),
        (
            "a stranger's head",
            changed("checkpoint", json!(stranger.head(LINES).note)),
            2,
        ),
        (
            "no signature",
            changed("checkpoint", json!(checkpoint.split('\u{2014}').next())),
            2,
        ),
        (
            "a line of extensions",
            changed(
                "checkpoint",
                json!(checkpoint.replacen("\n\n", "\nmore\n\n", 1)),
            ),
            3,
        ),
        (
            "ends of lines of another kind",
            changed("checkpoint", json!(checkpoint.replace('\n', "\r\n"))),
            3,
        ),
    ] {
        add(
            &format!("receipt, {name}"),
            "receipt",
            with("receipt", &text),
            code,
        );
    }
    for index in 0..LINES {
        let text = json_text(&made.receipt(index));
        add(
            &format!("receipt of line {index}"),
            "receipt",
            with("receipt", &text),
            0,
        );
    }
    let text = &proof["proof"];
    for (name, text, code) in [
        (
            "extra data",
            text.replacen("\nindex", "\nextra AAAA\nindex", 1),
            0,
        ),
        ("another version", text.replacen("@v1", "@v2", 1), 3),
        (
            "a place with a zero in front",
            text.replacen("index 6", "index 06", 1),
            3,
        ),
        ("another place", text.replacen("index 6", "index 7", 1), 4),
        ("no place", text.replacen("index 6\n", "", 1), 3),
        ("a receipt in its place", receipt["receipt"].clone(), 3),
    ] {
        add(
            &format!("proof, {name}"),
            "proof",
            with("proof", &text),
            code,
        );
    }
    let ended = format!("{payload}\n");
    add(
        "proof, a line with its end",
        "proof",
        with("payload", &ended),
        0,
    );
    add(
        "proof, another line",
        "proof",
        with("payload", &made.lines[5]),
        4,
    );
    let lines = |lines: Vec<&str>| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let all: Vec<&str> = made.lines.iter().map(String::as_str).collect();
    let without = |at: usize| lines([&all[..at], &all[at + 1..]].concat());
    let mut moved = all.clone();
    moved.swap(3, 4);
    for (name, text, code) in [
        ("a line taken out", without(4), 11),
        ("the first line taken out", without(0), 11),
        (
            "a line changed",
            made.text().replacen("tool_4", "tool_5", 1),
            11,
        ),
        (
            "the last line changed",
            made.text().replacen("tool_10", "tool_11", 1),
            13,
        ),
        ("lines in another order", lines(moved), 11),
        (
            "a line in another spelling",
            made.text().replacen(',', ", ", 1),
            11,
        ),
        ("the last lines cut off", lines(all[..8].to_vec()), 12),
        ("nothing of it there", String::new(), 12),
        (
            "an unfinished line behind it",
            made.text() + "{\"event\":",
            0,
        ),
        ("a line that is none behind it", made.text() + "x\n", 11),
        (
            "a line too long",
            made.text() + &" ".repeat((64 << 10) + 1) + "\n",
            11,
        ),
        (
            "a stranger's log",
            stranger.text().replace("tool_10", "tool_12"),
            13,
        ),
    ] {
        add(&format!("log, {name}"), "log", with("lines", &text), code);
    }
    let earlier = made.head(7).note;
    add(
        "log, an earlier head",
        "log",
        with("checkpoint", &earlier),
        0,
    );
    add(
        "log, the head of none",
        "log",
        with("checkpoint", &made.head(0).note),
        0,
    );
    cases
}

/// Good cases with single bytes changed; their codes are the command's.
fn flipped() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, files) in good(&Made::new(1)) {
        for (&file, text) in &files {
            let many = text.len().div_ceil(2_000);
            for position in (0..text.len()).step_by(FLIPPED_EVERY * many) {
                let bits = 1 << (position % 6);
                let name = format!("{kind}, byte {position} of {file} changed");
                cases.push(Case {
                    name,
                    kind,
                    files: Files::new(),
                    flip: Some(Flip {
                        file,
                        position,
                        bits,
                    }),
                    code: 0,
                });
            }
        }
    }
    cases
}

/// The files of a case; none where a changed byte leaves no text.
fn files(good: &BTreeMap<&'static str, Files>, case: &Case) -> Option<Files> {
    let mut files = good[case.kind].clone();
    files.extend(case.files.clone());
    if let Some(flip) = &case.flip {
        let mut bytes = files[flip.file].clone().into_bytes();
        bytes[flip.position] ^= flip.bits;
        files.insert(flip.file, String::from_utf8(bytes).ok()?);
    }
    Some(files)
}

fn run(folder: &Folder, kind: &str, files: &Files) -> i32 {
    for (name, text) in files {
        folder.write(name, text);
    }
    let policy = match files.contains_key("policy") {
        true => "--policy policy",
        false => "",
    };
    let files = match kind {
        "receipt" => "receipt receipt",
        "proof" => "receipt payload --proof proof",
        _ => "log lines --checkpoint checkpoint",
    };
    folder.code(&format!("{files} --key keys {policy}"))
}

#[test]
fn the_vectors_of_command_and_page_get_the_codes_they_say() {
    let folder = Folder::new("vectors");
    let good = BTreeMap::from(good(&Made::new(1)));
    let mut cases = cases();
    for case in &cases {
        let files = files(&good, case).unwrap();
        assert_eq!(run(&folder, case.kind, &files), case.code, "{}", case.name);
    }
    let told = cases.len();
    for mut case in flipped() {
        if let Some(files) = files(&good, &case) {
            case.code = run(&folder, case.kind, &files);
            cases.push(case);
        }
    }
    // A key's name and its dates are nobody's proof: they may change, and nothing else may.
    let holding: Vec<_> = cases[told..]
        .iter()
        .filter(|case| case.code == 0 && !case.name.contains("of keys changed"))
        .map(|case| &case.name)
        .collect();
    assert!(holding.is_empty(), "{holding:?}");
    assert!(cases.len() > told + 100, "{} changed", cases.len() - told);
    let mut text = serde_json::to_string_pretty(&Vectors { good, cases }).unwrap();
    text.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/verifier/cases.json");
    if std::env::var_os("COUNTERSIGN_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "fixtures/verifier/cases.json is not what this test makes: run it with COUNTERSIGN_WRITE_REFERENCE=1"
    );
}

#[test]
fn the_page_is_the_built_one_and_is_never_written_over() {
    let folder = Folder::new("page");
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/verifier/verifier.html");
    let built = std::fs::read_to_string(built).unwrap();
    assert_eq!(folder.code("page --out verifier.html"), 0);
    assert_eq!(
        std::fs::read_to_string(folder.0.join("verifier.html")).unwrap(),
        built
    );
    assert_ne!(folder.code("page --out verifier.html"), 0);
    assert_eq!(folder.run("page").1, built);
    assert!(built.contains("default-src 'none'"));
    for reach in [
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "http://",
        "https://",
        " src=",
    ] {
        assert!(!built.contains(reach), "{reach}");
    }
}
