//! A real database, the real chat origin, and the people in front of it.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::fd::AsRawFd as _,
    path::Path,
    process::{Child, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use countersign_domain::Secret;
use countersign_identity::{SessionClaims, VerifyingKeys, generate_key, verify_session};
use countersign_testkit::{Database, spawn, spawn::Spawn};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use crate::fake_agent::FakeAgent;

/// The origin of a panel that is not there: these tests play its part.
pub const PANEL_ORIGIN: &str = "http://localhost:9";

/// A running chat origin.
pub struct Bank {
    pub database: Arc<Database>,
    pub agent: FakeAgent,
    pub origin: String,
    pub http: reqwest::Client,
    child: Mutex<Child>,
    keys: VerifyingKeys,
}

impl Drop for Bank {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Bank {
    /// Starts it over a fresh database, with the fake agent behind it.
    pub async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let database = Arc::new(Database::fresh().await.expect("database"));
        Self::over(database, FakeAgent::start().await, &json!({}))
    }

    /// Starts another process over the same database, as a second replica or after a crash.
    pub fn replica(&self) -> Self {
        Self::over(self.database.clone(), self.agent.clone(), &json!({}))
    }

    /// Starts it with more in its config.
    pub fn over(database: Arc<Database>, agent: FakeAgent, more: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let origin = format!("http://{}", listener.local_addr().expect("address"));
        let key = generate_key([7; 32], "intake-test");
        let keys =
            VerifyingKeys::new(vec![key.verifying_key_file().expect("public key")]).expect("keys");
        let mut config = json!({
            "listen": {"inherited_fds": [listener.as_raw_fd()]},
            "chat_origin": origin,
            "panel_origin": PANEL_ORIGIN,
            "database_url": database.url("intake"),
            "agent_url": agent.url,
            "session_key": {"key_id": key.key_id, "pkcs8_pem": key.pkcs8_pem.expose()},
        });
        for (name, value) in more.as_object().expect("an object") {
            config[name] = value.clone();
        }
        let mut spawn = Spawn::new(Path::new(env!("CARGO_BIN_EXE_countersign-intake")))
            .inherit(&listener)
            .input(config.to_string().into_bytes());
        spawn
            .command()
            .arg("--config-stdin")
            .env("RUST_LOG", "info")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = spawn.start().expect("start");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut first)
            .expect("the listening line");
        assert!(first.contains("listening"), "{first}");
        let http = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("client");
        Self {
            database,
            agent,
            origin,
            http,
            child: Mutex::new(child),
            keys,
        }
    }

    /// A customer with a signed-in panel.
    pub async fn customer(&self, name: &str) -> Customer {
        let customer = Customer {
            id: Uuid::now_v7(),
            panel_secret: Secret::from_random(unique(name)),
        };
        let mut admin = self.admin().await;
        // A letter and a digit in turn: the bank takes no code that could be a word or a number.
        let canary: String = customer.id.as_bytes()[8..]
            .iter()
            .flat_map(|byte| {
                let letter = b"BCDFGHJKMNPQRSTV"[usize::from(byte >> 4)];
                [char::from(letter), char::from(b'2' + (byte & 7))]
            })
            .collect();
        sqlx::query("INSERT INTO bank.customer (customer_id, display_name, canary_code) VALUES ($1, $2, $3)")
            .bind(customer.id)
            .bind(name)
            .bind(canary)
            .execute(&mut admin)
            .await
            .expect("customer");
        sqlx::query(
            "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, expires_at)
             VALUES (gen_random_uuid(), $1, $2, 'panel', bank.bank_clock() + interval '1 hour')",
        )
        .bind(customer.panel_secret.hash().as_slice())
        .bind(customer.id)
        .execute(&mut admin)
        .await
        .expect("panel session");
        customer
    }

    /// Logs in as the superuser, who may look at anything.
    pub async fn admin(&self) -> PgConnection {
        self.database.admin().await.expect("admin")
    }

    /// One number of the whole database.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql)
            .fetch_one(&mut self.admin().await)
            .await
            .expect("count")
    }

    /// One text of the whole database.
    pub async fn text(&self, sql: &'static str) -> String {
        sqlx::query_scalar(sql)
            .fetch_one(&mut self.admin().await)
            .await
            .expect("text")
    }

    /// A POST as the chat page makes it.
    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.http
            .post(format!("{}{path}", self.origin))
            .header("origin", &self.origin)
            .json(body)
    }

    /// The page opens: the panel makes a code, the page redeems it.
    pub async fn open_chat(&self, customer: &Customer) -> Chat<'_> {
        let code = self.code(customer).await;
        let response = self.redeem(&code).await;
        assert_eq!(response.status(), 200);
        let opened: Value = response.json().await.expect("json");
        Chat {
            bank: self,
            bearer: opened["bearer"].as_str().expect("bearer").to_owned(),
            conversation: opened["conversation"]
                .as_str()
                .expect("conversation")
                .to_owned(),
            opened,
        }
    }

    /// A fresh code, made as the panel makes it.
    pub async fn code(&self, customer: &Customer) -> String {
        let code = Secret::from_random(
            *Uuid::now_v7()
                .as_bytes()
                .repeat(2)
                .first_chunk()
                .expect("32"),
        );
        let mut panel = self.as_role("panel", customer.panel_secret.expose()).await;
        sqlx::query(
            "INSERT INTO bank.chat_code (customer_id, code_hash, panel_grant_id)
             VALUES (bank.current_customer(), $1, bank.current_grant())",
        )
        .bind(code.hash().as_slice())
        .execute(&mut panel)
        .await
        .expect("code");
        code.expose().to_owned()
    }

    /// Redeems a code.
    pub async fn redeem(&self, code: &str) -> Response {
        self.post("/redeem", &json!({"code": code}))
            .send()
            .await
            .expect("answer")
    }

    /// A connection of a login role that presents a secret in every transaction.
    pub async fn as_role(&self, role: &str, secret: &str) -> PgConnection {
        let mut connection = self.database.login(role).await.expect("login");
        sqlx::query("SELECT set_config('countersign.session', $1, false)")
            .bind(secret)
            .execute(&mut connection)
            .await
            .expect("present");
        connection
    }

    /// Whether the bank's tools can still act with a turn's secret.
    pub async fn bank_accepts(&self, secret: &Secret) -> bool {
        let mut bank = self.as_role("bank_mcp", secret.expose()).await;
        let found: Option<Uuid> = sqlx::query_scalar("SELECT bank.current_customer()")
            .fetch_one(&mut bank)
            .await
            .expect("look");
        let _ = bank.close().await;
        found.is_some()
    }

    /// A tool of the bank's was called in the newest turn, as the bank server writes it down.
    pub async fn looks_at(&self, tool: &str) {
        sqlx::query(
            "INSERT INTO bank.tool_call (customer_id, jti, conversation_id, grant_id, tool, outcome, record_leaf)
             SELECT customer_id, gen_random_uuid()::text, conversation_id, grant_id, $1, 'answered', $2
               FROM bank.reply ORDER BY started_at DESC LIMIT 1",
        )
        .bind(tool)
        .bind([10_u8; 32].as_slice())
        .execute(&mut self.admin().await)
        .await
        .expect("on record");
    }

    /// The claims of the token of the newest turn, verified as the door would.
    pub fn claims_of_last_turn(&self) -> SessionClaims {
        let turns = self.agent.turns();
        let token = turns.last().expect("a turn")["session_token"]
            .as_str()
            .expect("token")
            .to_owned();
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("time")
            .as_secs();
        verify_session(&self.keys, &token, now).expect("the door would take it")
    }

    /// Ends the process as a crash does.
    pub fn kill(&self) {
        if let Ok(mut child) = self.child.lock() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Ends the process as a supervisor does.
    pub fn stop(&self) {
        spawn::stop(
            &mut self.child.lock().expect("child"),
            15,
            Duration::from_secs(10),
        );
    }
}

