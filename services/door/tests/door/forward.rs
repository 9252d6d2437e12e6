//! Lines sent on to a collector: all of them, in order, again after a failure, and never to strangers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use countersign_journal::keys::{self, KeyRing};
use countersign_journal::{Journal, Options};
use serde_json::{Value, json};

use crate::stand::fresh_directory;

/// What a collector was sent: the head of each request and its lines.
type Received = Arc<Mutex<Vec<(String, Vec<Value>)>>>;

/// A collector that answers with these status lines in turn, then with 200.
fn collector(answers: &'static [&'static str]) -> (String, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}/lines", listener.local_addr().unwrap());
    let received = Received::default();
    let keep = Arc::clone(&received);
    std::thread::spawn(move || {
        let mut answers = answers.iter();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = Vec::new();
            let mut chunk = [0; 4096];
            let (head, body) = loop {
                let read = stream.read(&mut chunk).unwrap();
                if read == 0 {
                    break (String::new(), Vec::new());
                }
                bytes.extend_from_slice(&chunk[..read]);
                let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
                    continue;
                };
                let head = String::from_utf8(bytes[..end].to_vec())
                    .unwrap()
                    .to_ascii_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.unwrap().parse().unwrap();
                if bytes.len() == end + 4 + length {
                    break (head, bytes[end + 4..].to_vec());
                }
            };
            let answer = answers.next().unwrap_or(&"200 OK");
            let lines = body
                .split_inclusive(|byte| *byte == b'\n')
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            keep.lock().unwrap().push((head, lines));
            write!(
                stream,
                "HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            .unwrap();
        }
    });
    (to, received)
}

struct Desk(PathBuf);

impl Desk {
    fn new() -> Self {
        let directory = fresh_directory();
        std::fs::create_dir_all(&directory).unwrap();
        let now = "2026-11-30T08:00:00.000Z";
        keys::init(
            &directory.join("keys"),
            "log.example/door",
            false,
            now,
            &[1; 32],
        )
        .unwrap();
        let desk = Self(directory);
        desk.token("s3cret-token", 0o600);
        desk
    }

    fn token(&self, token: &str, mode: u32) {
        let path = self.0.join("token");
        std::fs::write(&path, token).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn write(&self, lines: u64) {
        let ring = KeyRing::open(&self.0.join("keys"), false).unwrap();
        let options = Options {
            segment_bytes_max: 3_000,
            ..Options::default()
        };
        let record = self.0.join("log");
        let (journal, _) = Journal::open_with(&record, ring.signer, options).unwrap();
        for line in 0..lines {
            journal
                .append(&json!({"event": "allowed", "n": line}))
                .unwrap();
        }
        journal.sign_head().unwrap();
    }

    fn forward(&self, to: &str) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .args([
                "forward",
                "--record",
                "log",
                "--state",
                "next",
                "--bearer-file",
                "token",
            ])
            .args(["--once", "--to", to])
            .current_dir(&self.0)
            .output()
            .unwrap();
        let mut said = String::from_utf8(output.stdout).unwrap();
        said.push_str(&String::from_utf8(output.stderr).unwrap());
        (output.status.code().unwrap(), said)
    }
}

/// The numbers of all lines that were taken, in the order they came.
fn numbers(received: &Received) -> Vec<u64> {
    let received = received.lock().unwrap();
    let lines = received.iter().flat_map(|(_, lines)| lines);
    lines
        .map(|line| line["sequence"].as_u64().unwrap())
        .collect()
}

#[test]
fn every_line_is_sent_once_in_order_over_all_files_and_runs() {
    let desk = Desk::new();
    let (to, received) = collector(&[]);
    desk.write(60);
    assert_eq!(desk.forward(&to).0, 0);
    let first = numbers(&received).len() as u64;
    assert!(first >= 60, "{first}");
    assert_eq!(desk.forward(&to).0, 0);
    desk.write(25);
    assert_eq!(desk.forward(&to).0, 0);
    let sent = numbers(&received);
    assert_eq!(sent, (0..sent.len() as u64).collect::<Vec<_>>());
    assert!(sent.len() as u64 >= first + 25);
    let received = received.lock().unwrap();
    let (head, _) = &received[0];
    assert!(head.starts_with("post /lines "), "{head}");
    assert!(
        head.contains("authorization: bearer s3cret-token"),
        "{head}"
    );
    assert!(head.contains("countersign-first: 0"), "{head}");
}

#[test]
fn what_was_not_taken_is_sent_again() {
    let desk = Desk::new();
    let (to, received) = collector(&["503 Busy", "413 Too Large"]);
    desk.write(10);
    let (code, said) = desk.forward(&to);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("503") && !said.contains("s3cret-token"),
        "{said}"
    );
    assert_eq!(desk.forward(&to).0, 0);
    let received = received.lock().unwrap();
    let firsts: Vec<_> = received
        .iter()
        .map(|(_, lines)| lines[0]["sequence"].as_u64().unwrap())
        .collect();
    let counts: Vec<_> = received.iter().map(|(_, lines)| lines.len()).collect();
    assert_eq!(&firsts[..3], [0, 0, 0]);
    assert_eq!(counts[0], counts[1]);
    assert_eq!(
        counts[2],
        counts[1].div_ceil(2),
        "half as many after too large"
    );
    let taken: usize = counts[2..].iter().sum();
    assert_eq!(taken, 10);
}

#[test]
fn a_token_is_kept_from_strangers() {
    let desk = Desk::new();
    desk.write(1);
    for to in [
        "http://collector.example/",
        "https://127.0.0.1/",
        "http://10.0.0.1/",
        "nonsense",
    ] {
        let (code, said) = desk.forward(to);
        assert_eq!(code, 1, "{to}: {said}");
    }
    let (to, received) = collector(&[]);
    desk.token("s3cret-token", 0o644);
    let (code, said) = desk.forward(&to);
    assert!(code == 1 && said.contains("chmod"), "{said}");
    desk.token("", 0o600);
    assert_eq!(desk.forward(&to).0, 1);
    assert!(received.lock().unwrap().is_empty());
}
