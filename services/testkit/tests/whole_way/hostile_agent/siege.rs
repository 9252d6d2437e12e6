//! A bank under siege: its agent is the attacker's, in the middle of Ada's turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use countersign_testkit::people::Customer;
use countersign_testkit::stack::programs;
use countersign_testkit::{Bank, Service, checkout};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::{
    place::{Answer, Place},
    tries,
};

/// What must be the same afterwards: money, requests, words and everything a customer has.
const WHAT_COUNTS: [&str; 17] = [
    "customer",
    "account",
    "account_balance",
    "transfer",
    "entry",
    "payee",
    "customer_limit",
    "card",
    "standing_order",
    "dispute",
    "profile",
    "conversation",
    "utterance",
    "pending_action",
    "pending_version",
    "panel_entry",
    "execution",
];

/// A bank whose agent is the attacker's, in the middle of Ada's turn.
pub struct Siege {
    pub bank: Bank,
    pub program: PathBuf,
    pub ada: Customer,
    pub place: Place,
    pub held: Value,
    /// A session of the database, whose process an attacker may want.
    _session: PgConnection,
    pub session_pid: i32,
    pub reply: tokio::task::JoinHandle<anyhow::Result<String>>,
}

impl Siege {
    pub async fn begin() -> anyhow::Result<Self> {
        let program = programs::build_attacker(false)?;
        let bank = Bank::start_with_agent_program(&program).await?;
        let ada = bank.sign_in("Ada").await?;
        let place = Place::of_the_agent(bank.http()?, bank.origin(Service::Agent));
        let reply = ada.sends("Send 20 to Bob");
        let held = place.held().await?;
        let mut session = bank.database().admin().await?;
        let session_pid = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&mut session)
            .await?;
        Ok(Self {
            bank,
            program,
            ada,
            place,
            held,
            _session: session,
            session_pid,
            reply,
        })
    }

    pub fn token(&self) -> &str {
        self.held["turn"]["session_token"]
            .as_str()
            .unwrap_or_default()
    }

    /// A tool called through the door, from the agent's place.
    pub async fn calls(&self, tool: &str, arguments: Value) -> anyhow::Result<Answer> {
        let token = self.token().to_owned();
        self.calls_with(tool, arguments, Some(("countersign-session", token)))
            .await
    }

    pub async fn calls_with(
        &self,
        tool: &str,
        arguments: Value,
        header: Option<(&'static str, String)>,
    ) -> anyhow::Result<Answer> {
        let body = tries::tool_call(tool, arguments);
        let request = tries::request(&self.bank, Service::Door, "POST", "/mcp", header, &body);
        let mut answers = self.place.sends(&[request]).await?;
        answers.pop().context("an answer")
    }

    /// The request Ada asked for, made as an honest agent makes it.
    pub async fn asks_for_what_ada_asked(&self) -> anyhow::Result<Value> {
        let payees = content(&self.calls("list_payees", json!({})).await?)?;
        let bob = payees["payees"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|payee| payee.to_string().contains("Bob"))
            .context("Bob")?["payee"]
            .clone();
        let asked = self
            .calls(
                "request_transfer",
                json!({"payments": [{"payee": bob, "amount": "20.00"}]}),
            )
            .await?;
        ensure!(
            content(&asked)?["status"] == "waiting_for_customer",
            "{}",
            asked.text
        );
        self.ada.open_card().await
    }

    /// The digests of this bank.
    pub async fn what_counts(&self) -> anyhow::Result<BTreeMap<&'static str, String>> {
        what_counts(&self.bank).await
    }

    pub fn addresses(&self, service: Service) -> Vec<String> {
        let port = self.bank.stack().port(service);
        vec![format!("127.0.0.1:{port}"), format!("[::1]:{port}")]
    }

    /// Files and folders that are not the agent's.
    pub async fn private_paths(&self) -> anyhow::Result<Vec<String>> {
        let folder = self.bank.folder();
        let mut paths: Vec<String> = ["keys", "logs", "door-log", "panel-state"]
            .iter()
            .map(|name| folder.join(name))
            .chain(
                ["session", "request", "receipt", "notary"]
                    .map(|name| folder.join(format!("keys/{name}.json"))),
            )
            .chain(["panel", "agent", "door"].map(|name| folder.join(format!("logs/{name}.log"))))
            .chain([folder.to_path_buf()])
            .map(|path| path.display().to_string())
            .collect();
        for path in &paths {
            ensure!(std::path::Path::new(path).exists(), "{path} is not there");
        }
        let state = checkout::root().join(".countersign");
        if state.exists() {
            paths.push(state.display().to_string());
        }
        paths.push(self.data_folder().await?);
        Ok(paths)
    }

    pub async fn data_folder(&self) -> anyhow::Result<String> {
        let mut admin = self.bank.database().admin().await?;
        Ok(sqlx::query_scalar("SHOW data_directory")
            .fetch_one(&mut admin)
            .await?)
    }

    /// The processes of the bank, the database's among them, and the one that started them all.
    pub fn pids(&self) -> anyhow::Result<Vec<i32>> {
        let mut pids = vec![i32::try_from(std::process::id())?, self.session_pid];
        for service in [
            Service::Panel,
            Service::Intake,
            Service::Door,
            Service::BankMcp,
        ] {
            let pid = self.bank.stack().process_id(service).context("it runs")?;
            pids.push(i32::try_from(pid)?);
        }
        Ok(pids)
    }

    /// The folder of the database's socket, from a login's address; none for a server with a port.
    pub fn database_socket(&self) -> Option<String> {
        let url = self.bank.database().url("panel");
        let (_, folder) = url.split_once("?host=")?;
        Some(format!("{folder}/.s.PGSQL.5432"))
    }
}

/// A digest of every row that an attack must leave alone.
pub async fn what_counts(bank: &Bank) -> anyhow::Result<BTreeMap<&'static str, String>> {
    let mut found = BTreeMap::new();
    for table in WHAT_COUNTS {
        let sql = format!(
            "SELECT count(*) AS rows, md5(string_agg(t::text, '|' ORDER BY t::text)) AS digest FROM bank.{table} t"
        );
        found.insert(table, bank.database().query_json(&sql).await?.to_string());
    }
    Ok(found)
}

/// A tool's structured content.
pub fn content(answer: &Answer) -> anyhow::Result<Value> {
    let (_, body) = answer.text.split_once("\r\n\r\n").context("a body")?;
    let body: Value = serde_json::from_str(body)
        .or_else(|_| serde_json::from_str(body.trim_start_matches(|c| c != '{')))
        .with_context(|| answer.text.clone())?;
    Ok(body["result"]["structuredContent"].clone())
}

/// Whether a tool ran and did as it was asked.
pub fn ran(answer: &Answer) -> bool {
    answer.status == 200
        && answer.text.contains("structuredContent")
        && !answer.text.contains("\"isError\":true")
}
