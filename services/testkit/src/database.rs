//! A database of a test's own.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::server::{Contents, TestServer};

/// A fresh database on the shared server, dropped when the value is.
#[derive(Debug)]
pub struct Database {
    server: &'static TestServer,
    name: String,
}

impl Database {
    /// A database with the schema and nobody's rows.
    ///
    /// # Errors
    /// When the server or its template cannot be made.
    pub async fn fresh() -> anyhow::Result<Self> {
        Self::with(Contents::Schema).await
    }

    /// A database with the demo bank in it.
    ///
    /// # Errors
    /// When the server or its template cannot be made.
    pub async fn demo() -> anyhow::Result<Self> {
        Self::with(Contents::Demo).await
    }

    /// A database with the demo bank in it on a server of the test's own, which the test may crash.
    ///
    /// # Errors
    /// When the template or the clone cannot be made.
    pub async fn demo_on(server: &'static TestServer) -> anyhow::Result<Self> {
        Self::on(server, Contents::Demo).await
    }

    /// A database with the schema and nobody's rows on a server of the caller's own.
    ///
    /// # Errors
    /// When the template or the clone cannot be made.
    pub async fn fresh_on(server: &'static TestServer) -> anyhow::Result<Self> {
        Self::on(server, Contents::Schema).await
    }

    async fn with(contents: Contents) -> anyhow::Result<Self> {
        Self::on(TestServer::shared().await?, contents).await
    }

    async fn on(server: &'static TestServer, contents: Contents) -> anyhow::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{count}", std::process::id());
        server.create(&name, contents).await?;
        Ok(Self { server, name })
    }

