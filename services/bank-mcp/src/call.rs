//! One call of one customer: a transaction that knows whose it is and that spends the call's token.

use countersign_domain::{ActionId, ConversationId, CustomerId, ToolCode};
use countersign_identity::RequestClaims;
use countersign_pending::{Request, RequestStatus};
use countersign_store::{SessionError, session};
use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use crate::{Refusal, answer::RequestAnswer, canary::Side};

/// Why a call was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The token was used before.
    #[error("the token was used before")]
    UsedBefore,
    /// The turn's grant is revoked, expired, or not the one the claims speak of.
    #[error("the turn is over")]
    TurnEnded,
    /// No connection was free in time. Nothing was begun.
    #[error("the bank is busy")]
    Busy,
    /// The database did not answer.
    #[error("open the call")]
    Database(#[from] sqlx::Error),
}

impl From<SessionError> for OpenError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Database(error) => Self::Database(error),
            SessionError::Busy => Self::Busy,
            SessionError::Ended => Self::TurnEnded,
        }
    }
}

/// The bank's database, and where new requests get their ids.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Connections of the bank's own role.
    pub pool: PgPool,
    /// Makes an id nobody has (UUIDv7).
    pub new_action_id: fn() -> ActionId,
}

/// The transaction of one call.
///
/// The customer is the one the grant secret opens, and equals the door's claims; a tool never names one.
pub struct Call {
    transaction: Transaction<'static, Postgres>,
    customer: CustomerId,
    conversation: ConversationId,
    new_action_id: fn() -> ActionId,
    token_id: String,
    record_leaf: [u8; 32],
}

/// How a call ended, as the trail of calls and the numbers hold it.
pub const ANSWERED: &str = "answered";
/// It held another customer's canary and was answered nothing.
pub const WITHHELD: &str = "withheld";

impl Call {
    /// Opens the transaction, takes the session's secret, checks whose it is and spends the token.
    ///
    /// # Errors
    /// [`OpenError`]; nothing stays behind then.
    pub async fn open(bank: &Bank, claims: &RequestClaims) -> Result<Self, OpenError> {
        let mut transaction = session::begin(&bank.pool, &claims.grant_secret).await?;
        let customer = session::customer(&mut transaction).await?;
        let conversation = session::conversation(&mut transaction).await?;
        if customer != claims.customer || conversation != claims.conversation {
            return Err(OpenError::TurnEnded);
        }
        spend(&mut transaction, claims).await?;
        // What the tool does from here on can be undone without giving the token back.
        sqlx::raw_sql("SAVEPOINT tool")
            .execute(&mut *transaction)
            .await?;
        Ok(Self {
            transaction,
            customer,
            conversation,
            new_action_id: bank.new_action_id,
            token_id: claims.token_id.to_string(),
            record_leaf: claims.record_leaf,
        })
    }

    /// The customer of this call.
    pub const fn customer(&self) -> CustomerId {
        self.customer
    }

    /// The conversation of this call.
    pub const fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// The connection, inside the transaction.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// Asks the customer to confirm something, by the rules about requests.
    ///
    /// # Errors
    /// The rules' refusal.
    pub async fn ask(&mut self, request: Request) -> Result<RequestAnswer, Refusal> {
        let action = (self.new_action_id)();
        let requested =
            countersign_pending::request(&mut self.transaction, &request, action).await?;
        Ok(requested.into())
    }

    /// What waits for the customer, newest first.
    ///
    /// # Errors
    /// When the turn is over or the database does not answer.
    pub async fn open_requests(&mut self) -> Result<Vec<RequestStatus>, Refusal> {
        Ok(countersign_pending::open_requests(&mut self.transaction).await?)
    }

    /// Where one request stands; `None` when it is not among the customer's.
    ///
    /// # Errors
    /// As [`Call::open_requests`].
    pub async fn request_status(&mut self, id: ActionId) -> Result<Option<RequestStatus>, Refusal> {
        Ok(countersign_pending::request_status(&mut self.transaction, id).await?)
    }

