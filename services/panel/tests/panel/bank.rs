//! A real database, the real panel, and the people in front of it. What the model side would ask for is planted.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::fd::AsRawFd as _,
    path::Path,
    process::{Child, Stdio},
    sync::Mutex,
};

use countersign_domain::Secret;
use countersign_soft_passkey::{self as soft_passkey, SoftPasskey};
use countersign_testkit::{Database, spawn::Spawn};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

/// The origin of a chat that is not there.
pub const CHAT_ORIGIN: &str = "http://127.0.0.1:9";
/// A private key of the log, for these tests alone: the 32 bytes are all 9.
pub const LOG_KEY_PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ\n-----END PRIVATE KEY-----\n";
/// The log's name.
pub const LOG_ORIGIN: &str = "bank.example/log";

/// A running panel.
pub struct Bank {
    pub database: Database,
    pub origin: String,
    pub http: reqwest::Client,
    child: Mutex<Child>,
    config: Value,
    /// Kept open, so that the address stays when the process goes.
    listener: TcpListener,
}

/// Another panel of the same bank.
pub struct Replica {
    pub origin: String,
    pub http: reqwest::Client,
    child: Child,
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Bank {
    /// Starts the panel of the demo, whose picker offers Ada and Kabir.
    pub async fn start() -> Self {
        Self::with(|config, bank| {
            config["demo"] = json!({"customers": [
                {"id": format!("cus_{}", bank[0].simple()), "name": "Ada"},
                {"id": format!("cus_{}", bank[1].simple()), "name": "Kabir"},
            ]});
        })
        .await
    }

    /// Starts the panel of a real bank, without a picker.
    pub async fn without_demo() -> Self {
        Self::with(|_, _| ()).await
    }

    /// The same, with the bank's own settings for passkeys and not the demo's.
    pub async fn careful() -> Self {
        let bank = Self::without_demo().await;
        bank.runs(
            "UPDATE bank.setting SET passkey_login_seconds = DEFAULT, passkey_new_seconds = DEFAULT",
        )
        .await;
        bank
    }

    /// A statement as the superuser.
    pub async fn runs(&self, sql: &'static str) {
        sqlx::query(sql)
            .execute(&mut self.admin().await)
            .await
            .expect("statement");
    }

    /// Starts a panel whose config is changed first.
    pub async fn with(change: impl FnOnce(&mut Value, [Uuid; 2])) -> Self {
        Self::over(Database::demo().await.expect("database"), change).await
    }

    /// The same over a given database.
    pub async fn over(database: Database, change: impl FnOnce(&mut Value, [Uuid; 2])) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let port = listener.local_addr().expect("address").port();
        let origin = format!("http://localhost:{port}");
        let mut config = json!({
            "listen": {"inherited_fds": [listener.as_raw_fd()]},
            "panel_origin": origin,
            "chat_origin": CHAT_ORIGIN,
            "database_url": database.url("panel"),
            "poster_database_url": database.url("poster"),
            "sweeper_database_url": database.url("sweeper"),
            "releaser_database_url": database.url("releaser"),
            "relay_database_url": database.url("relay"),
            "notices": {},
            "checker_database_url": database.url("checker"),
            "name_check": null,
            "bank_phone": "+00 000 0100",
            "notary_database_url": database.url("notary"),
            "notary_key": {"key_id": "log-test", "pkcs8_pem": LOG_KEY_PEM},
            "log_origin": LOG_ORIGIN,
            "demo": null,
        });
        let mut admin = database.admin().await.expect("admin");
        let ids = [
            id_of(&mut admin, "Ada").await,
            id_of(&mut admin, "Kabir").await,
        ];
        change(&mut config, ids);
        let child = start(&listener, &config);
        let http = client(port);
        Self {
            database,
            origin,
            http,
            child: Mutex::new(child),
            config,
            listener,
        }
    }

    /// Ends the panel at once, as a crash would.
    pub fn crashes(&self) {
        let mut child = self.child.lock().expect("the panel");
        child.kill().expect("kill");
        child.wait().expect("wait");
    }

