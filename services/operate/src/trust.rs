//! The trust table as data: `docs/deploy/trust.yaml`.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use crate::edges::{Edges, End};
use crate::files;

/// Where the table stands.
pub const FILE: &str = "docs/deploy/trust.yaml";

/// Every service and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustTable {
    /// By name, as in `countersign-<name>`.
    pub services: BTreeMap<String, Trusted>,
}

/// One service's row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// Where it listens.
    pub port: u16,
    /// Its user.
    pub uid: u32,
    /// Who reaches it from outside.
    pub faces: Faces,
    /// The services it connects to.
    pub calls: Vec<String>,
    /// Its logins to the database.
    pub logins: Vec<String>,
    /// Secret members of its config beside the logins.
    pub holds: Vec<String>,
    /// What it may reach beyond the bank.
    pub outside: Vec<String>,
    /// The passage it takes there, where it does not go itself.
    #[serde(default)]
    pub relay: Option<String>,
    /// A folder that outlives it.
    #[serde(default)]
    pub keeps: Option<String>,
    /// Whether that folder has one writer, so that the service is never two.
    #[serde(default)]
    pub alone: bool,
}

/// Who opens connections to a service through the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Faces {
    /// Browsers of customers.
    Customers,
    /// Browsers of the bank's people.
    Operators,
    /// No one.
    Nobody,
}

impl TrustTable {
    /// Reads the table of the checkout.
    ///
    /// # Errors
    /// When it is not there or not a table.
    pub fn read() -> anyhow::Result<Self> {
        serde_saphyr::from_str(&files::text(FILE)?).with_context(|| format!("read {FILE}"))
    }

    /// Who connects to whom, with the passages at both sides and the database; the hosted model's passage included.
    #[must_use]
    pub fn edges(&self) -> Edges {
        let mut edges = Edges::default();
        for (name, row) in &self.services {
            let own = End::named(name);
            if row.faces != Faces::Nobody {
                edges.add(End::Edge, own.clone(), row.port);
            }
            for called in &row.calls {
                let port = self.services.get(called).map_or(0, |row| row.port);
                edges.add(own.clone(), End::named(called), port);
            }
            if !row.logins.is_empty() {
                edges.add(own.clone(), End::Database, crate::edges::DATABASE_PORT);
            }
            match (&row.relay, row.outside.is_empty()) {
                (_, true) => {}
                (Some(relay), false) => {
                    edges.add(own, End::named(relay), crate::edges::RELAY_PORT);
                    edges.add_outside(End::named(relay));
                }
                (None, false) => edges.add_outside(own),
            }
        }
        edges.add(
            End::named("install"),
            End::Database,
            crate::edges::DATABASE_PORT,
        );
        edges
    }
}
