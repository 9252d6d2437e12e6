//! A door with everything around it: keys, a policy, a server behind it, a customer in front.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_domain::{ConversationId, CustomerId, Secret};
use countersign_identity::{
    SessionClaims, SigningKey, SigningKeyFile, TokenId, TurnId, VerifyingKeys, generate_key,
    sign_session,
};
use countersign_policy::definition_pin;
use countersign_receipts::{Chain, Checkpoint, LogKeyFile, LogSigner, LogVerifier};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::client::Post;
use crate::server::{self, Server};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Unix seconds.
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// The keys of a stand.
pub struct Keys {
    pub session: SigningKeyFile,
    pub request: SigningKeyFile,
    pub receipt: SigningKeyFile,
}

impl Keys {
    pub fn new() -> Self {
        Self {
            session: generate_key([1; 32], "session"),
            request: generate_key([2; 32], "request"),
            receipt: generate_key([3; 32], "receipt"),
        }
    }

    pub fn request_verifiers(&self) -> VerifyingKeys {
        VerifyingKeys::new(vec![self.request.verifying_key_file().unwrap()]).unwrap()
    }
}

/// A door's process.
pub struct Door {
    child: Child,
    pub address: SocketAddr,
    pub directory: PathBuf,
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A door before a server.
pub struct Stand {
    pub keys: Keys,
    pub door: Door,
    pub server: Server,
}

/// The policy for the real server, with its pins.
pub fn policy() -> String {
    let pin = |name: &str| {
        let tools = server::definitions();
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        definition_pin(&serde_json::to_string(tool).unwrap()).unwrap()
    };
    format!(
        r#"version: 1
id: test
default: deny
servers:
  toy: {{}}
tools:
  echo:
    schema_sha256: "{echo}"
    rate_per_minute: 60
    args:
      text: {{type: string, max_length: 200}}
  request_transfer:
    schema_sha256: "{transfer}"
    acknowledged: creates-a-request-only
    args:
      text: {{type: string, required: true, pattern: "[0-9]+"}}
  send_money:
    schema_sha256: "{send}"
  held_tool:
    schema_sha256: "{held}"
methods:
  prompts/get:
    args:
      name: {{type: string, required: true}}
rules:
  - {{id: hold-held, tool: "held_*", effect: require_approval}}
"#,
        echo = pin("echo"),
        transfer = pin("request_transfer"),
        send = pin("send_money"),
        held = pin("held_tool"),
    )
}

/// A policy without pins that allows `echo`, for servers a test writes itself.
pub fn unpinned_policy() -> String {
    "version: 1\nid: test\ndefault: deny\nrequire_pins: false\nservers: {toy: {}}\ntools:\n  echo:\n    args:\n      text: {type: string}\n"
        .to_owned()
}

/// A fresh folder under the target's own.
pub fn fresh_directory() -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let name = format!("door-{}-{number}", std::process::id());
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// Makes keys for a record.
pub fn keys(directory: &std::path::Path) -> PathBuf {
    let keys = directory.join("keys");
    let (origin, now) = ("door.example/test", "2026-01-01T00:00:00Z");
    countersign_journal::keys::init(&keys, origin, false, now, &[3; 32]).unwrap();
    keys
}

/// The configuration of a door before a server.
pub fn config(
    keys: &Keys,
    policy: &str,
    server: SocketAddr,
    directory: &PathBuf,
) -> serde_json::Value {
    let private =
        |key: &SigningKeyFile| json!({"key_id": key.key_id, "pkcs8_pem": key.pkcs8_pem.expose()});
    json!({
        "listen": {"bind": ["127.0.0.1:0"]},
        "hosts": [],
        "origins": ["http://good.example"],
        "policy_yaml": policy,
        "upstream": {"name": "toy", "url": format!("http://{server}/mcp")},
        "session_keys": [keys.session.verifying_key_file().unwrap()],
        "request_key": private(&keys.request),
        "receipt_key": private(&keys.receipt),
        "log_directory": directory,
        "log_origin": "countersign.example/door",
    })
}

/// Starts a door's process and gives up its output when it does not come up.
pub async fn start_door(mut config: serde_json::Value, directory: PathBuf) -> Result<Door, String> {
    // The door must know its own name before it listens: take a free port, and hand it over.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    config["listen"] = json!({"bind": [format!("127.0.0.1:{port}")]});
    config["hosts"] = json!([format!("127.0.0.1:{port}")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
        .arg("--config-stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(config.to_string().as_bytes()).unwrap();
    drop(input);
    let output = tokio::process::ChildStdout::from_std(child.stdout.take().unwrap()).unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(output);
    let read = reader.read_line(&mut line);
    let _ = tokio::time::timeout(Duration::from_secs(20), read).await;
    if line.is_empty() {
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    // What it logs must not stop it when nobody reads.
    let mut errors = child.stderr.take().unwrap();
    std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = listening["listening"][0].as_str().unwrap().parse().unwrap();
    Ok(Door {
        child,
        address,
        directory,
    })
}

impl Door {
    /// Asks it to stop and waits until it has.
    pub async fn stop(&mut self) {
        let asked = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        assert!(asked.unwrap().success());
        for _ in 0..200 {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the door does not stop");
    }
}

impl Stand {
    /// A door before the real server.
    pub async fn new() -> Self {
        let keys = Keys::new();
        let server = server::real(keys.request_verifiers()).await;
        Self::before(keys, &policy(), server).await
    }

    /// A door with this policy before a server that a test wrote.
    pub async fn scripted<F, A>(policy: &str, answer: F) -> Self
    where
        F: Fn(serde_json::Value) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = axum::response::Response> + Send + 'static,
    {
        let keys = Keys::new();
        let server = server::scripted(keys.request_verifiers(), answer).await;
        Self::before(keys, policy, server).await
    }

    async fn before(keys: Keys, policy: &str, server: Server) -> Self {
        let directory = fresh_directory();
        let config = config(&keys, policy, server.address, &directory);
        let door = start_door(config, directory)
            .await
            .expect("the door starts");
        Self { keys, door, server }
    }

    /// The configuration its door was started with.
    pub fn config(&self, policy: &str) -> serde_json::Value {
        config(
            &self.keys,
            policy,
            self.server.address,
            &self.door.directory,
        )
    }

    /// A session token of a customer.
    pub fn token(&self, customer: u128) -> String {
        self.token_with(|claims| {
            claims.customer = CustomerId::from_uuid(uuid::Uuid::from_u128(customer))
        })
    }

    /// A session token with something changed.
    pub fn token_with(&self, change: impl FnOnce(&mut SessionClaims)) -> String {
        let key = SigningKey::from_file(&self.keys.session).unwrap();
        sign_session(&key, &claims(change)).unwrap()
    }

    /// A POST of the first customer.
    pub fn post(&self) -> Post {
        Post::new(self.door.address, &self.token(1))
    }

    /// The record's lines.
    pub fn lines(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.door.directory.join("decisions.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The record's lines with this event.
    pub fn events(&self, event: &str) -> Vec<serde_json::Value> {
        let mut lines = self.lines();
        lines.retain(|line| line["event"] == event);
        lines
    }

    /// Waits until the record has a line with this event.
    pub async fn wait_for(&self, event: &str) -> serde_json::Value {
        for _ in 0..100 {
            if let Some(line) = self.events(event).pop() {
                return line;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no {event} in {:#?}", self.lines());
    }

    /// The public key of the record.
    pub fn verifier(&self) -> LogVerifier {
        let file = LogKeyFile {
            key_id: self.keys.receipt.key_id.clone(),
            pkcs8_pem: self.keys.receipt.pkcs8_pem.clone(),
        };
        LogSigner::new("countersign.example/door", &file)
            .unwrap()
            .verifier()
    }

    /// The record as a verifier reads it, and its last signed head.
    pub fn audited(&self) -> (Chain, Checkpoint) {
        let read = |name: &str| std::fs::read_to_string(self.door.directory.join(name)).unwrap();
        let mut chain = Chain::new();
        for line in read("decisions.jsonl").lines() {
            chain.push(line.as_bytes()).unwrap();
        }
        let head = Checkpoint::verify(&read("decisions.checkpoint"), &self.verifier()).unwrap();
        (chain, head.checkpoint)
    }
}

/// Claims of the first customer, with something changed.
pub fn claims(change: impl FnOnce(&mut SessionClaims)) -> SessionClaims {
    let mut claims = SessionClaims {
        customer: CustomerId::from_uuid(uuid::Uuid::from_u128(1)),
        conversation: ConversationId::from_uuid(uuid::Uuid::from_u128(2)),
        turn: TurnId::from_random([3; 16]),
        grant_secret: Secret::from_random([4; 32]),
        issued_at: now(),
        expires_at: now() + 100,
        token_id: TokenId::from_random(uuid::Uuid::new_v4().into_bytes()),
    };
    change(&mut claims);
    claims
}
