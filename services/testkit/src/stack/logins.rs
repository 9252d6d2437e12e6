//! Each login role's address of the database, for exactly one process or loop.

use std::collections::BTreeMap;

use anyhow::Context;
use countersign_domain::Secret;
use sqlx::PgConnection;

use crate::installed::{LOGIN_ROLES, set_password};
use crate::postgres::Location;
use crate::secrets::random_secret;

/// The addresses of one database, by login role. They hold passwords and print nothing.
#[derive(Clone, Debug)]
pub struct Logins {
    database: String,
    tcp_port: Option<u16>,
    urls: BTreeMap<&'static str, Secret>,
}

impl Logins {
    /// Gives every login role a new random password, which ends every older one.
    ///
    /// # Errors
    /// When the superuser's connection refuses.
    pub async fn renew(
        admin: &mut PgConnection,
        location: &Location,
        database: &str,
    ) -> anyhow::Result<Self> {
        let mut urls = BTreeMap::new();
        for role in LOGIN_ROLES {
            let password = random_secret()?;
            set_password(admin, role, &password).await?;
            urls.insert(role, Secret::new(location.url(role, &password, database)));
        }
        Ok(Self {
            database: database.to_owned(),
            tcp_port: location.tcp_port(),
            urls,
        })
    }

    /// The addresses of a test's database, whose server gives every role the same password throughout.
    #[must_use]
    pub fn of_test(database: &crate::Database) -> Self {
        let urls = LOGIN_ROLES
            .map(|role| (role, Secret::new(database.url(role))))
            .into();
        Self {
            database: database.name().to_owned(),
            tcp_port: database.server().location().tcp_port(),
            urls,
        }
    }

    /// The address for `role`.
    ///
    /// # Errors
    /// When there is no such login role.
    pub fn url(&self, role: &str) -> anyhow::Result<&str> {
        let url = self
            .urls
            .get(role)
            .with_context(|| format!("{role} is no login role"))?;
        Ok(url.expose())
    }

    /// The server's port, when it is not reached by a socket in the file system.
    #[must_use]
    pub fn tcp_port(&self) -> Option<u16> {
        self.tcp_port
    }

    /// The database's name.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }
}
