//! Confirm: the one way in to the function that makes a request take effect.

use countersign_domain::{
    ActionId, ActionKind, Secret, TransferId,
    lifecycle::ActionAct,
    record::{challenge, executed_hash},
    text::{NoteError, check_note},
};
use countersign_step_up::{Assertion, Proof, RelyingParty};
use countersign_store::{action::StoredAction, session};
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

use crate::{
    ActError, Card, LogMemory, StepUpRefusal, aftermath,
    card::{CardHold, StepUp},
    cards::{NonceSource, load_one, redraw, show},
    draw::SealedRecord,
    event,
    facts::Facts,
    hold,
    receipt::short_code,
    step_up::{self, Prompt},
    wording,
};

/// What a Confirm carries.
#[derive(Clone, Debug)]
pub struct ConfirmInput {
    /// The version of the card that was displayed.
    pub version: i32,
    /// H of the record that was displayed.
    pub confirm_hash: [u8; 32],
    /// The one-time nonce of that showing.
    pub nonce: Secret,
    /// The customer's note for the payee; empty for none.
    pub note: String,
    /// What a passkey signed, where the card wants one.
    pub assertion: Option<Assertion>,
}

/// What a press is answered with before it is confirmed.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The challenge of this record, showing and note.
    pub challenge: [u8; 32],
    /// What the browser has to ask a passkey; none where the card wants none.
    pub step_up: Option<Prompt>,
}

/// The answer to a Confirm, the same however often it is asked.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Confirmed {
    /// `confirmed`, or `held` where the bank waits.
    pub outcome: &'static str,
    /// Where the receipt stands; absent while the bank waits.
    pub receipt: Option<String>,
    /// The code by which a person finds it again, the same in chat and panel.
    pub short_code: String,
    /// The balance of the account the money left, after it.
    pub balance: Option<String>,
    /// One sentence that says what happened.
    pub message: String,
    /// Until when it can be undone, RFC 3339.
    pub undo_until: Option<String>,
    /// Why the bank waits, where it does.
    pub hold: Option<CardHold>,
}

/// Checks the note and answers with the challenge a passkey signs: bound to the record, the showing and the note. Where the card
/// wants a passkey, the challenge is now issued, for a minute. Nothing else changes.
///
/// # Errors
/// [`ActError::StaleCard`] with the card as it is now when the record is not the one displayed, [`ActError::StepUp`] when a
/// passkey is wanted and none can be asked.
pub async fn prepare(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
    which: ActionId,
    input: &ConfirmInput,
    nonce: NonceSource<'_>,
    log: &LogMemory,
) -> Result<Prepared, ActError> {
    log.refuse_if_older()?;
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    check_note_for(&action, &input.note)?;
    let facts = Facts::load(&mut transaction).await?;
    let drawn = redraw(&mut transaction, &action, &facts).await?;
    let sealed = match drawn.record {
        Some(sealed) if same_record(&sealed, &action, input) => sealed,
        _ => return Err(stale(transaction, &action, &facts, nonce).await?),
    };
    let challenge = challenge(
        &sealed.confirm_hash,
        input.nonce.expose().as_bytes(),
        &input.note,
    );
    let step_up = match drawn.card.step_up {
        None => None,
        Some(StepUp::Ready) => {
            match step_up::issue(&mut transaction, page, which, input, &sealed.record).await? {
                Some(prompt) => Some(prompt),
                None => return Err(stale(transaction, &action, &facts, nonce).await?),
            }
        }
        Some(StepUp::NotEnrolled) => return Err(StepUpRefusal::NoPasskey.into()),
        Some(StepUp::Frozen) => return Err(StepUpRefusal::Frozen.into()),
    };
    transaction.commit().await?;
    Ok(Prepared { challenge, step_up })
}

