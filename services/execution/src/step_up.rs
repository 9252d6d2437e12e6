//! The passkey that some requests want: when, why, and what the customer's passkey answered.
//!
//! When one is due is decided in one place, `bank.step_up_due`, which the card asks here and `bank.confirm_action` asks again
//! under the lock; only the name check, which is compared here, reaches it through the record. The reasons stand among the
//! record's warnings, so that a card with other reasons is another card.

use countersign_domain::{ActionId, CustomerId, Money, record::ConfirmRecord};
use countersign_step_up::{Assertion, AssertionError, Payment, Proof, RelyingParty, StoredPasskey};
use countersign_store::action::StoredAction;
use sqlx::{Postgres, Transaction};

use crate::{
    ActError,
    card::{StepUp, Warning},
    confirm::ConfirmInput,
    facts::Facts,
    picture::Picture,
};

/// Why a step-up did not come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepUpRefusal {
    /// One is due and none was made for this very record, showing and note.
    #[error("a passkey is due")]
    Due,
    /// One is due and the customer has none.
    #[error("there is no passkey")]
    NoPasskey,
    /// The customer is getting back in; meanwhile nothing that wants a passkey is done.
    #[error("a recovery is under way")]
    Frozen,
    /// The answer came too late.
    #[error("the answer came too late")]
    Late,
    /// The answer does not count: another challenge, page, passkey, or nobody was verified.
    #[error("the answer does not count")]
    Refused,
    /// The passkey's counter went back: somebody may hold a copy.
    #[error("the passkey's counter went back")]
    Counter,
    /// A first passkey wants a login of a moment ago.
    #[error("the login is too old")]
    LoginTooOld,
    /// There are ten already.
    #[error("too many passkeys")]
    TooMany,
}

impl StepUpRefusal {
    /// The refusal behind a code of the database's. What is not known is refused like what does not count.
    pub(crate) fn of(code: &str) -> Self {
        match code {
            "step_up_due" => Self::Due,
            "step_up_frozen" => Self::Frozen,
            "step_up_late" => Self::Late,
            "step_up_counter" => Self::Counter,
            "login_too_old" => Self::LoginTooOld,
            "passkey_too_many" => Self::TooMany,
            _ => Self::Refused,
        }
    }
}

impl From<StepUpRefusal> for ActError {
    fn from(refusal: StepUpRefusal) -> Self {
        Self::StepUp(refusal)
    }
}

/// Whether a card wants a passkey, and whether there is one to ask.
pub(crate) fn of(action: &StoredAction, facts: &Facts, picture: &Picture<'_>) -> Option<StepUp> {
    if warnings(action, facts, picture).is_empty() {
        None
    } else if facts.passkeys.recovering {
        Some(StepUp::Frozen)
    } else if facts.passkeys.count == 0 {
        Some(StepUp::NotEnrolled)
    } else {
        Some(StepUp::Ready)
    }
}

/// Why a card wants a passkey, in the bank's words.
pub(crate) fn warnings(
    action: &StoredAction,
    facts: &Facts,
    picture: &Picture<'_>,
) -> Vec<Warning> {
    let reasons = facts.step_up_reasons.get(&action.id);
    let mut warnings: Vec<Warning> = reasons
        .into_iter()
        .flatten()
        .map(|reason| because(reason, action, facts))
        .collect();
    if picture.other_names() {
        warnings.push(because("passkey_name", action, facts));
    }
    warnings
}

fn because(reason: &str, action: &StoredAction, facts: &Facts) -> Warning {
    let texts = facts.texts;
    let warning = |code, english| Warning {
        code,
        text: texts.say(english).to_owned(),
    };
    match reason {
        "passkey_new_payee" => warning(
            "passkey_new_payee",
            "You confirm this with your passkey: it goes to somebody new.",
        ),
        "passkey_amount" => {
            let over = action.values.currency.and_then(|currency| {
                let amount = *facts.step_up_over.get(&currency)?;
                Some(texts.money(Money { amount, currency }))
            });
            match over {
                Some(most) => Warning {
                    code: "passkey_amount",
                    text: texts.with(
                        "You confirm this with your passkey: it is more than {most}.",
                        &[("most", &most)],
                    ),
                },
                None => warning(
                    "passkey_amount",
                    "You confirm this with your passkey: no limit is set for this.",
                ),
            }
        }
        "passkey_name" => warning(
            "passkey_name",
            "You confirm this with your passkey: the account is not in exactly this name.",
        ),
        "passkey_limit" => warning(
            "passkey_limit",
            "You confirm this with your passkey: it changes what can leave your account.",
        ),
        "passkey_unfreeze" => warning(
            "passkey_unfreeze",
            "You confirm this with your passkey: the card can be paid with again.",
        ),
        "passkey_replaced" => warning(
            "passkey_replaced",
            "You confirm this with your passkey: it took the place of an earlier request.",
        ),
        // A reason that this build has no words for still wants one.
        _ => warning(
            "passkey_other",
            "You confirm this with your passkey: the bank asks for it.",
        ),
    }
}

