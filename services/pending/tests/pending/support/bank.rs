//! A bank with nobody in it, and what only its owner can do.

use anyhow::Context;
use countersign_domain::Secret;
use countersign_testkit::Database;
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use uuid::Uuid;

use super::Customer;

/// A fresh database and the logins that use it.
pub struct Bank {
    pub(super) database: Database,
    /// The model's side.
    pub(super) bank_mcp: PgPool,
    /// The customer's side.
    pub(super) panel: PgPool,
    /// The superuser, who plants what a test begins with and looks at what it ends with.
    pub(super) admin: PgPool,
}

const CONNECTIONS_MAX: u32 = 4;

async fn pool(options: PgConnectOptions) -> anyhow::Result<PgPool> {
    PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .connect_with(options)
        .await
        .context("open a pool")
}

impl Bank {
    /// Opens a bank of the test's own.
    pub async fn open() -> Self {
        Self::try_open().await.expect("a database for the test")
    }

    async fn try_open() -> anyhow::Result<Self> {
        let database = Database::fresh().await?;
        let admin = database.server().location().as_admin(database.name());
        Ok(Self {
            bank_mcp: pool(database.url("bank_mcp").parse()?).await?,
            panel: pool(database.url("panel").parse()?).await?,
            admin: pool(admin).await?,
            database,
        })
    }

    /// A customer with an ordinary set of things, who has just opened a conversation.
    pub async fn customer(&self, name: &str) -> Customer<'_> {
        Customer::join(self, name).await
    }

    /// Lets time pass, by the bank's clock.
    pub async fn wait_until_seconds(&self, seconds: i64) {
        self.database
            .set_clock_ahead(seconds)
            .await
            .expect("move the clock");
    }

    /// The superuser's one connection in which the lock of a customer is held until it is dropped.
    pub async fn holds_the_lock_of(&self, id: Uuid) -> sqlx::Transaction<'static, sqlx::Postgres> {
        let mut transaction = self.admin.begin().await.expect("begin");
        sqlx::query("UPDATE bank.customer_lock SET version = version + 1 WHERE customer_id = $1")
            .bind(id)
            .execute(&mut *transaction)
            .await
            .expect("lock");
        transaction
    }

    /// What a function of a loop answers, as that loop's login; the code of the error where it failed.
    pub async fn as_loop(
        &self,
        role: &str,
        call: &'static str,
        ids: &[Uuid],
    ) -> Result<bool, String> {
        let mut login = self.database.login(role).await.expect("login");
        let mut query = sqlx::query_scalar(call);
        for id in ids {
            query = query.bind(*id);
        }
        query
            .fetch_one(&mut login)
            .await
            .map_err(|error| super::code_of(&error))
    }

    /// Lets the bank write down what has expired.
    pub async fn sweep(&self) {
        let mut sweeper = self.database.login("sweeper").await.expect("login");
        sqlx::query("SELECT bank.expire_due(100)")
            .execute(&mut sweeper)
            .await
            .expect("sweep");
    }

    /// Runs a statement as the superuser.
    pub async fn plant(&self, statement: &'static str, ids: &[Uuid]) {
        let mut query = sqlx::query(statement);
        for id in ids {
            query = query.bind(*id);
        }
        query.execute(&self.admin).await.expect("plant");
    }

    /// The superuser's connections, for a question of a test's own.
    pub fn superuser(&self) -> &PgPool {
        &self.admin
    }

    /// A number as the superuser sees it.
    pub async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.admin)
            .await
            .expect("count")
    }
}

/// A fresh secret of a session.
pub(super) fn secret() -> Secret {
    Secret::new(format!(
        "{}{}",
        Uuid::new_v4().simple(),
        Uuid::new_v4().simple()
    ))
}