/// Confirms an action.
///
/// Under the customer's lock the record is rebuilt from stored values and the customer's words; only when its hash is the one
/// the card displayed is the execution function called. Asked again after success with the same H, the stored answer comes back.
///
/// # Errors
/// See [`ActError`]. Nothing has happened, unless the error says that the action is now expired or refused.
pub async fn confirm(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
    which: ActionId,
    input: &ConfirmInput,
    nonce: NonceSource<'_>,
    log: &LogMemory,
) -> Result<Confirmed, ActError> {
    // Signatures are slow; they are verified before anybody's lock is held.
    let proof = match &input.assertion {
        Some(assertion) => verify_first(pool, secret, page, which, input, assertion).await?,
        None => None,
    };
    let mut transaction = session::begin(pool, secret).await?;
    let customer = session::lock_customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    if let Some(answer) = stored_answer(&mut transaction, &action, input).await? {
        return Ok(answer);
    }
    check_note_for(&action, &input.note)?;
    let facts = Facts::load(&mut transaction).await?;
    // The sweeper may have been there first: too late is too late, whoever wrote it down.
    if action.state == countersign_domain::ActionState::Expired {
        return Err(ActError::Expired);
    }
    // What is held was pressed before: only what can still be held or run is open to a press.
    if action.state.after(ActionAct::Hold).is_none() {
        let card = show(&mut transaction, &action, &facts, nonce).await?;
        return Err(ActError::NotOpen(Box::new(card)));
    }
    let sealed = match redraw(&mut transaction, &action, &facts).await?.record {
        Some(sealed) if same_record(&sealed, &action, input) => sealed,
        // An action past its time has no record; the function below is the one that marks it.
        _ if action.expires_at <= facts.now => return expire(transaction, which).await,
        _ => return Err(stale(transaction, &action, &facts, nonce).await?),
    };

    if let Some(proof) = &proof {
        step_up::answer(
            &mut transaction,
            &challenge(
                &sealed.confirm_hash,
                input.nonce.expose().as_bytes(),
                &input.note,
            ),
            proof,
        )
        .await?;
    }
    let executed = executed_hash(&sealed.confirm_hash, &input.note);
    let new_ids: Vec<Uuid> = (0..action.values.lines.len().max(1))
        .map(|_| Uuid::now_v7())
        .collect();
    let transfers: Vec<TransferId> = new_ids.iter().copied().map(TransferId::from_uuid).collect();
    let now = session::bank_clock(&mut transaction).await?;
    let hashes = (sealed.confirm_hash, executed);
    let hold = hold::reason(&action, &facts).map(hold::Reason::text);
    let payload = match hold {
        Some(reason) => event::held(
            &sealed.record,
            customer,
            (action.id, action.kind),
            now,
            hashes,
            (reason, proof.as_ref()),
        )?,
        None => event::confirmed(
            &sealed.record,
            customer,
            action.id,
            action.kind,
            now,
            hashes,
            (&transfers, proof.as_ref()),
        )?,
    };
    let (log_size, log_root) = log.compared();
    // Compared where it runs: a connection may have come to another server since the last look.
    let outcome = sqlx::query_scalar!(
        r#"SELECT CASE WHEN bank.log_standing($11, $12) IN ('stands', 'accepted')
             THEN bank.confirm_action($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ELSE 'older_copy' END AS "outcome!""#,
        which.uuid(),
        input.version,
        input.nonce.expose(),
        &sealed.confirm_hash[..],
        &executed[..],
        input.note,
        sealed.bytes,
        &new_ids,
        payload,
        hold,
        log_size,
        log_root
    )
    .fetch_one(&mut *transaction)
    .await?;
    match outcome.as_str() {
        "executed" | "already_executed" | "held" | "already_held" => {
            let action = load_one(&mut transaction, which).await?;
            let answer = answer(&mut transaction, &action, &executed).await?;
            transaction.commit().await?;
            Ok(answer)
        }
        "expired" => {
            transaction.commit().await?;
            Err(ActError::Expired)
        }
        "not_found" => Err(ActError::NotFound),
        "older_copy" => Err(log.found_older()),
        "step_up_due" | "step_up_frozen" => Err(StepUpRefusal::of(&outcome).into()),
        "stale_card" | "not_open" | "frozen" => {
            Err(stale(transaction, &action, &facts, nonce).await?)
        }
        refusal => {
            let refusal = refusal.to_owned();
            transaction.commit().await?;
            Err(ActError::Refused(refusal))
        }
    }
}

/// Verifies what a passkey signed for an action that has not been executed yet; one that has been answers as before.
async fn verify_first(
    pool: &PgPool,
    secret: &Secret,
    page: &RelyingParty,
    which: ActionId,
    input: &ConfirmInput,
    assertion: &Assertion,
) -> Result<Option<Proof>, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let customer = session::customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    if action.state != countersign_domain::ActionState::Pending {
        return Ok(None);
    }
    let facts = Facts::load(&mut transaction).await?;
    let record = redraw(&mut transaction, &action, &facts).await?.record;
    let Some(sealed) = record.filter(|sealed| same_record(sealed, &action, input)) else {
        return Ok(None);
    };
    let challenge = challenge(
        &sealed.confirm_hash,
        input.nonce.expose().as_bytes(),
        &input.note,
    );
    let passkey = step_up::load(&mut transaction, &assertion.credential_hash()).await?;
    transaction.rollback().await?;
    let payment = step_up::payment(&sealed.record);
    step_up::verify(
        page,
        &challenge,
        customer,
        &passkey,
        payment.as_ref(),
        assertion,
    )
    .map(Some)
}

fn same_record(sealed: &SealedRecord, action: &StoredAction, input: &ConfirmInput) -> bool {
    action.values.version == input.version && sealed.confirm_hash == input.confirm_hash
}