/// Whether more would leave under passkeys that are all new than a first payment may be.
pub(crate) fn is_over_new_passkey(
    action: &StoredAction,
    facts: &Facts,
    picture: &Picture<'_>,
) -> bool {
    if facts.passkeys.new_since.is_none() || of(action, facts, picture).is_none() {
        return false;
    }
    let first_payment = action
        .values
        .currency
        .and_then(|currency| facts.limits.get(&currency))
        .map(|limits| limits.first_payment);
    match (picture.leaving(), first_payment) {
        (Some(leaving), Some(most)) => leaving > most,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// What a browser asks the customer's passkeys, in the JSON form of the specification.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Prompt {
    /// For `navigator.credentials.get()`.
    pub options: serde_json::Value,
    /// The payment that a browser can display by itself, where it is one that it can.
    pub payment: Option<serde_json::Value>,
}

/// Issues the challenge of a showing. `None` when the card was not shown so, or its showing is used up.
pub(crate) async fn issue(
    transaction: &mut Transaction<'static, Postgres>,
    page: &RelyingParty,
    which: ActionId,
    input: &ConfirmInput,
    record: &ConfirmRecord,
) -> Result<Option<Prompt>, ActError> {
    let issued = sqlx::query_scalar!(
        "SELECT bank.issue_step_up($1, $2, $3, $4, $5)",
        which.uuid(),
        input.version,
        &input.confirm_hash[..],
        input.nonce.expose(),
        input.note
    )
    .fetch_one(&mut **transaction)
    .await?;
    let Some(challenge) = issued.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) else {
        return Ok(None);
    };
    let ids = ids(transaction).await?;
    Ok(Some(Prompt {
        options: page.request_options(&challenge, &ids),
        payment: payment(record).map(|payment| {
            serde_json::json!({
                "payeeName": payment.payee_name, "instrument": payment.instrument,
                "total": {"value": payment.value, "currency": payment.currency},
            })
        }),
    }))
}

/// The ids of the customer's passkeys.
pub(crate) async fn ids(
    transaction: &mut Transaction<'static, Postgres>,
) -> Result<Vec<Vec<u8>>, ActError> {
    Ok(sqlx::query_scalar!(
        "SELECT credential_id FROM bank.passkey WHERE customer_id = (SELECT bank.current_customer()) AND removed_at IS NULL ORDER BY created_at"
    )
    .fetch_all(&mut **transaction)
    .await?)
}

/// One of the customer's passkeys, by the hash of its id. Another customer's is not there.
pub(crate) async fn load(
    transaction: &mut Transaction<'static, Postgres>,
    credential_hash: &[u8; 32],
) -> Result<StoredPasskey, ActError> {
    let row = sqlx::query!(
        r#"SELECT credential, sign_count FROM bank.passkey
            WHERE customer_id = (SELECT bank.current_customer()) AND credential_hash = $1 AND removed_at IS NULL"#,
        &credential_hash[..]
    )
    .fetch_optional(&mut **transaction)
    .await?
    .ok_or(StepUpRefusal::Refused)?;
    Ok(StoredPasskey {
        credential: row.credential,
        counter: u32::try_from(row.sign_count).unwrap_or(u32::MAX),
    })
}

/// Verifies an assertion with the library. Pure.
pub(crate) fn verify(
    page: &RelyingParty,
    challenge: &[u8; 32],
    customer: CustomerId,
    passkey: &StoredPasskey,
    payment: Option<&Payment>,
    assertion: &Assertion,
) -> Result<Proof, ActError> {
    page.verify(
        challenge,
        &customer.to_string(),
        passkey,
        payment,
        assertion,
    )
    .map_err(|error| {
        // Which check it was is the bank's to know, and tells nobody's secret.
        tracing::warn!(%error, "A passkey's answer did not count");
        match error {
            AssertionError::CounterWentBack => StepUpRefusal::Counter.into(),
            AssertionError::Stored(cause) => ActError::Internal(Box::new(cause)),
            _ => StepUpRefusal::Refused.into(),
        }
    })
}

/// Hands the verified answer to the database, which reads in its bytes what it can read.
pub(crate) async fn answer(
    transaction: &mut Transaction<'static, Postgres>,
    challenge: &[u8; 32],
    proof: &Proof,
) -> Result<(), ActError> {
    let answered = sqlx::query_scalar!(
        r#"SELECT bank.answer_step_up($1, $2, $3, $4, $5) AS "answered!""#,
        &challenge[..],
        &proof.credential_hash[..],
        proof.client_data,
        proof.authenticator_data,
        proof.signature
    )
    .fetch_one(&mut **transaction)
    .await?;
    match answered.as_str() {
        "answered" => Ok(()),
        code => Err(StepUpRefusal::of(code).into()),
    }
}

/// The payment that a browser can display by itself: one line to one payee.
pub(crate) fn payment(record: &ConfirmRecord) -> Option<Payment> {
    let [line] = record.lines.as_slice() else {
        return None;
    };
    if record.kind != "transfer" {
        return None;
    }
    // The row by which the card names the account the money leaves, in the card's own language.
    let from = countersign_texts::of(&record.locale).say("From");
    let from = record.display.iter().rfind(|row| row.label == from)?;
    Some(Payment {
        payee_name: line.payee_name.clone(),
        value: line.amount.clone(),
        currency: record.currency.clone()?,
        instrument: from.value.clone(),
    })
}
