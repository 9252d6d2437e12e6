//! The customer's passkeys: which there are, a new one, one fewer, and the way back in when all are lost.
//!
//! Who may is decided by the database (`bank.enrol_passkey` and its neighbours): a first passkey wants a login of a moment
//! ago, every further change the agreement of a passkey that is there, and a recovery the bank's people and a wait.

use countersign_domain::Secret;
use countersign_step_up::{Assertion, Registration, RelyingParty};
use countersign_store::session;
use sqlx::{PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{ActError, StepUpRefusal, step_up};

/// Longest name of a passkey, in characters.
const NAME_CHARACTERS_MAX: usize = 60;

/// One passkey as the page lists it.
#[derive(Clone, Debug)]
pub struct Passkey {
    /// Its id with the bank.
    pub id: Uuid,
    /// The customer's name for it.
    pub name: String,
    /// Whether it can live on several devices.
    pub synced: bool,
    /// Since when.
    pub created_at: OffsetDateTime,
    /// When it agreed to something last.
    pub last_used_at: Option<OffsetDateTime>,
}

/// A way back in that is under way.
#[derive(Clone, Copy, Debug)]
pub struct Recovery {
    /// Its id, which the bank's people ask for.
    pub id: Uuid,
    /// When the wait is over.
    pub ready_at: OffsetDateTime,
    /// Whether the bank's people made sure who asks.
    pub approved: bool,
    /// Whether a new passkey can be set up now.
    pub ready: bool,
}

/// What the page shows.
#[derive(Clone, Debug)]
pub struct Passkeys {
    /// Oldest first.
    pub passkeys: Vec<Passkey>,
    /// The way back in, where one is under way.
    pub recovery: Option<Recovery>,
}

/// Lists the customer's passkeys.
///
/// # Errors
/// [`ActError::SessionEnded`] when the secret opens nothing.
pub async fn list(pool: &PgPool, secret: &Secret) -> Result<Passkeys, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let passkeys = sqlx::query_as!(
        Passkey,
        r#"SELECT passkey_id AS id, name, synced, created_at, last_used_at FROM bank.passkey
            WHERE customer_id = (SELECT bank.current_customer()) AND removed_at IS NULL ORDER BY created_at, passkey_id"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let recovery = sqlx::query!(
        r#"SELECT recovery_id, approved_at IS NOT NULL AS "approved!",
                  asked_at + (SELECT passkey_recovery_seconds FROM bank.setting) * interval '1 second' AS "ready_at!",
                  bank.bank_clock() AS "now!"
             FROM bank.passkey_recovery WHERE customer_id = (SELECT bank.current_customer()) AND ended_at IS NULL"#
    )
    .fetch_optional(&mut *transaction)
    .await?
    .map(|row| Recovery {
        id: row.recovery_id,
        ready_at: row.ready_at,
        approved: row.approved,
        ready: row.approved && row.ready_at <= row.now,
    });
    Ok(Passkeys { passkeys, recovery })
}

/// What a browser needs to make a passkey, and, where there is one already, to ask it for leave.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Enrolment {
    /// For `navigator.credentials.create()`.
    pub creation: serde_json::Value,
    /// For `navigator.credentials.get()`, first; none for a first passkey.
    pub leave: Option<serde_json::Value>,
}

/// Begins the making of a passkey.
///
/// # Errors
/// [`ActError::StepUp`] while a recovery is under way that is not ready.
pub async fn begin_enrolment(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
) -> Result<Enrolment, ActError> {
    let recovery = list(pool, secret).await?.recovery;
    if recovery.is_some_and(|recovery| !recovery.ready) {
        return Err(StepUpRefusal::Frozen.into());
    }
    let mut transaction = session::begin(pool, secret).await?;
    let customer = session::customer(&mut transaction).await?;
    let name = sqlx::query_scalar!(
        "SELECT display_name FROM bank.customer WHERE customer_id = (SELECT bank.current_customer())"
    )
    .fetch_one(&mut *transaction)
    .await?;
    let ids = step_up::ids(&mut transaction).await?;
    let challenge = issue(&mut transaction, "enrol").await?;
    let creation = page.creation_options(&challenge, &customer.to_string(), &name, &ids);
    let leave = if ids.is_empty() || recovery.is_some() {
        None
    } else {
        let challenge = issue(&mut transaction, "manage").await?;
        Some(page.request_options(&challenge, &ids))
    };
    transaction.commit().await?;
    Ok(Enrolment { creation, leave })
}

/// Begins a change of the passkeys: what to ask one of them.
///
/// # Errors
/// [`ActError::StepUp`] when there is none.
pub async fn begin_change(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
) -> Result<serde_json::Value, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let ids = step_up::ids(&mut transaction).await?;
    if ids.is_empty() {
        return Err(StepUpRefusal::NoPasskey.into());
    }
    let challenge = issue(&mut transaction, "manage").await?;
    transaction.commit().await?;
    Ok(page.request_options(&challenge, &ids))
}

/// A challenge with what answered it.
#[derive(Clone, Debug)]
pub struct Answered<T> {
    /// The challenge, as it was issued.
    pub challenge: [u8; 32],
    /// The answer.
    pub answer: T,
}