    /// Starts the panel again where it was.
    pub fn comes_back(&self) {
        *self.child.lock().expect("the panel") = start(&self.listener, &self.config);
    }

    /// A second panel over the same database, with loops of its own.
    pub async fn replica(&self) -> Replica {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let port = listener.local_addr().expect("address").port();
        let origin = format!("http://localhost:{port}");
        let mut config = self.config.clone();
        config["listen"] = json!({"inherited_fds": [listener.as_raw_fd()]});
        config["panel_origin"] = json!(origin);
        Replica {
            child: start(&listener, &config),
            http: client(port),
            origin,
        }
    }

    /// A statement of the superuser.
    pub async fn plant(&self, sql: &str) {
        let statement = sqlx::AssertSqlSafe(sql.to_owned());
        sqlx::query(statement)
            .execute(&mut self.admin().await)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Statements of the superuser, with the triggers of the database out of the way.
    pub async fn plant_past_guards(&self, sql: &str) {
        let statements = format!("SET LOCAL session_replication_role = replica; {sql}");
        let mut admin = self.admin().await;
        let mut transaction = sqlx::Connection::begin(&mut admin).await.expect("begin");
        sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
            .execute(&mut *transaction)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        transaction.commit().await.expect("commit");
    }

    /// Asks until a number of the whole database is `wanted`, some seconds long.
    pub async fn waits_for(&self, sql: &'static str, wanted: i64) {
        for _ in 0..100 {
            if self.count(sql).await == wanted {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        assert_eq!(self.count(sql).await, wanted, "{sql}");
    }

    /// Logs in as the superuser, who may plant and look at anything.
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

    /// A login token as `up` prints it.
    pub async fn token(&self, name: &str) -> Secret {
        let token = Secret::new(hex::encode(Secret::new(Uuid::now_v7().to_string()).hash()));
        sqlx::query(
            "INSERT INTO bank.login_token (token_hash, customer_id, expires_at)
             SELECT $1, customer_id, bank.bank_clock() + interval '1 minute' FROM bank.customer WHERE display_name = $2",
        )
        .bind(token.hash().as_slice())
        .bind(name)
        .execute(&mut self.admin().await)
        .await
        .expect("token");
        token
    }

    /// `POST /login` as the page makes it.
    pub async fn log_in(&self, token: &Secret) -> Response {
        let body = json!({"token": token.expose()});
        self.post("/login", &body).send().await.expect("answer")
    }

    /// Somebody in front of a signed-in panel.
    pub async fn sign_in(&self, name: &str) -> Visitor<'_> {
        let answer = self.log_in(&self.token(name).await).await;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        Visitor {
            bank: self,
            cookie: cookie_of(&answer),
            name: name.to_owned(),
        }
    }

    /// A POST as this origin's page makes it, without a cookie.
    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.http
            .post(format!("{}{path}", self.origin))
            .header("origin", &self.origin)
            .header("sec-fetch-site", "same-origin")
            .json(body)
    }

    /// A GET without a cookie.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.origin))
    }
}

/// Starts a panel that listens on a socket it inherits.
fn start(listener: &TcpListener, config: &Value) -> Child {
    let mut spawn = Spawn::new(Path::new(env!("CARGO_BIN_EXE_countersign-panel")))
        .inherit(listener)
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
    child
}

/// A browser without a memory, for the panel at a port.
fn client(port: u16) -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .resolve("localhost", ([127, 0, 0, 1], port).into())
        .build()
        .expect("client")
}

async fn id_of(admin: &mut PgConnection, name: &str) -> Uuid {
    sqlx::query_scalar("SELECT customer_id FROM bank.customer WHERE display_name = $1")
        .bind(name)
        .fetch_one(admin)
        .await
        .expect("customer")
}

/// `name=value` of the one cookie an answer sets.
pub fn cookie_of(answer: &Response) -> String {
    let line = answer.headers()["set-cookie"].to_str().expect("text");
    line.split(';').next().expect("a pair").to_owned()
}

