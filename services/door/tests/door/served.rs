//! A door that serves its policy's servers to clients over HTTP.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::client::{Answer, raw};
use crate::stand::{fresh_directory, keys};

/// The process of such a door.
pub struct Served {
    pub child: Child,
    pub address: SocketAddr,
    pub directory: PathBuf,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// A door with this policy.
    pub fn with(policy: &str) -> Self {
        Self::with_arguments(policy, &[])
    }

    /// A door with this policy and further arguments.
    pub fn with_arguments(policy: &str, arguments: &[String]) -> Self {
        let directory = fresh_directory();
        std::fs::create_dir_all(&directory).unwrap();
        let words: Vec<_> = arguments.iter().map(String::as_str).collect();
        Self::started(policy, directory, &words)
    }

    /// A door with this policy in a folder, started with these words as well.
    pub fn started(policy: &str, directory: PathBuf, words: &[&str]) -> Self {
        std::fs::write(directory.join("policy.yaml"), policy).unwrap();
        let keys = keys(&directory);
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .args(["serve", "--listen", "127.0.0.1:0", "--policy"])
            .arg(directory.join("policy.yaml"))
            .arg("--log")
            .arg(directory.join("log"))
            .arg("--keys")
            .arg(keys)
            .args(words)
            .env("DOOR_SECRET", "of the door")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let mut errors = child.stderr.take().unwrap();
        if line.is_empty() {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut errors, &mut text).unwrap();
            panic!("{text}");
        }
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = listening["listening"][0].as_str().unwrap().parse().unwrap();
        Self {
            child,
            address,
            directory,
        }
    }

    /// The bytes of a request.
    pub fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let mut request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n",
            self.address
        );
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            );
        }
        (request + "\r\n" + body).into_bytes()
    }

    /// Asks and waits for the whole answer.
    pub async fn ask(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        raw(self.address, &self.request(method, headers, body)).await
    }

    /// Posts a message in a session.
    pub async fn post(&self, session: Option<&str>, body: &str) -> Answer {
        match session {
            None => self.ask("POST", &[], body).await,
            Some(session) => self.ask("POST", &[("Mcp-Session-Id", session)], body).await,
        }
    }

    /// The record's lines with this event.
    pub fn events(&self, event: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.join("log/decisions.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["event"] == event)
            .collect()
    }
}

/// The messages in an answer: its JSON, or the data of its events.
pub fn messages(answer: &Answer) -> Vec<Value> {
    if !answer.head.contains("text/event-stream") {
        return vec![answer.json()];
    }
    answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
