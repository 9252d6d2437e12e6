//! People and logins, so that each line of a test says who acts.

use anyhow::Context;
use countersign_domain::Secret;
use countersign_testkit::Database;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use uuid::Uuid;

/// A demo bank with two people's sessions in it.
pub struct Bank {
    pub database: Database,
}

/// One customer with live sessions of every audience.
pub struct Person {
    pub customer: Uuid,
    pub conversation: Uuid,
    pub panel: Secret,
    pub intake: Secret,
    pub turn: Secret,
}

fn secret() -> Secret {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("random bytes");
    Secret::from_random(bytes)
}

impl Bank {
    pub async fn start() -> anyhow::Result<Self> {
        Ok(Self {
            database: Database::demo().await?,
        })
    }

    /// Signs a demo customer in and opens a turn, as panel and intake would.
    pub async fn with(&self, name: &str) -> anyhow::Result<Person> {
        let mut admin = self.database.admin().await?;
        let customer: Uuid =
            sqlx::query_scalar("SELECT customer_id FROM bank.customer WHERE display_name = $1")
                .bind(name)
                .fetch_one(&mut admin)
                .await
                .context("a demo customer")?;
        let person = Person {
            customer,
            conversation: Uuid::now_v7(),
            panel: secret(),
            intake: secret(),
            turn: secret(),
        };
        sqlx::query("INSERT INTO bank.conversation (customer_id, conversation_id) VALUES ($1, $2)")
            .bind(customer)
            .bind(person.conversation)
            .execute(&mut admin)
            .await?;
        for (audience, secret) in [
            ("panel", &person.panel),
            ("intake", &person.intake),
            ("bank_mcp", &person.turn),
        ] {
            sqlx::query(
                "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, conversation_id, audience, expires_at)
                 VALUES (gen_random_uuid(), $1, $2, $3, $4, bank.bank_clock() + interval '2 minutes')",
            )
            .bind(&secret.hash()[..])
            .bind(customer)
            .bind((audience == "bank_mcp").then_some(person.conversation))
            .bind(audience)
            .execute(&mut admin)
            .await?;
        }
        admin.close().await?;
        Ok(person)
    }

    pub async fn login(&self, role: &str) -> anyhow::Result<PgConnection> {
        self.database.login(role).await
    }

    /// Money in every account, by which a forbidden act would be seen.
    pub async fn money(&self) -> anyhow::Result<(i64, i64)> {
        let mut admin = self.database.admin().await?;
        let sums = sqlx::query_as(
            "SELECT (SELECT sum(balance_minor_units)::bigint FROM bank.account_balance), (SELECT count(*) FROM bank.entry)",
        )
        .fetch_one(&mut admin)
        .await?;
        admin.close().await?;
        Ok(sums)
    }
}

/// Carries a session's secret in the variable the wall reads.
pub async fn carry(connection: &mut PgConnection, secret: &str) -> anyhow::Result<()> {
    sqlx::query("SELECT set_config('countersign.session', $1, false)")
        .bind(secret)
        .execute(connection)
        .await?;
    Ok(())
}

/// The SQLSTATE a statement is refused with, or `None` when it ran. What ran is rolled back.
pub async fn refused(
    connection: &mut PgConnection,
    statement: &str,
) -> anyhow::Result<Option<String>> {
    let mut transaction = connection.begin().await?;
    let outcome = transaction
        .execute(AssertSqlSafe(statement.to_owned()))
        .await;
    transaction.rollback().await?;
    Ok(match outcome {
        Ok(_) => None,
        Err(error) => Some(
            error
                .as_database_error()
                .and_then(|error| error.code().map(|code| code.into_owned()))
                .unwrap_or_else(|| error.to_string()),
        ),
    })
}