    /// Whether one of these runs is of another customer's canary. A bank that cannot tell answers nothing.
    ///
    /// # Errors
    /// When the bank cannot tell, or does not answer.
    pub async fn is_anothers_canary(&mut self, runs: &[String]) -> Result<bool, Refusal> {
        if runs.is_empty() {
            return Ok(false);
        }
        let row = sqlx::query!(r#"SELECT bank.canary_in_call($1) AS "anothers""#, runs)
            .fetch_one(&mut *self.transaction)
            .await
            .map_err(|error| Refusal::from_database(&error))?;
        row.anothers.ok_or(Refusal::new(ToolCode::Unavailable))
    }

    /// Undoes what the tool did and raises an alarm in its place; the token stays spent.
    ///
    /// # Errors
    /// When the database does not answer. Then nothing stays.
    pub async fn raise_alarm(mut self, tool: &str, side: Side) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("ROLLBACK TO SAVEPOINT tool")
            .execute(&mut *self.transaction)
            .await?;
        sqlx::query!(
            "INSERT INTO bank.call_alarm (customer_id, alarm_id, conversation_id, tool, side) VALUES ($1, $2, $3, $4, $5)",
            self.customer.uuid(),
            (self.new_action_id)().uuid(),
            self.conversation.uuid(),
            tool,
            side.text()
        )
        .execute(&mut *self.transaction)
        .await?;
        self.leave_trail(tool, WITHHELD).await?;
        self.transaction.commit().await
    }

    /// Makes it true.
    ///
    /// # Errors
    /// When the database refuses at the end (a deferred rule) or does not answer.
    pub async fn commit(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }

    /// Makes true what the tool did, and that it did it.
    ///
    /// # Errors
    /// As [`Call::commit`].
    pub async fn commit_answer(mut self, tool: &str) -> Result<(), sqlx::Error> {
        self.leave_trail(tool, ANSWERED).await?;
        self.transaction.commit().await
    }

    /// Undoes what the tool did; the token stays spent, and why the tool refused stays on the trail.
    ///
    /// # Errors
    /// When the database does not answer. Then nothing stays, the spent token included.
    pub async fn undo(mut self, tool: &str, refusal: Refusal) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("ROLLBACK TO SAVEPOINT tool")
            .execute(&mut *self.transaction)
            .await?;
        // A turn that ended meanwhile has nobody to write for.
        if refusal.code != ToolCode::TurnEnded {
            self.leave_trail(tool, refusal.code.text()).await?;
        }
        self.transaction.commit().await
    }

    /// Writes down that the tool was called and how that ended, under the door's receipt.
    async fn leave_trail(&mut self, tool: &str, outcome: &str) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "INSERT INTO bank.tool_call (customer_id, jti, conversation_id, grant_id, tool, outcome, record_leaf)
             VALUES ($1, $2, $3, (SELECT bank.current_grant()), $4, $5, $6)",
            self.customer.uuid(),
            self.token_id,
            self.conversation.uuid(),
            tool,
            outcome,
            &self.record_leaf
        )
        .execute(&mut *self.transaction)
        .await?;
        Ok(())
    }
}

impl Bank {
    /// Writes down that a call was turned away. A call whose door and agent are honest is never: somebody tried.
    pub async fn record_turned_away(&self, claims: &RequestClaims, tool: &str, reason: Away) {
        let recorded = sqlx::query!(
            "INSERT INTO bank.turned_away (event_id, reason, tool, record_leaf) VALUES ($1, $2, $3, $4)",
            (self.new_action_id)().uuid(),
            reason.text(),
            tool,
            &claims.record_leaf
        )
        .execute(&self.pool)
        .await;
        if let Err(error) = recorded {
            tracing::error!(reason = %error, "A call that was turned away could not be recorded");
        }
    }
}

/// Why a call that the door allowed was turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Away {
    /// The turn was over.
    TurnEnded,
    /// The token was used before.
    UsedBefore,
}

impl Away {
    /// As the record holds it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::TurnEnded => "turn_ended",
            Self::UsedBefore => "used_before",
        }
    }
}

/// Marks the token as used, in the transaction of what the call does.
async fn spend(connection: &mut PgConnection, claims: &RequestClaims) -> Result<(), OpenError> {
    let inserted = sqlx::query!(
        "INSERT INTO bank.used_request (jti, customer_id) VALUES ($1, $2)",
        claims.token_id.to_string(),
        claims.customer.uuid(),
    )
    .execute(connection)
    .await;
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if is_unique_violation(&error) => Err(OpenError::UsedBefore),
        Err(error) => Err(OpenError::Database(error)),
    }
}

fn is_unique_violation(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}
