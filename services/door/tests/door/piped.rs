//! A door on pipes with a real server behind it, and what a test says to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stand::{fresh_directory, keys};

/// How long anything may take here.
pub const TIME_OUT: Duration = Duration::from_secs(15);

/// The program of the server for tests.
pub fn server_program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    target.join("examples").join("pipe_server")
}

/// A policy that allows every tool of that server.
pub fn policy(more: &str) -> String {
    let tools = [
        "echo",
        "exit",
        "hang",
        "wrong_id",
        "twice",
        "ask",
        "long_line",
        "crlf",
        "noise",
        "chatter",
        "env",
        "family",
        "late",
        "spaced",
        "seen",
        "absent",
    ];
    let tools: String = tools
        .iter()
        .map(|tool| format!("  {tool}: {{args: {{text: {{type: string}}}}}}\n"))
        .collect();
    format!(
        "version: 1\nid: pipes\ndefault: deny\nrequire_pins: false\nservers:\n  toy: {{env: {{GIVEN: given}}}}\ntools:\n{tools}{more}"
    )
}

/// A door that wraps a server.
pub struct Piped {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    pub errors: Receiver<String>,
    pub directory: PathBuf,
    next_id: i64,
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Piped {
    /// A door with this policy before the server for tests.
    pub fn with(policy: &str) -> Self {
        Self::started(policy, &[], &[server_program().to_str().unwrap()])
    }

    /// A door with this policy and these words on its command line before a program.
    pub fn started(policy: &str, words: &[&str], command: &[&str]) -> Self {
        let directory = fresh_directory();
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("policy.yaml"), policy).unwrap();
        let keys = keys(&directory);
        Self::there(directory, &keys, words, command)
    }

    /// Another door over the same policy, keys and record, once this one has ended.
    pub fn again(&self, words: &[&str], command: &[&str]) -> Self {
        let directory = self.directory.clone();
        Self::there(directory, &self.directory.join("keys"), words, command)
    }

    fn there(directory: PathBuf, keys: &Path, words: &[&str], command: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .arg("run")
            .arg("--policy")
            .arg(directory.join("policy.yaml"))
            .arg("--log")
            .arg(directory.join("log"))
            .arg("--keys")
            .arg(keys)
            .args(words)
            .args((!command.is_empty()).then_some("--"))
            .args(command)
            .env("DOOR_SECRET", "of the door")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            lines: lines_of(child.stdout.take().unwrap()),
            errors: lines_of(child.stderr.take().unwrap()),
            child,
            directory,
            next_id: 0,
        }
    }

    /// A door whose client has come to terms with the server.
    pub fn ready() -> Self {
        let mut piped = Self::with(&policy(""));
        piped.initialize();
        piped
    }

    /// Comes to terms with the server.
    pub fn initialize(&mut self) -> Value {
        let answer = self.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        self.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }

    /// Writes a line.
    pub fn write(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes());
    }

    /// Writes bytes.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Ends the client's side.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// The next line of the door.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(TIME_OUT).expect("a line in time")
    }

    /// The next line of the door as JSON.
    pub fn message(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// Whether the door says nothing for a while.
    pub fn is_silent(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(300)).is_err()
    }

    /// Asks without waiting, and returns the id.
    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.write(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// Asks and waits for the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, text: &str) -> Value {
        self.ask(
            "tools/call",
            json!({"name": tool, "arguments": {"text": text}}),
        )
    }

    /// Calls a tool and returns what it says.
    pub fn says(&mut self, tool: &str, text: &str) -> String {
        let answer = self.call(tool, text);
        let said = answer["result"]["content"][0]["text"].as_str();
        said.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The record's lines with this event.
    pub fn events(&self, event: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.join("log/decisions.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["event"] == event)
            .collect()
    }

    /// Waits until the door's process has ended.
    pub fn wait(&mut self) -> std::process::ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(since.elapsed() < TIME_OUT, "the door does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether there is such a process, and it is no zombie.
pub fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit(") ").next().unwrap_or_default().chars().next();
    !matches!(state, Some('Z' | 'X'))
}

/// Waits until there is no such process any more.
pub fn wait_until_gone(pid: &str) {
    let since = Instant::now();
    while is_alive(pid) {
        assert!(since.elapsed() < TIME_OUT, "process {pid} lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The children of a process that have ended and were not waited for.
pub fn zombies_of(parent: u32) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats =
        processes.filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields.next() == Some("Z") && fields.next() == Some(&parent.to_string())
        })
        .count()
}
