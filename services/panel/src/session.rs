//! Panel sessions: who is signed in, how a session begins and how it ends.
//!
//! A session is a row in `session_grant` that knows the hash of the cookie's secret. The customer is
//! never an argument: every statement runs under the secret, and the database finds whose it is.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, request::Parts},
    response::{IntoResponse, Response},
};
use countersign_domain::{CustomerId, Secret};
use countersign_execution::notices;
use countersign_serve::Problem;
use countersign_store::{SessionError, session::begin};
use countersign_texts::Texts;
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

use crate::{app::App, cookie, language};

/// How long a panel session lives, whatever happens in it.
pub const SESSION_SECONDS: u32 = 8 * 60 * 60;

/// A live session and whose it is.
#[derive(Clone, Debug)]
pub struct Session {
    /// Goes into every transaction; never into a page or a log.
    pub secret: Secret,
    /// Whose session it is, as the database said.
    pub customer: CustomerId,
    /// The customer's own name.
    pub name: String,
    /// The language the panel speaks with them.
    pub texts: &'static Texts,
    /// Notices that were not listed yet.
    pub unread: i64,
    /// Whether outgoing payments are stopped.
    pub frozen: bool,
}

/// What a request says of the person: something done keeps the session from resting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A page was opened or a button pressed.
    Done,
    /// A page asked by itself.
    Background,
}

/// Finds the session behind a secret; none when it is wrong, ended, rested too long, or another login's. From then on
/// the answer speaks its customer's language.
///
/// # Errors
/// When the database does not answer.
pub async fn find(
    pool: &PgPool,
    secret: Secret,
    sign: Sign,
) -> Result<Option<Session>, SessionError> {
    let mut transaction = begin(pool, &secret).await?;
    let row = sqlx::query!(
        r#"SELECT c.customer_id, c.display_name, coalesce(c.panel_language, c.locale) AS "language!",
                  (SELECT count(*) FROM bank.notice n WHERE n.customer_id = c.customer_id AND n.read_at IS NULL) AS "unread!",
                  EXISTS (SELECT FROM bank.payment_freeze f WHERE f.customer_id = c.customer_id AND f.lifted_at IS NULL) AS "frozen!",
                  CASE WHEN $1 THEN bank.touch_session() ELSE false END AS "_touched!"
             FROM bank.customer c"#,
        sign == Sign::Done,
    )
    .fetch_optional(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(row.map(|row| {
        let texts = countersign_texts::of(&row.language);
        language::speak(texts);
        Session {
            secret,
            customer: CustomerId::from_uuid(row.customer_id),
            name: row.display_name,
            texts,
            unread: row.unread,
            frozen: row.frozen,
        }
    }))
}

/// Uses a login token once and begins the session it is good for; none for a wrong, used or late one.
///
/// # Errors
/// When the database does not answer; then the token is unused.
pub async fn redeem(pool: &PgPool, token: &Secret) -> Result<Option<Secret>, SessionError> {
    let mut transaction = pool.begin().await?;
    let customer = sqlx::query_scalar!("SELECT bank.redeem_login_token($1)", token.expose())
        .fetch_one(&mut *transaction)
        .await?;
    let Some(customer) = customer else {
        return Ok(None);
    };
    let secret = open(&mut transaction, CustomerId::from_uuid(customer)).await?;
    transaction.commit().await?;
    Ok(Some(secret))
}

/// Gives a browser the session it has just begun: the one it still had ends, and the customer is told of a login. Answers the cookie.
pub async fn welcome(app: &App, headers: &HeaderMap, secret: &Secret) -> HeaderValue {
    if let Some(older) = cookie::read(headers) {
        match end(&app.pool, &older).await {
            Ok(_) => app.wakes.end(older.hash()),
            Err(error) => tracing::warn!(%error, "Could not end the session before this one"),
        }
    }
    // The session stands; the word of it is tried again by nobody, so a failure is told to the operators.
    if let Err(error) = notices::note_login(&app.pool, secret).await {
        tracing::error!(%error, "Could not tell a customer of a login");
    }
    cookie::set(secret, SESSION_SECONDS)
}

/// Ends `session` and begins one of `customer`, both or neither. For the demo's picker alone.
///
/// # Errors
/// When the database does not answer, or the session ended meanwhile ([`SessionError::Ended`]).
pub async fn switch(
    pool: &PgPool,
    session: &Session,
    customer: CustomerId,
) -> Result<Secret, SessionError> {
    let mut transaction = begin(pool, &session.secret).await?;
    if !end_in(&mut transaction).await? {
        return Err(SessionError::Ended);
    }
    let secret = open(&mut transaction, customer).await?;
    transaction.commit().await?;
    Ok(secret)
}

/// Ends a session and what hangs on it. Answers whether it was still alive.
///
/// # Errors
/// When the database does not answer; then the session still lives.
pub async fn end(pool: &PgPool, secret: &Secret) -> Result<bool, SessionError> {
    let mut transaction = begin(pool, secret).await?;
    let ended = end_in(&mut transaction).await?;
    transaction.commit().await?;
    Ok(ended)
}

async fn end_in(transaction: &mut Transaction<'static, Postgres>) -> Result<bool, SessionError> {
    let ended = sqlx::query_scalar!(r#"SELECT bank.end_panel_session() AS "ended!""#)
        .fetch_one(&mut **transaction)
        .await?;
    Ok(ended)
}

async fn open(
    transaction: &mut Transaction<'static, Postgres>,
    customer: CustomerId,
) -> Result<Secret, SessionError> {
    let secret = new_secret();
    sqlx::query!(
        "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, audience, expires_at)
         VALUES ($1, $2, $3, 'panel', bank.bank_clock() + $4::integer * interval '1 second')",
        Uuid::now_v7(),
        &secret.hash()[..],
        customer.uuid(),
        i32::try_from(SESSION_SECONDS).unwrap_or(i32::MAX),
    )
    .execute(&mut **transaction)
    .await?;
    Ok(secret)
}

/// A fresh secret from the system's random source.
///
/// # Panics
/// When the system has no randomness to give: then nothing here may go on.
pub fn new_secret() -> Secret {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    Secret::from_random(bytes)
}

/// A route with this argument needs a session; without one it answers 401 as a problem.
impl FromRequestParts<App> for Session {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let secret =
            cookie::read(&parts.headers).ok_or_else(|| Problem::unauthorized().into_response())?;
        match find(&app.pool, secret, sign_of(parts.uri.path())).await {
            Ok(Some(session)) => Ok(session),
            Ok(None) => Err(Problem::unauthorized().into_response()),
            // No database was reached, so nothing was begun: the page may ask again.
            Err(SessionError::Database(cause @ sqlx::Error::Io(_))) => {
                tracing::error!(error = %cause, "Could not look up a session");
                Err(Problem::busy().into_response())
            }
            Err(error) => Err(problem("look up a session", &error).into_response()),
        }
    }
}

/// Cards and wake-ups are asked for by the page itself, whether anybody looks at it or not.
fn sign_of(path: &str) -> Sign {
    match path {
        "/api/cards" | "/api/events" | "/chat-code" => Sign::Background,
        _ => Sign::Done,
    }
}

/// The refusal for a transaction that did not come about; its cause goes to the log.
pub fn problem(attempted: &'static str, error: &SessionError) -> Problem {
    match error {
        SessionError::Ended => Problem::unauthorized(),
        SessionError::Busy => Problem::busy(),
        SessionError::Database(cause) => {
            tracing::error!(error = %cause, "Could not {attempted}");
            Problem::internal()
        }
    }
}
