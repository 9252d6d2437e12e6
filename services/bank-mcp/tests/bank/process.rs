//! The binary as it is started: config over standard input, an address on standard output.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use countersign_domain::Secret;
use countersign_identity::{
    RequestClaims, SigningKey, TokenId, body_digest, generate_key, sign_request,
};
use serde_json::{Value, json};

use crate::{
    bank::Bank,
    door::{Turn, call_body, random},
};

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(config: &Value) -> Process {
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-bank-mcp"))
        .arg("--config-stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A process that refuses its config may be gone before it has read all of it.
    let _ = child
        .stdin
        .take()
        .unwrap()
        .write_all(config.to_string().as_bytes());
    Process(child)
}

/// A bank server as a process, and the key of the door that it believes.
pub struct Served {
    process: Process,
    address: String,
    key: SigningKey,
}

impl Served {
    /// Starts it over the bank's database.
    pub fn start(bank: &Bank) -> Self {
        let file = generate_key(random(), "door-1");
        let config = json!({
            "listen": {"bind": ["127.0.0.1:0"]},
            "hosts": ["127.0.0.1:8483"],
            "origins": [],
            "database_url": bank.url(),
            "request_keys": [file.verifying_key_file().unwrap()],
        });
        let mut process = start(&config);
        let mut line = String::new();
        let mut output = BufReader::new(process.0.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = serde_json::from_str::<Value>(&line).unwrap()["listening"][0]
            .as_str()
            .unwrap()
            .to_owned();
        Self {
            process,
            address,
            key: SigningKey::from_file(&file).unwrap(),
        }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends it at once, as a crash would.
    pub fn crashes(mut self) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
    }

    /// A call as the door forwards it, with a fresh token, or with none.
    pub fn request(&self, turn: &Turn, tool: &str, arguments: &Value, with_token: bool) -> String {
        let body = call_body(tool, arguments);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let claims = RequestClaims {
            customer: turn.customer,
            conversation: turn.conversation,
            grant_secret: Secret::new(turn.secret.expose()),
            issued_at: now,
            token_id: TokenId::from_random(random()),
            method: "POST".to_owned(),
            path: "/mcp".to_owned(),
            body_digest: body_digest(&body),
            record_leaf: random(),
        };
        let token = if with_token {
            format!(
                "Countersign-Request: {}\r\n",
                sign_request(&self.key, &claims).unwrap()
            )
        } else {
            String::new()
        };
        format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8483\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n{token}\
             Content-Length: {}\r\n\r\n{}",
            body.len(),
            String::from_utf8(body).unwrap()
        )
    }
}

/// Sends a request and reads what comes until the other end closes; what an end in the middle leaves may be nothing.
pub fn exchange(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_serves_with_what_it_was_told() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "how much do I have?").await;
    let served = Served::start(&bank);
    let health = "GET /health HTTP/1.1\r\nHost: 127.0.0.1:8483\r\nConnection: close\r\n\r\n";
    assert!(exchange(served.address(), health).starts_with("HTTP/1.1 200"));

    let request = |with_token| served.request(&ada, "list_accounts", &json!({}), with_token);
    assert!(exchange(served.address(), &request(false)).starts_with("HTTP/1.1 401"));
    let with_token = request(true);
    let answer = exchange(served.address(), &with_token);
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("1240.50"),
        "{answer}"
    );
    let again = exchange(served.address(), &with_token);
    assert!(!again.contains("1240.50"), "{again}");
}

#[test]
fn a_config_without_a_key_of_the_door_or_with_a_stray_field_does_not_start() {
    let good = json!({"listen": {"bind": ["127.0.0.1:0"]}, "hosts": [], "database_url": "postgres://x", "request_keys": []});
    let mut stray = good.clone();
    stray["request_key"] = json!("x");
    for config in [good, stray, json!({})] {
        let mut process = start(&config);
        assert!(!process.0.wait().unwrap().success(), "{config}");
    }
}
