//! A bank with one customer's turn open, and both ways to its tools: through the door, and directly with a
//! request token as the door would sign it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use countersign_identity::{
    RequestClaims, SessionClaims, SigningKey, TokenId, VerifyingKeys, body_digest, sign_request,
    verify_session,
};
use countersign_testkit::{
    Bank, Service,
    people::{CaptiveAgent, Customer, Turn},
    secrets::random_bytes,
};
use serde_json::{Value, json};

use crate::{answer::Answer, raw::Request};

/// The revision without sessions.
pub const STATELESS: &str = "2026-07-28";

/// How a message gets to the bank's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As an agent sends it.
    Door,
    /// As the door sends it.
    Direct,
}

impl Way {
    pub const BOTH: [Self; 2] = [Self::Door, Self::Direct];

    /// Who answers.
    pub const fn service(self) -> Service {
        match self {
            Self::Door => Service::Door,
            Self::Direct => Service::BankMcp,
        }
    }
}

/// What the bank holds of requests and money.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Counts {
    actions: i64,
    versions: i64,
    panel_entries: i64,
    entries: i64,
    transfers: i64,
    executions: i64,
    utterances: i64,
    minor_units: i64,
    /// Grows with every message that passes the gate; the door asks for a list now and then.
    pub used_requests: i64,
}

impl Counts {
    /// The same, without what a message that got to a tool leaves behind by design.
    pub fn without_used_requests(mut self) -> Self {
        self.used_requests = 0;
        self
    }
}

/// The bank, Ada's open turn after "Send 20 to Bob", and her payee.
pub struct Site {
    pub bank: Bank,
    pub agent: CaptiveAgent,
    pub ada: Customer,
    pub turn: Turn,
    pub bob: String,
    /// Ada's reply, which comes when the turn ends.
    _reply: tokio::task::JoinHandle<anyhow::Result<String>>,
}

/// What Ada has typed.
pub const TYPED: &str = "Send 20 to Bob";

impl Site {
    pub async fn begin() -> anyhow::Result<Self> {
        let agent = CaptiveAgent::listen().await?;
        let bank = Bank::start_with_far_caps(&agent).await?;
        let ada = bank.sign_in("Ada").await?;
        let reply = ada.sends(TYPED);
        let turn = agent.turn(TYPED).await?;
        let mut site = Self {
            bank,
            agent,
            ada,
            turn,
            bob: String::new(),
            _reply: reply,
        };
        let payees = site.call(Way::Door, "list_payees", "{}").await?.content();
        site.bob = payees["payees"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|payee| payee.to_string().contains("Bob"))
            .and_then(|payee| payee["payee"].as_str())
            .with_context(|| format!("no Bob among {payees}"))?
            .to_owned();
        Ok(site)
    }

    /// The port of a service.
    pub fn port(&self, service: Service) -> u16 {
        self.bank.stack().port(service)
    }

    /// The one name a service answers to.
    pub fn host(&self, service: Service) -> String {
        let origin = self.bank.origin(service);
        origin
            .split_once("://")
            .map_or(origin.clone(), |(_, host)| host.to_owned())
    }

    /// What the session token of Ada's turn says.
    pub fn session(&self) -> anyhow::Result<SessionClaims> {
        let file = self
            .bank
            .stack()
            .keys()
            .session
            .verifying_key_file()
            .context("the session key")?;
        let keys = VerifyingKeys::new(vec![file])?;
        Ok(verify_session(&keys, self.turn.session_token(), now()?)?)
    }

    /// The claims of a good request token for these bytes.
    pub fn request_claims(&self, body: &[u8]) -> anyhow::Result<RequestClaims> {
        let session = self.session()?;
        Ok(RequestClaims {
            customer: session.customer,
            conversation: session.conversation,
            grant_secret: session.grant_secret,
            issued_at: now()?,
            token_id: TokenId::from_random(random_bytes()?),
            method: "POST".to_owned(),
            path: "/mcp".to_owned(),
            body_digest: body_digest(body),
            record_leaf: random_bytes()?,
        })
    }

    /// Signs claims as the door does.
    pub fn signed(&self, claims: &RequestClaims) -> anyhow::Result<String> {
        let key = SigningKey::from_file(&self.bank.stack().keys().request)?;
        Ok(sign_request(&key, claims)?)
    }

    /// A message with a good token for exactly these bytes, and no header of the newest revision.
    pub fn post(&self, way: Way, body: impl Into<Vec<u8>>) -> anyhow::Result<Request> {
        let body = body.into();
        let (name, token) = match way {
            Way::Door => ("Countersign-Session", self.turn.session_token().to_owned()),
            Way::Direct => (
                "Countersign-Request",
                self.signed(&self.request_claims(&body)?)?,
            ),
        };
        Ok(Request::new("POST", "/mcp", &self.host(way.service()))
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
            .with(name, token)
            .body(body))
    }

    /// Sends bytes as the message.
    pub async fn send(&self, way: Way, body: impl Into<Vec<u8>>) -> anyhow::Result<Answer> {
        self.post(way, body)?.send(self.port(way.service())).await
    }

    /// Calls a tool with arguments as they are written.
    pub async fn call(&self, way: Way, tool: &str, arguments: &str) -> anyhow::Result<Answer> {
        self.send(way, call(tool, arguments)).await
    }

    /// What the bank holds, once it has come to rest.
    pub async fn counts(&self) -> anyhow::Result<Counts> {
        let mut admin = self.bank.database().admin().await?;
        Ok(sqlx::query_as(
            "SELECT (SELECT count(*) FROM bank.pending_action) AS actions, \
                    (SELECT count(*) FROM bank.pending_version) AS versions, \
                    (SELECT count(*) FROM bank.panel_entry) AS panel_entries, \
                    (SELECT count(*) FROM bank.entry) AS entries, \
                    (SELECT count(*) FROM bank.transfer) AS transfers, \
                    (SELECT count(*) FROM bank.execution) AS executions, \
                    (SELECT count(*) FROM bank.utterance) AS utterances, \
                    (SELECT sum(balance_minor_units)::bigint FROM bank.account_balance) AS minor_units, \
                    (SELECT count(*) FROM bank.used_request) AS used_requests",
        )
        .fetch_one(&mut admin)
        .await?)
    }

    /// Checks that the bank's tools still do what they are asked, so that no refusal before this was for
    /// another reason than its own.
    pub async fn still_works(&self) -> anyhow::Result<()> {
        for way in Way::BOTH {
            let answer = self.call(way, "list_payees", "{}").await?;
            assert!(answer.content()["payees"].is_array(), "{way:?}: {answer:?}");
        }
        Ok(())
    }

    /// A transfer of 20.00 to Bob, put on Ada's panel.
    pub async fn card(&self) -> anyhow::Result<Value> {
        let ask = json!({"payments": [{"payee": self.bob, "amount": "20.00"}]}).to_string();
        let answer = self.call(Way::Door, "request_transfer", &ask).await?;
        anyhow::ensure!(answer.code().is_none(), "{answer:?}");
        self.ada.open_card().await
    }
}

/// The bytes of a tool call, arguments as they are written.
pub fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// The same as a message of the revision without sessions; its headers repeat it.
pub fn stateless_call(tool: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
    }}})
    .to_string()
}

/// The Unix second.
pub fn now() -> anyhow::Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())
}

/// Runs for at most this long, or fails.
pub async fn within<T>(
    time: Duration,
    what: &str,
    doing: impl Future<Output = T>,
) -> anyhow::Result<T> {
    tokio::time::timeout(time, doing)
        .await
        .with_context(|| what.to_owned())
}
