//! The demo bank in a database of the test's own, and its customers.

use countersign_domain::{ConversationId, CustomerId, Secret};
use countersign_testkit::Database;
use sqlx::{Executor, PgConnection, PgPool, Row, postgres::PgPoolOptions};
use uuid::Uuid;

use crate::door::{Door, Turn, random};

/// A server over the demo bank.
pub struct Bank {
    pub door: Door,
    database: Database,
}

impl Bank {
    pub async fn demo() -> Self {
        let database = Database::demo().await.expect("a database");
        let pool = connect(&database).await;
        Self {
            door: Door::over(pool),
            database,
        }
    }

    /// Connections of a second replica.
    pub async fn pool(&self) -> PgPool {
        connect(&self.database).await
    }

    /// The address of the database for the role the server logs in with.
    pub fn url(&self) -> String {
        self.database.url("bank_mcp")
    }

    /// The superuser, who plants and counts.
    pub async fn admin(&self) -> PgConnection {
        self.database.admin().await.expect("the superuser")
    }

    pub async fn customer(&self, name: &str) -> CustomerId {
        let mut admin = self.admin().await;
        let id: Uuid =
            sqlx::query_scalar("SELECT customer_id FROM bank.customer WHERE display_name = $1")
                .bind(name)
                .fetch_one(&mut admin)
                .await
                .expect("a customer of the demo");
        CustomerId::from_uuid(id)
    }

    /// A customer types a message into a new conversation; the turn that follows.
    pub async fn turn(&self, name: &str, message: &str) -> Turn {
        let customer = self.customer(name).await;
        let conversation = ConversationId::from_uuid(Uuid::from_bytes(random()));
        sqlx::query("INSERT INTO bank.conversation (customer_id, conversation_id) VALUES ($1, $2)")
            .bind(customer.uuid())
            .bind(conversation.uuid())
            .execute(&mut self.admin().await)
            .await
            .expect("a conversation");
        let turn = Turn {
            customer,
            conversation,
            secret: Secret::from_random(random()),
        };
        self.say(&turn, message).await
    }

    /// The customer types another message into the same conversation; the next turn.
    pub async fn say(&self, before: &Turn, message: &str) -> Turn {
        let turn = Turn {
            secret: Secret::from_random(random()),
            ..before.clone()
        };
        let mut admin = self.admin().await;
        sqlx::query(
            "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
             VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), $3)",
        )
        .bind(turn.customer.uuid())
        .bind(turn.conversation.uuid())
        .bind(message)
        .execute(&mut admin)
        .await
        .expect("a message");
        sqlx::query(
            "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, conversation_id, audience, expires_at)
             VALUES (gen_random_uuid(), $1, $2, $3, 'bank_mcp', bank.bank_clock() + interval '2 minutes')",
        )
        .bind(turn.secret.hash().as_slice())
        .bind(turn.customer.uuid())
        .bind(turn.conversation.uuid())
        .execute(&mut admin)
        .await
        .expect("a grant");
        turn
    }

    /// Ends a turn, as intake does.
    pub async fn end(&self, turn: &Turn) {
        sqlx::query(
            "UPDATE bank.session_grant SET revoked_at = bank.bank_clock() WHERE secret_hash = $1",
        )
        .bind(turn.secret.hash().as_slice())
        .execute(&mut self.admin().await)
        .await
        .expect("ended");
    }

    /// A number that a statement counts.
    pub async fn count(&self, statement: &'static str) -> i64 {
        let row = self
            .admin()
            .await
            .fetch_one(statement)
            .await
            .expect("a count");
        row.get(0)
    }
}

async fn connect(database: &Database) -> PgPool {
    PgPoolOptions::new()
        .max_connections(8)
        .connect(&database.url("bank_mcp"))
        .await
        .expect("log in as bank_mcp")
}