fn unique(name: &str) -> [u8; 32] {
    Secret::new(format!("{name}{}", Uuid::now_v7())).hash()
}

/// Somebody at the panel.
pub struct Customer {
    pub id: Uuid,
    pub panel_secret: Secret,
}

/// An open chat page.
#[derive(Clone)]
pub struct Chat<'a> {
    pub bank: &'a Bank,
    pub bearer: String,
    pub conversation: String,
    pub opened: Value,
}

impl Chat<'_> {
    /// A typed message under a fresh id.
    pub fn message(&self, text: &str) -> Value {
        json!({"client_message_id": Uuid::now_v7(), "conversation": self.conversation, "text": text, "spans": []})
    }

    /// Sends a body to `/messages`.
    pub async fn send(&self, body: &Value) -> Response {
        self.bank
            .post("/messages", body)
            .bearer_auth(&self.bearer)
            .send()
            .await
            .expect("answer")
    }

    /// Types a message and reads the whole reply.
    pub async fn say(&self, text: &str) -> Vec<Value> {
        let response = self.send(&self.message(text)).await;
        assert_eq!(response.status(), StatusCode::OK);
        lines(response).await
    }
}

/// All lines of an answer.
pub async fn lines(response: Response) -> Vec<Value> {
    let text = response.text().await.expect("whole answer");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON line"))
        .collect()
}

/// The code of a problem.
pub async fn problem(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    assert_eq!(
        response.headers()["content-type"],
        "application/problem+json"
    );
    let body: Value = response.json().await.expect("problem");
    let kind = body["type"].as_str().expect("type");
    (
        status,
        kind.trim_start_matches("urn:countersign:problem:")
            .to_owned(),
    )
}
