//! Release: what was held runs exactly as it was confirmed, or not at all.
//!
//! Nobody confirms a second time here. The record is the one the customer confirmed; under the lock it is compared with what the
//! bank would show now, and where a value or a rule is another, or the customer took it back, the action is cancelled.

use countersign_domain::{
    ActionId, ActionState, CustomerId, Secret, TransferId, record::ConfirmRecord,
};
use countersign_store::{
    action::{ActionError, StoredAction},
    session,
};
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

use crate::{
    ActError, LogMemory,
    cards::load_one,
    draw, event,
    facts::Facts,
    hold,
    picture::Picture,
    recheck::{self, Standing},
};

/// What became of a hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// It ran.
    Executed,
    /// It goes on waiting, or was over before.
    Unchanged,
    /// Its time was over; nothing was sent.
    Expired,
    /// It was cancelled, with the code that says why.
    Cancelled(String),
}

/// Looks at a held action and lets it go where its time has come.
///
/// `secret` opens a session of the customer that the caller made for this and nothing else.
///
/// # Errors
/// See [`ActError`]; then nothing was changed.
pub async fn release(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    log: &LogMemory,
) -> Result<Released, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let customer = session::lock_customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    if action.state != ActionState::Held {
        return Ok(Released::Unchanged);
    }
    let kept = sqlx::query!(
        "SELECT reason, confirm_hash, executed_hash, record FROM bank.hold WHERE customer_id = $1 AND action_id = $2",
        customer.uuid(),
        which.uuid()
    )
    .fetch_one(&mut *transaction)
    .await?;
    let corrupt = |what| ActError::from(ActionError::Corrupt(what));
    let record: ConfirmRecord =
        serde_json::from_slice(&kept.record).map_err(|_| corrupt("record"))?;
    let hashes = (
        kept.confirm_hash
            .as_slice()
            .try_into()
            .map_err(|_| corrupt("confirm hash"))?,
        kept.executed_hash
            .as_slice()
            .try_into()
            .map_err(|_| corrupt("executed hash"))?,
    );
    let mut facts = Facts::load(&mut transaction).await?;
    // What was confirmed is compared in the language in which it was.
    facts.texts = countersign_texts::of(&record.locale);
    let awaits_name = kept.reason == hold::Reason::NameUnavailable.text();
    let refusal = refusal(&mut transaction, &action, &facts, &record, awaits_name).await?;
    let new_ids: Vec<Uuid> = (0..action.values.lines.len().max(1))
        .map(|_| Uuid::now_v7())
        .collect();
    let payload = executed(
        &mut transaction,
        &record,
        customer,
        &action,
        hashes,
        &new_ids,
    )
    .await?;
    let (log_size, log_root) = log.compared();
    let outcome = sqlx::query_scalar!(
        r#"SELECT CASE WHEN bank.log_standing($7, $8) IN ('stands', 'accepted')
             THEN bank.release_hold($1, $2, $3, $4, $5, $6) ELSE 'older_copy' END AS "outcome!""#,
        which.uuid(),
        &hashes.0[..],
        hold::is_met(&action, &facts),
        refusal,
        &new_ids,
        payload,
        log_size,
        log_root
    )
    .fetch_one(&mut *transaction)
    .await?;
    if outcome == "older_copy" {
        return Err(log.found_older());
    }
    transaction.commit().await?;
    Ok(match outcome.as_str() {
        "executed" => Released::Executed,
        "expired" => Released::Expired,
        "not_yet" | "not_held" => Released::Unchanged,
        code => Released::Cancelled(code.to_owned()),
    })
}

async fn executed(
    transaction: &mut Transaction<'static, Postgres>,
    record: &ConfirmRecord,
    customer: CustomerId,
    action: &StoredAction,
    hashes: ([u8; 32], [u8; 32]),
    new_ids: &[Uuid],
) -> Result<Vec<u8>, ActError> {
    let transfers: Vec<TransferId> = new_ids.iter().copied().map(TransferId::from_uuid).collect();
    let now = session::bank_clock(transaction).await?;
    Ok(event::confirmed(
        record,
        customer,
        action.id,
        action.kind,
        now,
        hashes,
        // The passkey that agreed stands in the event of the hold.
        (&transfers, None),
    )?)
}

/// Why what was confirmed does not run any more, in a code; nothing while it does.
async fn refusal(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    facts: &Facts,
    record: &ConfirmRecord,
    awaits_name: bool,
) -> Result<Option<&'static str>, ActError> {
    let (standing, _) = recheck::weigh(transaction, action, facts).await?;
    match standing {
        Standing::Live { .. } | Standing::OnPanel => {}
        Standing::AsksAgain { .. } => return Ok(Some("taken_back")),
        Standing::Unreproducible => return Ok(Some("changed")),
    }
    let now = draw::record_now(action, facts, record.grounding.clone());
    if !is_the_same(record, &now, awaits_name) {
        return Ok(Some("changed"));
    }
    // The check answered, and not with the name that was paid.
    if awaits_name && hold::is_answered_otherwise(action, facts) {
        return Ok(Some("name_check_answered"));
    }
    Ok(Picture::new(action, facts).refusal())
}

/// Whether values and rules are the ones that were confirmed. What the bank says beside them (balances in a warning, whether a
/// payee still counts as new) may have moved on; the answer of a name check only where the hold waited for it.
fn is_the_same(confirmed: &ConfirmRecord, now: &ConfirmRecord, awaits_name: bool) -> bool {
    let mut now = now.clone();
    now.warnings.clone_from(&confirmed.warnings);
    now.display.clone_from(&confirmed.display);
    now.locale.clone_from(&confirmed.locale);
    if awaits_name && now.lines.len() == confirmed.lines.len() {
        for (line, then) in now.lines.iter_mut().zip(&confirmed.lines) {
            line.name_check.clone_from(&then.name_check);
        }
    }
    now == *confirmed
}
