//! The config of each process: what the design's table lets it hold, and nothing more.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use countersign_domain::CustomerId;
use serde_json::{Value, json};

use super::assistant::Assistant;
use super::keys::{self, Keys};
use super::logins::Logins;
use super::service::Service;
use crate::checkout;

/// The names of the two logs in their checkpoints.
const BANK_LOG: &str = "countersign.example/bank";
const DOOR_LOG: &str = "countersign.example/door";

/// A customer of the demo, for the picker in the page's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoCustomer {
    /// Who.
    pub id: CustomerId,
    /// The name to pick.
    pub name: String,
}

/// What the configs are made of.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) assistant: &'a Assistant,
    pub(super) keys: &'a Keys,
    pub(super) logins: &'a Logins,
    pub(super) customers: &'a [DemoCustomer],
    pub(super) ports: &'a BTreeMap<Service, u16>,
    /// Where each tells its numbers.
    pub(super) numbers: &'a BTreeMap<Service, u16>,
    /// Where `intake` finds its agent, when that is not the stack's own.
    pub(super) agent_url: Option<&'a str>,
    /// The issuer where people sign in. Its clients are called as the services are, and their secrets as a test knows them.
    pub(super) provider: Option<&'a str>,
    /// Whether the caps on messages and calls are far away, for tests that do in seconds what people do in hours.
    pub(super) caps_are_far: bool,
}

impl Facts<'_> {
    fn authority(&self, service: Service) -> String {
        format!("{}:{}", service.host(), self.ports[&service])
    }

    fn origin(&self, service: Service) -> String {
        format!("http://{}", self.authority(service))
    }

    fn sign_in(&self, service: Service) -> Option<Value> {
        self.provider.map(|issuer| {
            json!({
                "issuer": issuer,
                "client_id": service.name(),
                "client_secret": format!("the secret of {}", service.name()),
            })
        })
    }

    /// The door's policy for the bank's own server.
    fn bank_policy(&self) -> anyhow::Result<String> {
        let path = checkout::root().join("fixtures/policy/bank.yaml");
        let policy =
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        if !self.caps_are_far {
            return Ok(policy);
        }
        let far = policy
            .lines()
            .map(|line| match line.split_once("rate_per_minute:") {
                Some((indent, _)) => format!("{indent}rate_per_minute: 10000"),
                None => line.to_owned(),
            });
        Ok(far.collect::<Vec<_>>().join("\n"))
    }

    /// The config of `service`, without its `listen`. What it keeps is in `own_folder`.
    pub(super) fn config(&self, service: Service, own_folder: &Path) -> anyhow::Result<Value> {
        let keys = self.keys;
        Ok(match service {
            Service::Panel => json!({
                "panel_origin": self.origin(Service::Panel),
                "chat_origin": self.origin(Service::Intake),
                "database_url": self.logins.url("panel")?,
                "poster_database_url": self.logins.url("poster")?,
                "sweeper_database_url": self.logins.url("sweeper")?,
                "releaser_database_url": self.logins.url("releaser")?,
                "relay_database_url": self.logins.url("relay")?,
                "notices": {},
                "checker_database_url": self.logins.url("checker")?,
                "name_check": null,
                "bank_phone": "+00 000 0100",
                "notary_database_url": self.logins.url("notary")?,
                "notary_key": keys.notary,
                "state_folder": own_folder,
                "log_origin": BANK_LOG,
                "sign_in": self.sign_in(Service::Panel),
                "demo": self.provider.is_none().then(|| json!({"customers": self.customers.iter()
                    .map(|customer| json!({"id": customer.id, "name": customer.name}))
                    .collect::<Vec<_>>()})),
            }),
            Service::Intake => json!({
                "chat_origin": self.origin(Service::Intake),
                "panel_origin": self.origin(Service::Panel),
                "database_url": self.logins.url("intake")?,
                "agent_url": self.agent_url.map_or_else(
                    || format!("{}/turn", self.origin(Service::Agent)),
                    ToOwned::to_owned,
                ),
                "session_key": keys.session,
                "messages_per_minute_max": if self.caps_are_far { 100_000 } else { 30 },
            }),
            Service::Door => json!({
                "hosts": [self.authority(Service::Door)],
                "origins": [],
                "policy_yaml": self.bank_policy()?,
                "upstream": {"name": "bank", "url": format!("{}/mcp", self.origin(Service::BankMcp))},
                "session_keys": [keys::public(&keys.session)?],
                "request_key": keys.request,
                "receipt_key": keys.receipt,
                "log_directory": own_folder,
                "log_origin": DOOR_LOG,
            }),
            Service::BankMcp => json!({
                "hosts": [self.authority(Service::BankMcp)],
                "origins": [],
                "database_url": self.logins.url("bank_mcp")?,
                "request_keys": [keys::public(&keys.request)?],
            }),
            Service::Dashboard => json!({
                "dashboard_origin": self.origin(Service::Dashboard),
                "sign_in": self.sign_in(Service::Dashboard),
                "database_url": self.logins.url("dashboard")?,
                "door": {
                    "metrics": format!("127.0.0.1:{}", self.numbers[&Service::Door]),
                    "approvals_page": null,
                },
            }),
            Service::Agent => {
                let mut config = self.assistant.settings.clone();
                config["door_url"] = format!("{}/mcp", self.origin(Service::Door)).into();
                config
            }
        })
    }
}
