//! What the demo's set-up hands out itself: login links and tokens for clients of the door.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use countersign_domain::{ConversationId, CustomerId, Secret};
use countersign_identity::{
    SESSION_LIFETIME_SECONDS_MAX, SessionClaims, SigningKey, TokenId, TurnId, sign_session,
};
use sqlx::types::Uuid;
use sqlx::{Connection, PgConnection};

use super::DemoCustomer;
use super::keys::Keys;
use crate::secrets::{random_bytes, random_secret};

/// Time in which a login link must be opened.
pub const LOGIN_LINK_SECONDS: i32 = 15 * 60;

/// The demo's customers, first comer first.
///
/// # Errors
/// When the database does not answer.
pub async fn customers(admin: &mut PgConnection) -> anyhow::Result<Vec<DemoCustomer>> {
    let rows: Vec<(Uuid, String)> = sqlx::query_as(
        "SELECT customer_id, display_name FROM bank.customer ORDER BY created_at, customer_id",
    )
    .fetch_all(admin)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(id, name)| DemoCustomer {
            id: CustomerId::from_uuid(id),
            name,
        })
        .collect())
}

/// Makes a one-use login token for a customer; the panel takes it in the address's fragment.
///
/// # Errors
/// When the database refuses.
pub async fn login_token(admin: &mut PgConnection, customer: CustomerId) -> anyhow::Result<Secret> {
    let token = random_secret()?;
    sqlx::query(
        "INSERT INTO bank.login_token (token_hash, customer_id, expires_at) \
         VALUES ($1, $2, bank.bank_clock() + make_interval(secs => $3))",
    )
    .bind(token.hash().as_slice())
    .bind(customer.uuid())
    .bind(LOGIN_LINK_SECONDS)
    .execute(admin)
    .await
    .context("store the login token")?;
    Ok(token)
}

/// Makes a one-use token for an operator; the dashboard takes it in the address's fragment.
///
/// # Errors
/// When the database refuses, or the name is none.
pub async fn operator_token(admin: &mut PgConnection, operator: &str) -> anyhow::Result<Secret> {
    let token = random_secret()?;
    sqlx::query(
        "INSERT INTO bank.operator_token (token_hash, operator, expires_at) \
         VALUES ($1, $2, bank.bank_clock() + make_interval(secs => $3))",
    )
    .bind(token.hash().as_slice())
    .bind(operator)
    .bind(LOGIN_LINK_SECONDS)
    .execute(admin)
    .await
    .context("store the operator's token")?;
    Ok(token)
}

/// Makes a session token for the door, as the chat's origin would for one turn: a conversation, a grant for
/// the bank's server, a signature. It reads and asks as `customer` for two minutes at most.
///
/// # Errors
/// When the database refuses.
pub async fn session_token(
    admin: &mut PgConnection,
    keys: &Keys,
    customer: CustomerId,
) -> anyhow::Result<String> {
    let grant_secret = random_secret()?;
    let conversation = Uuid::from_bytes(random_bytes()?);
    let mut transaction = admin.begin().await?;
    sqlx::query("INSERT INTO bank.conversation (customer_id, conversation_id) VALUES ($1, $2)")
        .bind(customer.uuid())
        .bind(conversation)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "INSERT INTO bank.session_grant \
           (grant_id, secret_hash, customer_id, conversation_id, audience, expires_at) \
         VALUES ($1, $2, $3, $4, 'bank_mcp', bank.bank_clock() + make_interval(secs => $5))",
    )
    .bind(Uuid::from_bytes(random_bytes()?))
    .bind(grant_secret.hash().as_slice())
    .bind(customer.uuid())
    .bind(conversation)
    .bind(i32::try_from(SESSION_LIFETIME_SECONDS_MAX)?)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    let issued_at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let claims = SessionClaims {
        customer,
        conversation: ConversationId::from_uuid(conversation),
        turn: TurnId::from_random(random_bytes()?),
        grant_secret,
        issued_at,
        expires_at: issued_at + SESSION_LIFETIME_SECONDS_MAX,
        token_id: TokenId::from_random(random_bytes()?),
    };
    Ok(sign_session(
        &SigningKey::from_file(&keys.session)?,
        &claims,
    )?)
}
