//! Who may connect to whom, in the one form that every deploy file is read into.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::ensure;

/// Where PostgreSQL listens.
pub const DATABASE_PORT: u16 = 5432;
/// Where the passage to a hosted model listens.
pub const RELAY_PORT: u16 = 8443;

/// One end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// What ends TLS before the services.
    Edge,
    /// PostgreSQL.
    Database,
    /// A service, a passage or a job.
    Named(String),
    /// Anything beyond the bank.
    Outside,
}

impl End {
    /// The end of this name in a deploy file.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "edge" => Self::Edge,
            "database" => Self::Database,
            other => Self::Named(other.to_owned()),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edge => formatter.write_str("edge"),
            Self::Database => formatter.write_str("database"),
            Self::Named(name) => formatter.write_str(name),
            Self::Outside => formatter.write_str("outside"),
        }
    }
}

/// A set of connections: from, to, port. The port of what leaves the bank is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges(pub BTreeSet<(End, End, u16)>);

impl Edges {
    /// One may connect to the other there.
    pub fn add(&mut self, from: End, to: End, port: u16) {
        self.0.insert((from, to, port));
    }

    /// One may reach beyond the bank.
    pub fn add_outside(&mut self, from: End) {
        self.0.insert((from, End::Outside, 0));
    }

    /// Checks that both ends of every connection agree to it: what the callers' side lets leave, the other side lets arrive.
    /// `one_sided` says of which callers only the receiving end is written down; what leaves the bank has one end here.
    ///
    /// # Errors
    /// When only one end allows a connection.
    pub fn agree(
        leaving: &Self,
        arriving: &Self,
        one_sided: impl Fn(&End) -> bool,
    ) -> anyhow::Result<()> {
        for edge in leaving.0.iter().filter(|edge| edge.1 != End::Outside) {
            ensure!(
                arriving.0.contains(edge),
                "{} may call {}, which does not let it in",
                edge.0,
                edge.1
            );
        }
        for edge in arriving.0.iter().filter(|edge| !one_sided(&edge.0)) {
            ensure!(
                leaving.0.contains(edge),
                "{} lets {} in, which may not call it",
                edge.1,
                edge.0
            );
        }
        Ok(())
    }

    /// What differs, one line each; nothing when both are the same.
    #[must_use]
    pub fn differences(&self, wanted: &Self) -> Vec<String> {
        let line = |(from, to, port): &(End, End, u16), what: &str| {
            format!("{from} -> {to}:{port} {what}")
        };
        let extra = self.0.difference(&wanted.0);
        let missing = wanted.0.difference(&self.0);
        extra
            .map(|edge| line(edge, "is open here and not in the trust table"))
            .chain(missing.map(|edge| line(edge, "is in the trust table and closed here")))
            .collect()
    }

    /// The same without ports, in either direction: what a network of two members can say.
    #[must_use]
    pub fn pairs(&self) -> BTreeSet<(End, End)> {
        self.0
            .iter()
            .map(|(from, to, _)| (from.clone().min(to.clone()), from.clone().max(to.clone())))
            .collect()
    }
}
