//! Notices, and the stop: what the bank told the customer, "this was not me", freeze-all and its end.
//!
//! None of it needs the model, and the link of a notice needs no login either: it stops what leaves and can do nothing else.

use countersign_domain::{ActionId, Secret};
use countersign_store::session;
use countersign_texts::Texts;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::ActError;

/// The newest notices that the panel lists.
const LISTED_MAX: i64 = 50;

/// One notice as the panel lists it.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Its number among the customer's, from 1.
    pub number: i64,
    /// What it tells.
    pub kind: String,
    /// The button that was pressed, in the record's words.
    pub about: String,
    /// The short code of the receipt; empty where there is none.
    pub short_code: String,
    /// The request it is about.
    pub action: Option<ActionId>,
    /// When it happened.
    pub made_at: OffsetDateTime,
    /// Whether it was listed before.
    pub was_read: bool,
    /// Whether "this was not me" can still be said.
    pub can_answer: bool,
}

/// Since when outgoing payments are stopped, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// When.
    pub since: OffsetDateTime,
    /// `freeze` on the panel, `not_me` by a notice.
    pub how: String,
}

/// What became of "this was not me".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Outgoing payments are stopped now.
    Now,
    /// They were stopped already.
    Before,
    /// The notice was answered before, and what it stopped was lifted since.
    Used,
    /// It is too old to be answered.
    TooOld,
    /// There is no such notice.
    Unknown,
}

/// What became of the wish to let payments go again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfrozen {
    /// They go again.
    Now,
    /// They were not stopped.
    Before,
    /// Only a session that began after the stop, and lately, may.
    SignInAgain,
}

/// A notice in a language's words: a heading for a list or a subject, and a sentence.
pub fn words(texts: &Texts, kind: &str, about: &str, short_code: &str) -> (String, String) {
    let (heading, sentence) = match kind {
        "confirmed" => ("You confirmed something", "You confirmed: {about}."),
        "held" => (
            "The bank is waiting",
            "You confirmed: {about}. The bank waits before it does it; you can cancel it on the panel.",
        ),
        "not_sent" => (
            "Something was not sent",
            "Not done: {about}. Nothing was sent.",
        ),
        "undone" => ("A payment was undone", "Undone: {about}. Nothing was sent."),
        "login" => ("Somebody signed in", "Somebody signed in to your account."),
        "frozen" => (
            "Your payments are stopped",
            "Nothing leaves your accounts until you let payments go again.",
        ),
        "unfrozen" => ("Your payments go again", "Payments can be confirmed again."),
        "passkey_enrolled" => (
            "A passkey was added",
            "From now on a new passkey can agree to your payments.",
        ),
        "passkey_removed" => (
            "A passkey was removed",
            "One of your passkeys agrees to nothing any more.",
        ),
        "recovery_asked" => (
            "Somebody asked for a way back in",
            "Somebody said that all your passkeys are lost. Until that is over, nothing that wants a passkey is done.",
        ),
        "recovery_approved" => (
            "The bank made sure it is you",
            "When the wait is over, a new passkey can take the place of all older ones.",
        ),
        "recovery_ended" => (
            "The way back in has ended",
            "What wants a passkey is done again, with the passkeys that are listed.",
        ),
        _ => ("Something was changed", "Changed: {about}."),
    };
    let about = texts.about(about);
    let mut said = texts.with(sentence, &[("about", &about)]);
    let names_a_receipt = sentence.contains("{about}") && !short_code.is_empty();
    if names_a_receipt {
        said.push(' ');
        said.push_str(&texts.with("Receipt {code}.", &[("code", short_code)]));
    }
    (texts.say(heading).to_owned(), said)
}

