//! The agent's own program, started as its supervisor starts it.

use std::{net::SocketAddr, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

use crate::fixture::TOKEN;

/// A running agent. It ends with this value.
pub struct AgentProcess {
    pub address: SocketAddr,
    child: Child,
}

impl AgentProcess {
    /// Starts one that speaks to a door.
    pub async fn start(door: SocketAddr) -> Self {
        let config = json!({
            "listen": {"bind": ["127.0.0.1:0"]},
            "door_url": format!("http://{door}/mcp"),
            "model": {"kind": "offline"},
        });
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-agent"))
            .arg("--config-stdin")
            .env_remove("RUST_LOG")
            // A proxy of the environment would carry every token past somebody.
            .env("http_proxy", "http://127.0.0.1:9")
            .env("HTTP_PROXY", "http://127.0.0.1:9")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin
            .write_all(config.to_string().as_bytes())
            .await
            .unwrap();
        drop(stdin);
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).await.unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = listening["listening"][0].as_str().unwrap().parse().unwrap();
        Self { address, child }
    }

    /// Ends the program and hands over everything it logged.
    pub async fn into_log(mut self) -> String {
        self.child.start_kill().unwrap();
        let output = self.child.wait_with_output().await.unwrap();
        String::from_utf8(output.stderr).unwrap()
    }

    /// Sends a turn with the right token.
    pub async fn turn(&self, history: Value, message: &str) -> reqwest::Response {
        self.post(&turn_body(TOKEN, history, message)).await
    }

    /// Sends anything as a turn.
    pub async fn post(&self, body: &Value) -> reqwest::Response {
        client()
            .post(format!("http://{}/turn", self.address))
            .json(body)
            .send()
            .await
            .unwrap()
    }
}

/// A client of the loopback, the way intake has one.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// The body of a turn.
pub fn turn_body(token: &str, history: Value, message: &str) -> Value {
    json!({
        "turn_id": "0123456789abcdef0123456789abcdef", "session_token": token, "locale": "en",
        "history": history, "message": message,
    })
}

/// The lines of an answer.
pub fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The reply's words.
pub fn reply(lines: &[Value]) -> String {
    lines
        .iter()
        .filter(|line| line["type"] == "text")
        .filter_map(|line| line["text"].as_str())
        .collect()
}
