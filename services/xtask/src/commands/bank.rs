//! `cargo xtask bank`: a throw-away bank for browser tests, driven by lines on standard input.
//!
//! Each line is one JSON object, `{"id": 1, "do": "open", "as": "ada"}`, and each answer one line,
//! `{"id": 1, "ok": …}` or `{"id": 1, "error": "…"}`. The first line it prints, `{"ready": {…}}`, names the
//! origins. At the end of its input it stops the bank and forgets it.

use anyhow::{Context, bail};
use clap::Args;
use countersign_testkit::{Bank, Service};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::signals;

/// How the bank starts.
#[derive(Args, Debug)]
pub struct BankArguments {
    /// The issuer of the identity provider where people sign in, instead of the demo's addresses
    #[arg(long)]
    provider: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    id: u64,
    #[serde(flatten)]
    act: Act,
}

/// What a test may ask of its bank.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Act {
    /// A one-use address of the panel.
    Open {
        #[serde(rename = "as")]
        customer: String,
    },
    /// A one-use address of the dashboard.
    Operate {
        #[serde(rename = "as")]
        operator: String,
    },
    /// A session token for the door.
    Token {
        #[serde(rename = "as")]
        customer: String,
    },
    /// Ends a process as a crash would; answers once it is back.
    Crash { service: String },
    /// Everything a process has logged.
    Log { service: String },
    /// Moves the bank's clock ahead of the system's.
    Clock { seconds: i64 },
    /// Rows of a query as the superuser, each as an object: what really stands in the tables.
    Query { sql: String },
    /// Runs statements as the superuser: what an outsider or another process would have written.
    Plant { sql: String },
}

/// Starts a bank and answers until the input ends.
///
/// # Errors
/// When the bank does not start or an input line is not of this language.
pub async fn run(arguments: &BankArguments) -> anyhow::Result<()> {
    let bank = match &arguments.provider {
        Some(issuer) => Bank::start_with_provider(issuer).await?,
        None => Bank::start().await?,
    };
    let ready = json!({"ready": {
        "panel": bank.origin(Service::Panel),
        "chat": bank.origin(Service::Intake),
        "door": bank.origin(Service::Door),
        "bank_mcp": bank.origin(Service::BankMcp),
        "agent": bank.origin(Service::Agent),
        "dashboard": bank.origin(Service::Dashboard),
    }});
    println!("{ready}");
    tokio::select! {
        ended = answer_lines(&bank) => ended,
        stopped = signals::asked_to_stop() => Ok(stopped?),
    }
}

async fn answer_lines(bank: &Bank) -> anyhow::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(text) = lines.next_line().await? {
        let line: Line = serde_json::from_str(&text).context("read a line of the input")?;
        let id = line.id;
        match act(bank, line.act).await {
            Ok(value) => println!("{}", json!({"id": id, "ok": value})),
            Err(error) => println!("{}", json!({"id": id, "error": format!("{error:#}")})),
        }
    }
    Ok(())
}

async fn act(bank: &Bank, act: Act) -> anyhow::Result<Value> {
    Ok(match act {
        Act::Open { customer } => {
            let token = bank.login_token(&customer).await?;
            format!("{}/#{}", bank.origin(Service::Panel), token.expose()).into()
        }
        Act::Operate { operator } => {
            let token = bank.operator_token(&operator).await?;
            format!("{}/#{}", bank.origin(Service::Dashboard), token.expose()).into()
        }
        Act::Token { customer } => bank.session_token(&customer).await?.into(),
        Act::Crash { service } => {
            let service = named(&service)?;
            bank.stack().crash_and_wait(service).await?;
            Value::Null
        }
        Act::Log { service } => bank.stack().log(named(&service)?).into(),
        Act::Clock { seconds } => {
            bank.database().set_clock_ahead(seconds).await?;
            Value::Null
        }
        Act::Query { sql } => bank.database().query_json(&sql).await?,
        Act::Plant { sql } => {
            countersign_testkit::server::load(&mut bank.database().admin().await?, &sql).await?;
            Value::Null
        }
    })
}

fn named(name: &str) -> anyhow::Result<Service> {
    match Service::ALL
        .into_iter()
        .find(|service| service.name() == name)
    {
        Some(service) => Ok(service),
        None => bail!("no service is called {name}"),
    }
}