/// A signed-in browser.
#[derive(Clone)]
pub struct Visitor<'a> {
    pub bank: &'a Bank,
    pub cookie: String,
    pub name: String,
}

/// Connections of one login.
pub async fn pool(bank: &Bank, role: &str, connections: u32) -> sqlx::PgPool {
    sqlx::postgres::PgPoolOptions::new()
        .max_connections(connections)
        .connect(&bank.database.url(role))
        .await
        .expect("log in")
}

impl Visitor<'_> {
    /// The secret in the browser's cookie.
    pub fn secret(&self) -> Secret {
        let (_, value) = self.cookie.split_once('=').expect("a pair");
        Secret::new(value.to_owned())
    }

    pub async fn get(&self, path: &str) -> Response {
        self.bank
            .get(path)
            .header("cookie", &self.cookie)
            .send()
            .await
            .expect("answer")
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.bank
            .post(path, body)
            .header("cookie", &self.cookie)
            .send()
            .await
            .expect("answer")
    }

    pub async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().await.expect("text")
    }

    /// Types a message into the chat: recorded as the chat origin would.
    pub async fn writes(&self, text: &str) {
        let mut admin = self.bank.admin().await;
        for statement in [
            "INSERT INTO bank.conversation (customer_id, conversation_id)
             SELECT customer_id, customer_id FROM bank.customer WHERE display_name = $1 AND $2 <> '' ON CONFLICT DO NOTHING",
            "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
             SELECT customer_id, customer_id, gen_random_uuid(), gen_random_uuid(), $2 FROM bank.customer WHERE display_name = $1",
        ] {
            sqlx::query(statement)
                .bind(&self.name)
                .bind(text)
                .execute(&mut admin)
                .await
                .expect("message");
        }
    }

    /// What the model side asks for after it: a transfer in minor units of the default account, parts left open.
    pub async fn is_asked(&self, payee: Option<&str>, amount: Option<i64>) -> Asked {
        self.supersedes(None, payee, amount).await
    }

    /// The same, in place of an older request.
    pub async fn supersedes(
        &self,
        older: Option<&Asked>,
        payee: Option<&str>,
        amount: Option<i64>,
    ) -> Asked {
        let id = Uuid::now_v7();
        let mut admin = self.bank.admin().await;
        let mut transaction = sqlx::Connection::begin(&mut admin).await.expect("begin");
        if let Some(older) = older {
            sqlx::query("UPDATE bank.pending_action SET state = 'superseded', superseded_by = $2 WHERE action_id = $1")
                .bind(older.id)
                .bind(id)
                .execute(&mut *transaction)
                .await
                .expect("supersede");
        }
        for statement in [
            "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
             SELECT customer_id, $2, customer_id, 'transfer', 'transfer',
                    (SELECT max(sequence) FROM bank.utterance u WHERE u.customer_id = c.customer_id)
               FROM bank.customer c WHERE display_name = $1 AND ($3::text IS NULL OR true) AND ($4::bigint IS NULL OR true)",
            "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
             SELECT a.customer_id, $2, 1, a.currency, a.account_id, 'rules/1', 'provenance/2'
               FROM bank.account a JOIN bank.customer c USING (customer_id)
              WHERE c.display_name = $1 AND a.is_default AND ($3::text IS NULL OR true) AND ($4::bigint IS NULL OR true)",
            "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
             SELECT customer_id, $2, 1, 1, (SELECT payee_id FROM bank.payee p WHERE p.customer_id = c.customer_id AND p.name = $3), $4
               FROM bank.customer c WHERE display_name = $1",
        ] {
            sqlx::query(statement)
                .bind(&self.name)
                .bind(id)
                .bind(payee)
                .bind(amount)
                .execute(&mut *transaction)
                .await
                .expect("request");
        }
        transaction.commit().await.expect("commit");
        Asked { id }
    }

    /// The card of a request as the page receives it.
    pub async fn card(&self, asked: &Asked) -> Value {
        let answer = self.get("/api/cards").await;
        assert_eq!(answer.status(), StatusCode::OK);
        let cards: Value = answer.json().await.expect("json");
        let wanted = asked.text();
        cards["cards"]
            .as_array()
            .expect("cards")
            .iter()
            .find(|card| card["action"] == wanted.as_str())
            .unwrap_or_else(|| panic!("no card for {wanted} in {cards}"))
            .clone()
    }

    /// Presses the button of a card: both steps, as the page makes them.
    pub async fn presses(&self, card: &Value, note: &str) -> Response {
        let passkey = SoftPasskey::new(1);
        if card["step_up"] == "not_enrolled" {
            assert_eq!(self.enrols(&passkey).await.status(), 204);
        }
        let prepared = self.step("prepare", card, note).await;
        if prepared.status() != StatusCode::OK {
            return prepared;
        }
        let prepared: Value = prepared.json().await.expect("prepared");
        if prepared["step_up"].is_null() {
            return self.step("confirm", card, note).await;
        }
        let asked = soft_passkey::challenge(&prepared["step_up"]["options"]);
        let answer = passkey.get(&self.bank.origin, &asked);
        self.agrees(card, note, &answer).await
    }

    /// The second step of a press, with what a passkey answered.
    pub async fn agrees(&self, card: &Value, note: &str, assertion: &Value) -> Response {
        let action = card["action"].as_str().expect("action");
        let body = json!({
            "version": card["version"], "confirm_hash": card["confirm_hash"],
            "nonce": card["nonce"], "note": note, "assertion": assertion,
        });
        self.post(&format!("/api/actions/{action}/confirm"), &body)
            .await
    }

    /// Sets up a passkey, with the leave of an older one where there is one.
    pub async fn enrols_with(
        &self,
        passkey: &SoftPasskey,
        older: Option<&SoftPasskey>,
    ) -> Response {
        let begun = self.post("/api/passkeys/enrol", &json!({})).await;
        if begun.status() != StatusCode::OK {
            return begun;
        }
        let begun: Value = begun.json().await.expect("options");
        let made = passkey.create(
            &self.bank.origin,
            &soft_passkey::challenge(&begun["creation"]),
        );
        let leave = older.map(|older| {
            let answer = older.get(&self.bank.origin, &soft_passkey::challenge(&begun["leave"]));
            soft_passkey::answered(&begun["leave"], &answer)
        });
        let body = json!({
            "name": "Phone", "leave": leave,
            "passkey": soft_passkey::answered(&begun["creation"], &made),
        });
        self.post("/api/passkeys", &body).await
    }

    /// Sets up a first passkey.
    pub async fn enrols(&self, passkey: &SoftPasskey) -> Response {
        self.enrols_with(passkey, None).await
    }

    /// One step of a press.
    pub async fn step(&self, step: &str, card: &Value, note: &str) -> Response {
        let action = card["action"].as_str().expect("action");
        let body = json!({
            "version": card["version"], "confirm_hash": card["confirm_hash"],
            "nonce": card["nonce"], "note": note,
        });
        self.post(&format!("/api/actions/{action}/{step}"), &body)
            .await
    }

    /// What stands on the default account, in minor units.
    pub async fn balance(&self) -> i64 {
        sqlx::query_scalar(
            "SELECT balance_minor_units FROM bank.account_balance b JOIN bank.account a USING (customer_id, account_id)
               JOIN bank.customer c USING (customer_id) WHERE c.display_name = $1 AND a.is_default",
        )
        .bind(&self.name)
        .fetch_one(&mut self.bank.admin().await)
        .await
        .expect("balance")
    }
}

/// A planted request.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub id: Uuid,
}

impl Asked {
    pub fn text(&self) -> String {
        format!("act_{}", self.id.simple())
    }
}

/// Status and code of a problem, after checking that it is one.
pub async fn problem(answer: Response) -> (u16, String, Value) {
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let body: Value = answer.json().await.expect("problem");
    (
        status,
        body["code"].as_str().expect("code").to_owned(),
        body,
    )
}