/// Takes a new passkey.
///
/// # Errors
/// [`ActError::StepUp`] says what stood against it, [`ActError::Invalid`] that the name cannot be taken.
pub async fn enrol(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
    name: &str,
    new: &Answered<Registration>,
    leave: Option<&Answered<Assertion>>,
) -> Result<(), ActError> {
    let name = checked_name(name)?;
    let passkey = page
        .register(&new.challenge, &new.answer)
        .map_err(|error| {
            tracing::warn!(%error, "A new passkey was not taken");
            StepUpRefusal::Refused
        })?;
    let mut transaction = session::begin(pool, secret).await?;
    session::lock_customer(&mut transaction).await?;
    if let Some(leave) = leave {
        take_leave(&mut transaction, page, leave).await?;
    }
    let outcome = sqlx::query_scalar!(
        r#"SELECT bank.enrol_passkey($1, $2, $3, $4, $5, $6, $7, $8, $9) AS "outcome!""#,
        &new.challenge[..],
        Uuid::now_v7(),
        passkey.id,
        passkey.credential,
        i64::from(passkey.counter),
        passkey.synced,
        name,
        passkey.client_data,
        leave.map(|leave| leave.challenge.to_vec())
    )
    .fetch_one(&mut *transaction)
    .await
    .map_err(already_there)?;
    finish(transaction, &outcome, "enrolled").await
}

/// Removes a passkey.
///
/// # Errors
/// As [`enrol`]; [`ActError::NotFound`] when it is not there.
pub async fn remove(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
    which: Uuid,
    leave: &Answered<Assertion>,
) -> Result<(), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::lock_customer(&mut transaction).await?;
    take_leave(&mut transaction, page, leave).await?;
    let outcome = sqlx::query_scalar!(
        r#"SELECT bank.remove_passkey($1, $2) AS "outcome!""#,
        which,
        &leave.challenge[..]
    )
    .fetch_one(&mut *transaction)
    .await?;
    finish(transaction, &outcome, "removed").await
}

/// Gives a passkey another name.
///
/// # Errors
/// As [`remove`].
pub async fn rename(
    pool: &PgPool,
    secret: &Secret,
    which: Uuid,
    name: &str,
) -> Result<(), ActError> {
    let name = checked_name(name)?;
    let mut transaction = session::begin(pool, secret).await?;
    let renamed = sqlx::query_scalar!(
        r#"SELECT bank.rename_passkey($1, $2) AS "renamed!""#,
        which,
        name
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    if renamed {
        Ok(())
    } else {
        Err(ActError::NotFound)
    }
}

/// Asks for the way back in. Nothing that wants a passkey is done until it ends.
///
/// # Errors
/// [`ActError::NotFound`] when there is nothing lost, or one is under way.
pub async fn ask_recovery(pool: &PgPool, secret: &Secret) -> Result<(), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let asked = sqlx::query_scalar!(
        r#"SELECT bank.ask_recovery($1) AS "asked!""#,
        Uuid::now_v7()
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    if asked {
        Ok(())
    } else {
        Err(ActError::NotFound)
    }
}

/// Ends the way back in without a change.
///
/// # Errors
/// [`ActError::NotFound`] when none is under way.
pub async fn cancel_recovery(pool: &PgPool, secret: &Secret) -> Result<(), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let ended = sqlx::query_scalar!(r#"SELECT bank.cancel_recovery() AS "ended!""#)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    if ended {
        Ok(())
    } else {
        Err(ActError::NotFound)
    }
}

async fn issue(
    transaction: &mut Transaction<'static, Postgres>,
    purpose: &str,
) -> Result<[u8; 32], ActError> {
    let bytes = sqlx::query_scalar!(
        r#"SELECT bank.issue_passkey_challenge($1) AS "challenge!""#,
        purpose
    )
    .fetch_one(&mut **transaction)
    .await?;
    bytes
        .try_into()
        .map_err(|_| countersign_store::action::ActionError::Corrupt("challenge").into())
}

/// Verifies the agreement of a passkey that is there, and has it recorded. These changes are rare: the signature may be
/// verified under the lock.
async fn take_leave(
    transaction: &mut Transaction<'static, Postgres>,
    page: &RelyingParty,
    leave: &Answered<Assertion>,
) -> Result<(), ActError> {
    let customer = session::customer(transaction).await?;
    let stored = step_up::load(transaction, &leave.answer.credential_hash()).await?;
    let proof = step_up::verify(
        page,
        &leave.challenge,
        customer,
        &stored,
        None,
        &leave.answer,
    )?;
    step_up::answer(transaction, &leave.challenge, &proof).await
}

async fn finish(
    transaction: Transaction<'static, Postgres>,
    outcome: &str,
    wanted: &str,
) -> Result<(), ActError> {
    match outcome {
        done if done == wanted => Ok(transaction.commit().await?),
        "not_found" => Err(ActError::NotFound),
        code => Err(StepUpRefusal::of(code).into()),
    }
}

fn checked_name(name: &str) -> Result<&str, ActError> {
    let name = name.trim();
    let fits = (1..=NAME_CHARACTERS_MAX).contains(&name.chars().count());
    if fits && !name.chars().any(countersign_domain::text::is_hidden) {
        return Ok(name);
    }
    Err(ActError::Invalid(
        "Give the passkey a name of 1 to 60 letters that can be seen.",
    ))
}

/// The same passkey twice is no failure of the bank's.
fn already_there(error: sqlx::Error) -> ActError {
    if error
        .as_database_error()
        .is_some_and(|error| error.constraint() == Some("passkey_enrolled_once"))
    {
        return ActError::Invalid("This passkey was set up before. Use another one.");
    }
    error.into()
}