/// The newest notices, newest first, each marked as read from now on.
///
/// # Errors
/// [`ActError::SessionEnded`] when the secret opens nothing.
pub async fn list(pool: &PgPool, secret: &Secret) -> Result<Vec<Notice>, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let rows = sqlx::query!(
        r#"SELECT number, kind, about, short_code, action_id, made_at, read_at IS NOT NULL AS "was_read!",
                  (not_me_at IS NULL AND not_me_until > bank.bank_clock()) AS "can_answer!"
             FROM bank.notice WHERE customer_id = (SELECT bank.current_customer()) ORDER BY number DESC LIMIT $1"#,
        LISTED_MAX
    )
    .fetch_all(&mut *transaction)
    .await?;
    sqlx::query!("UPDATE bank.notice SET read_at = bank.bank_clock() WHERE customer_id = (SELECT bank.current_customer()) AND read_at IS NULL")
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(rows
        .into_iter()
        .map(|row| Notice {
            number: row.number,
            kind: row.kind,
            about: row.about,
            short_code: row.short_code,
            action: row.action_id.map(ActionId::from_uuid),
            made_at: row.made_at,
            was_read: row.was_read,
            can_answer: row.can_answer,
        })
        .collect())
}

/// Whether outgoing payments are stopped.
///
/// # Errors
/// [`ActError::SessionEnded`] when the secret opens nothing.
pub async fn frozen(pool: &PgPool, secret: &Secret) -> Result<Option<Frozen>, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let row = sqlx::query!(
        "SELECT frozen_at, how FROM bank.payment_freeze WHERE customer_id = (SELECT bank.current_customer()) AND lifted_at IS NULL"
    )
    .fetch_optional(&mut *transaction)
    .await?;
    Ok(row.map(|row| Frozen {
        since: row.frozen_at,
        how: row.how,
    }))
}

/// Freeze-all: nothing leaves from now on. What can still be undone is undone, what is held is cancelled.
///
/// # Errors
/// See [`ActError`]; then nothing was stopped.
pub async fn freeze(pool: &PgPool, secret: &Secret) -> Result<(), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    sqlx::query_scalar!("SELECT bank.freeze_payments()")
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Lets payments go again. It undoes a precaution, so it asks for a login of its own.
///
/// # Errors
/// See [`ActError`]; then they are still stopped.
pub async fn unfreeze(pool: &PgPool, secret: &Secret) -> Result<Unfrozen, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let answer = sqlx::query_scalar!(r#"SELECT bank.unfreeze_payments() AS "answer!""#)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(match answer.as_str() {
        "unfrozen" => Unfrozen::Now,
        "not_frozen" => Unfrozen::Before,
        _ => Unfrozen::SignInAgain,
    })
}

/// "This was not me" about a notice on the panel.
///
/// # Errors
/// See [`ActError`]; then nothing was stopped.
pub async fn not_me(pool: &PgPool, secret: &Secret, number: i64) -> Result<Stopped, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let answer = sqlx::query_scalar!(r#"SELECT bank.stop_by_my_notice($1) AS "answer!""#, number)
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(stopped(&answer))
}

/// "This was not me" with the word of a notice's link: whoever has it may stop, and nothing else.
///
/// # Errors
/// See [`ActError`]; then nothing was stopped.
pub async fn not_me_by_word(pool: &PgPool, word: &Secret) -> Result<Stopped, ActError> {
    let answer = sqlx::query_scalar!(
        r#"SELECT bank.stop_by_notice($1) AS "answer!""#,
        word.expose()
    )
    .fetch_one(pool)
    .await?;
    Ok(stopped(&answer))
}

fn stopped(answer: &str) -> Stopped {
    match answer {
        "stopped" => Stopped::Now,
        "already_stopped" => Stopped::Before,
        "used" => Stopped::Used,
        "too_old" => Stopped::TooOld,
        _ => Stopped::Unknown,
    }
}

/// Tells the customer of the login that opened this session.
///
/// # Errors
/// See [`ActError`].
pub async fn note_login(pool: &PgPool, secret: &Secret) -> Result<(), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    sqlx::query_scalar!("SELECT bank.note_login()")
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}
