//! What a person of the bank decides at the running bank: which held payments go, who is let back in,
//! and whether an older copy of the database is the bank's record from now on.
//!
//! In production an operator runs the same functions in a login of their own that is in `cs_operator`; then the database
//! takes the name from the login. Here the bank's owner says in whose name, as everywhere in the demo.

use anyhow::{Context, bail, ensure};
use sqlx::{PgConnection, Row};

/// What an operator wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// To see what waits.
    List,
    /// To let a held payment go (`act_…`), a customer back in (`rec_…`), or to accept that the database is an older copy (`gap_…`).
    Allow {
        /// The operator's name.
        operator: String,
        /// Its id as the list shows it.
        which: String,
    },
}

/// Does it and answers in a sentence, or in a line for each thing that waits.
///
/// # Errors
/// When the id is none, nothing waits under it, or the database says no.
pub async fn decide(admin: &mut PgConnection, decision: &Decision) -> anyhow::Result<String> {
    match decision {
        Decision::List => list(admin).await,
        Decision::Allow { operator, which } => allow(admin, operator, which).await,
    }
}

async fn list(admin: &mut PgConnection) -> anyhow::Result<String> {
    let rows = sqlx::query(
        "SELECT w.what, replace(w.id::text, '-', '') AS id, w.why, w.about, to_char(w.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS since, 
                coalesce(c.display_name, 'the bank') AS display_name
           FROM bank.waiting_for_operator() w LEFT JOIN bank.customer c USING (customer_id) LIMIT 40",
    )
    .fetch_all(admin)
    .await
    .context("list what waits for an operator")?;
    if rows.is_empty() {
        return Ok("Nothing waits for an operator.".to_owned());
    }
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let prefix = match row.get::<String, _>("what").as_str() {
                "hold" => "act",
                "gap" => "gap",
                _ => "rec",
            };
            format!(
                "{prefix}_{}  {} UTC  {}  {}  {}",
                row.get::<String, _>("id"),
                row.get::<String, _>("since"),
                row.get::<String, _>("display_name"),
                row.get::<String, _>("why"),
                row.get::<String, _>("about"),
            )
        })
        .collect();
    Ok(lines.join("\n"))
}

async fn allow(admin: &mut PgConnection, operator: &str, which: &str) -> anyhow::Result<String> {
    let (kind, id) = which
        .split_once('_')
        .context("an id is act_…, rec_… or gap_…, as `cargo xtask operator` lists it")?;
    let (statement, done) = match kind {
        "act" => (
            "SELECT coalesce(bool_or(bank.allow_hold(customer_id, id, $2)), false)
               FROM bank.waiting_for_operator() WHERE what = 'hold' AND replace(id::text, '-', '') = $1",
            "Allowed: it goes in a moment, if nothing else stands against it.",
        ),
        "rec" => (
            "SELECT coalesce(bool_or(bank.approve_recovery(customer_id, id, $2)), false)
               FROM bank.waiting_for_operator() WHERE what = 'recovery' AND replace(id::text, '-', '') = $1",
            "Approved: the customer can set up a new passkey when the wait is over.",
        ),
        "gap" => (
            "SELECT coalesce(bool_or(bank.accept_gap(id, $2)), false)
               FROM bank.waiting_for_operator() WHERE what = 'gap' AND replace(id::text, '-', '') = $1",
            "Accepted, and written into the log: what this database holds is the bank's record. Payments go on.",
        ),
        _ => bail!("an id is act_…, rec_… or gap_…, as `cargo xtask operator` lists it"),
    };
    let found: bool = sqlx::query_scalar(statement)
        .bind(id)
        .bind(operator)
        .fetch_one(admin)
        .await
        .context("decide")?;
    ensure!(
        found,
        "nothing waits under {which}; `cargo xtask operator` lists what does"
    );
    Ok(done.to_owned())
}