fn check_note_for(action: &StoredAction, note: &str) -> Result<(), ActError> {
    if !note.is_empty() && action.kind != ActionKind::Transfer {
        return Err(ActError::Invalid("A note goes with a transfer only."));
    }
    check_note(note).map_err(|error| match error {
        NoteError::TooLong => ActError::Invalid("The note is longer than 200 characters."),
        NoteError::Character => {
            ActError::Invalid("The note holds a line break or a character that cannot be seen.")
        }
    })
}

/// Marks an action whose time is over, by the same function that would have run it.
async fn expire(
    mut transaction: Transaction<'static, Postgres>,
    which: ActionId,
) -> Result<Confirmed, ActError> {
    let moved = sqlx::query!(
        r#"UPDATE bank.pending_action SET state = 'expired', reason = 'expired'
            WHERE customer_id = (SELECT bank.current_customer()) AND action_id = $1 AND state = 'pending' AND expires_at <= bank.bank_clock()
            RETURNING current_version"#,
        which.uuid()
    )
    .fetch_optional(&mut *transaction)
    .await?;
    if let Some(row) = moved {
        let now = session::bank_clock(&mut transaction).await?;
        event::record(
            &mut transaction,
            "expired",
            which,
            row.current_version,
            now,
            event::Detail::default(),
        )
        .await?;
        transaction.commit().await?;
    }
    Err(ActError::Expired)
}

/// The card as it is now, for somebody who acted on an older picture.
async fn stale(
    mut transaction: Transaction<'static, Postgres>,
    action: &StoredAction,
    facts: &Facts,
    nonce: NonceSource<'_>,
) -> Result<ActError, ActError> {
    let card: Card = show(&mut transaction, action, facts, nonce).await?;
    transaction.commit().await?;
    Ok(
        if action.state == countersign_domain::ActionState::Pending {
            ActError::StaleCard(Box::new(card))
        } else {
            ActError::NotOpen(Box::new(card))
        },
    )
}

/// The answer that was given before, when the same record was confirmed before.
async fn stored_answer(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    input: &ConfirmInput,
) -> Result<Option<Confirmed>, ActError> {
    let done = sqlx::query!(
        r#"SELECT confirm_hash AS "confirm_hash!", executed_hash AS "executed_hash!" FROM bank.execution
            WHERE customer_id = $1 AND action_id = $2
           UNION ALL
           SELECT h.confirm_hash, h.executed_hash FROM bank.hold h WHERE h.customer_id = $1 AND h.action_id = $2 AND $3"#,
        action.customer.uuid(),
        action.id.uuid(),
        action.state == countersign_domain::ActionState::Held
    )
    .fetch_optional(&mut **transaction)
    .await?;
    match done {
        Some(row) if row.confirm_hash == input.confirm_hash => {
            let executed: [u8; 32] = row
                .executed_hash
                .try_into()
                .map_err(|_| countersign_store::action::ActionError::Corrupt("executed hash"))?;
            Ok(Some(answer(transaction, action, &executed).await?))
        }
        _ => Ok(None),
    }
}

async fn answer(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    executed: &[u8; 32],
) -> Result<Confirmed, ActError> {
    let facts = Facts::load(transaction).await?;
    let aftermath = aftermath::load(transaction, action).await?;
    let hold = aftermath
        .hold
        .as_ref()
        .map(|hold| hold::shown(facts.texts, hold));
    let account = action
        .values
        .from_account
        .and_then(|account| facts.account(account));
    let moves_money = matches!(action.kind, ActionKind::Transfer | ActionKind::Refund);
    let total = action
        .values
        .lines
        .iter()
        .filter_map(|line| line.amount)
        .try_fold(countersign_domain::MinorUnits::ZERO, |sum, amount| {
            sum.checked_add(amount)
        })
        .and_then(|amount| {
            action
                .values
                .currency
                .map(|currency| countersign_domain::Money { amount, currency })
        });
    Ok(Confirmed {
        outcome: if hold.is_some() { "held" } else { "confirmed" },
        receipt: hold.is_none().then(|| format!("/receipts/{}", action.id)),
        short_code: short_code(executed),
        balance: account
            .filter(|_| moves_money && hold.is_none())
            .map(|account| {
                facts.texts.money(countersign_domain::Money {
                    amount: account.balance,
                    currency: account.currency,
                })
            }),
        message: match &hold {
            Some(hold) => hold.text.clone(),
            None => wording::done(
                facts.texts,
                action.kind,
                total,
                aftermath.undo_until.is_some(),
                aftermath.undone_at.is_some(),
            ),
        },
        undo_until: aftermath.undo_until.map(event::timestamp),
        hold,
    })
}