    /// Its name on the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server it lies on.
    #[must_use]
    pub fn server(&self) -> &'static TestServer {
        self.server
    }

    /// The address for one of the bank's login roles, such as `panel`.
    #[must_use]
    pub fn url(&self, role: &str) -> String {
        self.server
            .location()
            .url(role, &self.server.password(role), &self.name)
    }

    /// Logs in as one of the bank's login roles.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn login(&self, role: &str) -> anyhow::Result<PgConnection> {
        PgConnection::connect(&self.url(role))
            .await
            .with_context(|| format!("log in as {role}"))
    }

    /// Logs in as the superuser, who may plant and look at anything.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn admin(&self) -> anyhow::Result<PgConnection> {
        self.server.admin(&self.name).await
    }

    /// The rows of a query, as the superuser sees them: an array of objects.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn query_json(&self, sql: &str) -> anyhow::Result<serde_json::Value> {
        let mut admin = self.admin().await?;
        let statement = format!(
            "SELECT coalesce(json_agg(row_to_json(found)), '[]'::json)::text FROM ({sql}) AS found"
        );
        let text: String = sqlx::query_scalar(AssertSqlSafe(statement))
            .fetch_one(&mut admin)
            .await?;
        admin.close().await?;
        Ok(serde_json::from_str(&text)?)
    }

    /// One connection as the superuser, kept: for programs that look and plant often.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn watch(&self) -> anyhow::Result<Watch> {
        Ok(Watch(self.admin().await?))
    }

    /// Keeps a copy of it as it is now, beside it: a backup. Whoever is connected is sent away for that moment. Answers its name.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn keep_copy(&self) -> anyhow::Result<String> {
        let copy = format!("{}_copy", self.name);
        let mut admin = self.sends_everybody_away().await?;
        for statement in [
            format!(
                "CREATE DATABASE {copy} TEMPLATE {} STRATEGY file_copy",
                self.name
            ),
            format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", self.name),
        ] {
            admin.execute(AssertSqlSafe(statement)).await?;
        }
        admin.close().await?;
        let mut connection = self.server.admin(&copy).await?;
        crate::installed::grant_database(&mut connection).await?;
        connection.close().await?;
        Ok(copy)
    }

    /// Puts a copy in its place, as a failover to an older server does: whoever connects next finds it under the same address.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn falls_back_to(&self, copy: &str) -> anyhow::Result<()> {
        let name = &self.name;
        let mut admin = self.sends_everybody_away().await?;
        for statement in [
            format!("ALTER DATABASE {name} RENAME TO {name}_gone"),
            format!("ALTER DATABASE {copy} RENAME TO {name}"),
            format!("DROP DATABASE {name}_gone"),
        ] {
            admin.execute(AssertSqlSafe(statement)).await?;
        }
        admin.close().await?;
        Ok(())
    }

    async fn sends_everybody_away(&self) -> anyhow::Result<PgConnection> {
        let mut admin = self.server.admin("postgres").await?;
        admin
            .execute(AssertSqlSafe(format!(
                "ALTER DATABASE {} ALLOW_CONNECTIONS false",
                self.name
            )))
            .await?;
        for _ in 0..200 {
            let left: i64 = sqlx::query_scalar(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1",
            )
            .bind(&self.name)
            .fetch_one(&mut admin)
            .await?;
            if left == 0 {
                return Ok(admin);
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        anyhow::bail!("somebody stays connected to {}", self.name)
    }

    /// Moves this database's `bank_clock()` ahead of the system's by `seconds` (behind, when negative). Meanwhile somebody
    /// kept the sessions busy, unless the test has shortened how long they may rest.
    ///
    /// # Errors
    /// When the function cannot be replaced.
    pub async fn set_clock_ahead(&self, seconds: i64) -> anyhow::Result<()> {
        let mut admin = self.admin().await?;
        admin
            .execute(AssertSqlSafe(format!(
                "CREATE OR REPLACE FUNCTION bank.bank_clock() RETURNS timestamptz \
                   LANGUAGE sql VOLATILE SET search_path = '' \
                   AS $$ SELECT pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => {seconds}) $$"
            )))
            .await?;
        admin
            .execute(
                "UPDATE bank.session_grant SET idle_until = 'infinity' WHERE (SELECT session_idle_seconds = 43200 FROM bank.setting)",
            )
            .await?;
        admin.close().await?;
        Ok(())
    }
}

/// The superuser's eyes and hands in one database.
#[derive(Debug)]
pub struct Watch(PgConnection);

impl Watch {
    /// Runs statements, all or none of them.
    ///
    /// # Errors
    /// When one fails.
    pub async fn run(&mut self, statements: String) -> anyhow::Result<()> {
        let mut all = self.0.begin().await?;
        all.execute(AssertSqlSafe(statements)).await?;
        all.commit().await?;
        Ok(())
    }

    /// The one JSON text that a query answers with.
    ///
    /// # Errors
    /// When the query fails or its answer is no JSON.
    pub async fn json(&mut self, query: String) -> anyhow::Result<serde_json::Value> {
        let text: String = sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_one(&mut self.0)
            .await?;
        Ok(serde_json::from_str(&text)?)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A drop cannot wait, and the test's runtime may be going down: a thread of its own does it.
        let (server, name) = (self.server, std::mem::take(&mut self.name));
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            if let Ok(runtime) = runtime {
                runtime.block_on(async {
                    if let Ok(mut admin) = server.admin("postgres").await {
                        let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                        let _ = admin.execute(AssertSqlSafe(statement)).await;
                    }
                });
            }
        });
        let _ = dropping.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_database_is_its_own_and_a_clone_is_closed_to_the_public() {
        let (one, other) = (
            Database::fresh().await.expect("made"),
            Database::demo().await.expect("made"),
        );
        let count = "SELECT count(*) FROM bank.customer";
        for (database, wanted) in [(&one, 0), (&other, 4)] {
            let mut admin = database.admin().await.expect("login");
            let customers: i64 = sqlx::query_scalar(count)
                .fetch_one(&mut admin)
                .await
                .expect("count");
            assert_eq!(customers, wanted);
        }
        let mut panel = one.login("panel").await.expect("login");
        let error = panel.execute("CREATE TEMPORARY TABLE leak (x text)").await;
        let error = error.expect_err("no login may make a temporary table");
        assert!(error.to_string().contains("permission denied"), "{error}");
        let postgres = one.url("panel").replace(one.name(), "postgres");
        assert!(
            PgConnection::connect(&postgres).await.is_err(),
            "only the bank's own database"
        );
    }

    #[tokio::test]
    async fn the_clock_can_be_moved_in_one_database() {
        let database = Database::fresh().await.expect("made");
        database.set_clock_ahead(3600).await.expect("moved");
        let mut panel = database.login("panel").await.expect("login");
        let ahead: bool = sqlx::query_scalar(
            "SELECT bank.bank_clock() > pg_catalog.clock_timestamp() + interval '59 minutes'",
        )
        .fetch_one(&mut panel)
        .await
        .expect("the function is still granted");
        assert!(ahead);
    }

    #[tokio::test]
    async fn a_dropped_database_is_gone() {
        let database = Database::fresh().await.expect("made");
        let (server, name) = (database.server(), database.name().to_owned());
        let _still_open = database.login("panel").await.expect("login");
        drop(database);
        let mut admin = server.admin("postgres").await.expect("login");
        let left: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
                .bind(name)
                .fetch_one(&mut admin)
                .await
                .expect("look");
        assert!(!left);
    }
}
