//! `docs/deploy/docker-compose.yml`: every network is one edge of the trust table.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde_json::Value;

use crate::edges::End;
use crate::files::{self, texts};

/// Where it stands.
pub const FILE: &str = "docs/deploy/docker-compose.yml";

/// The file, read.
#[derive(Debug)]
pub struct Compose {
    document: Value,
}

impl Compose {
    /// Reads the file of the checkout.
    ///
    /// # Errors
    /// When it is not there or not YAML.
    pub fn read() -> anyhow::Result<Self> {
        Self::parse(&files::text(FILE)?)
    }

    /// Reads a compose file.
    ///
    /// # Errors
    /// When it is not YAML.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(Self {
            document: files::yaml(text)?,
        })
    }

    /// The members of a service.
    #[must_use]
    pub fn service(&self, name: &str) -> &Value {
        &self.document["services"][name]
    }

    /// The names of all services.
    #[must_use]
    pub fn services(&self) -> Vec<String> {
        keys(&self.document["services"])
    }

    /// The networks that a service is on.
    #[must_use]
    pub fn networks_of(&self, service: &str) -> Vec<String> {
        let networks = &self.service(service)["networks"];
        if networks.is_array() {
            texts(networks)
        } else {
            keys(networks)
        }
    }

    /// Who stands on which network.
    #[must_use]
    pub fn members(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut members: BTreeMap<String, BTreeSet<String>> = keys(&self.document["networks"])
            .into_iter()
            .map(|network| (network, BTreeSet::new()))
            .collect();
        for service in self.services() {
            for network in self.networks_of(&service) {
                members.entry(network).or_default().insert(service.clone());
            }
        }
        members
    }

    /// Whether a network has no way out.
    #[must_use]
    pub fn is_internal(&self, network: &str) -> bool {
        self.document["networks"][network]["internal"] == true
    }

    /// Who can reach whom over a network of two, and who can reach outside by one of its own.
    ///
    /// # Errors
    /// When a network has other members than one edge has: then it says more than the table.
    pub fn pairs(&self) -> anyhow::Result<BTreeSet<(End, End)>> {
        let mut pairs = BTreeSet::new();
        for (network, members) in self.members() {
            let ends: Vec<End> = members.iter().map(|name| End::named(name)).collect();
            match (self.is_internal(&network), &ends[..]) {
                (true, [one, other]) => {
                    pairs.insert((
                        one.clone().min(other.clone()),
                        one.clone().max(other.clone()),
                    ));
                }
                // Customers come in there; only the edge stands on it.
                (false, [End::Edge]) => {}
                (false, [one]) => {
                    pairs.insert((one.clone().min(End::Outside), one.clone().max(End::Outside)));
                }
                (internal, _) => anyhow::bail!(
                    "network {network} ({}) has the members {members:?}: an edge has two, a way out one",
                    if internal { "internal" } else { "not internal" }
                ),
            }
        }
        Ok(pairs)
    }

    /// The file of the host that a secret of this name is.
    ///
    /// # Errors
    /// When there is no such secret, or it is no file.
    pub fn secret_file(&self, name: &str) -> anyhow::Result<&str> {
        self.document["secrets"][name]["file"]
            .as_str()
            .with_context(|| format!("the secret {name} is a file"))
    }
}

fn keys(value: &Value) -> Vec<String> {
    value
        .as_object()
        .map(|object| object.keys().cloned().collect())
        .unwrap_or_default()
}
