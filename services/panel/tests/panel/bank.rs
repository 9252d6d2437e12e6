//! A real database and the real panel.

mod visitor;

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::Mutex,
};

use countersign_domain::Secret;
use countersign_testkit::{Database, spawn::Spawn};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

pub use visitor::{Asked, Visitor};

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
    state: PathBuf,
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.state);
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(self.config["state_folder"].as_str().unwrap_or_default());
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
        bank.plant(
            "UPDATE bank.setting SET passkey_login_seconds = DEFAULT, passkey_new_seconds = DEFAULT",
        )
        .await;
        bank
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
            "state_folder": state_folder(),
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

    /// The folder in which the panel keeps what it remembers.
    pub fn state(&self) -> &Path {
        Path::new(self.config["state_folder"].as_str().expect("a folder"))
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
        let state = state_folder();
        config["state_folder"] = json!(state);
        Replica {
            state,
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

    /// Puts every limit far away, for a test that pays many times.
    pub async fn moves_limits_away(&self) {
        self.plant(
            "UPDATE bank.customer_limit SET per_transfer_minor_units = 9999999, per_day_minor_units = 9999999,
               pending_total_minor_units = 9999999, first_payment_minor_units = 9999999",
        )
        .await;
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

    /// How many requests ran, everybody's.
    pub async fn executions(&self) -> i64 {
        self.count("SELECT count(*) FROM bank.execution").await
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

/// A folder of one panel alone, made fresh.
pub fn state_folder() -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("countersign-panel-{}", Uuid::now_v7().simple()));
    std::fs::create_dir(&folder).expect("a folder");
    folder
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

/// Connections of one login.
pub async fn pool(bank: &Bank, role: &str, connections: u32) -> sqlx::PgPool {
    sqlx::postgres::PgPoolOptions::new()
        .max_connections(connections)
        .connect(&bank.database.url(role))
        .await
        .expect("log in")
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
