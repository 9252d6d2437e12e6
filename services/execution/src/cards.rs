//! The cards a customer sees: open ones with everything recomputed, and those that ended a short while ago.

use countersign_domain::{ActionId, ActionState, Secret};
use countersign_store::{
    action::{self, StoredAction, Which},
    session,
};
use sqlx::{PgPool, Postgres, Transaction};

use crate::{
    ActError, Card,
    aftermath::{self, Aftermath},
    draw::{Drawn, Ground, draw},
    event::{self, Detail},
    facts::Facts,
    recheck,
};

/// Makes the nonce of one showing: 32 random bytes from the caller's source.
pub type NonceSource<'a> = &'a mut (dyn FnMut() -> Secret + Send);

/// The customer's cards, newest first. Each complete one is recorded as shown, under a one-time nonce.
///
/// # Errors
/// [`ActError::SessionEnded`] when the secret opens nothing.
pub async fn open_cards(
    pool: &PgPool,
    secret: &Secret,
    nonce: NonceSource<'_>,
) -> Result<Vec<Card>, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let facts = Facts::load(&mut transaction).await?;
    let actions = action::load(&mut transaction, Which::Recent).await?;
    let mut cards = Vec::with_capacity(actions.len());
    for action in &actions {
        cards.push(show(&mut transaction, action, &facts, nonce).await?);
    }
    transaction.commit().await?;
    Ok(cards)
}

/// One card of the customer, drawn and recorded as shown like [`open_cards`] does.
///
/// # Errors
/// [`ActError::NotFound`] when it is not this customer's.
pub async fn one_card(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
    nonce: NonceSource<'_>,
) -> Result<Card, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let action = load_one(&mut transaction, which).await?;
    let facts = Facts::load(&mut transaction).await?;
    let card = show(&mut transaction, &action, &facts, nonce).await?;
    transaction.commit().await?;
    Ok(card)
}

pub(crate) async fn load_one(
    transaction: &mut Transaction<'static, Postgres>,
    which: ActionId,
) -> Result<StoredAction, ActError> {
    action::load(transaction, Which::One(which))
        .await?
        .into_iter()
        .next()
        .ok_or(ActError::NotFound)
}

/// Recomputes one action and draws it. Where it decides something the caller holds the customer's lock.
pub(crate) async fn redraw(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    facts: &Facts,
) -> Result<Drawn, ActError> {
    if action.state != ActionState::Pending {
        let aftermath = aftermath::load(transaction, action).await?;
        return Ok(draw(action, facts, None, &aftermath)?);
    }
    let (standing, input) = recheck::weigh(transaction, action, facts).await?;
    let asked_in = match &standing {
        recheck::Standing::Live { clause } | recheck::Standing::AsksAgain { clause, .. } => {
            Some(clause.sequence)
        }
        recheck::Standing::OnPanel | recheck::Standing::Unreproducible => None,
    };
    let message_hash = match asked_in {
        Some(sequence) => sqlx::query_scalar!(
            r#"SELECT encode(sha256(salt || convert_to(body, 'UTF8')), 'hex') AS "hash!" FROM bank.utterance
                WHERE customer_id = $1 AND conversation_id = $2 AND sequence = $3"#,
            action.customer.uuid(),
            action.conversation.uuid(),
            sequence
        )
        .fetch_one(&mut **transaction)
        .await?,
        None => String::new(),
    };
    let ground = Ground {
        standing: &standing,
        input: &input,
        message_hash,
    };
    Ok(draw(action, facts, Some(&ground), &Aftermath::default())?)
}

/// Draws one card and, where it is complete, records the showing.
pub(crate) async fn show(
    transaction: &mut Transaction<'static, Postgres>,
    action: &StoredAction,
    facts: &Facts,
    nonce: NonceSource<'_>,
) -> Result<Card, ActError> {
    let Drawn { mut card, record } = redraw(transaction, action, facts).await?;
    let Some(sealed) = record else {
        return Ok(card);
    };
    let first_showing = sqlx::query_scalar!(
        r#"SELECT NOT EXISTS (SELECT FROM bank.card_shown
            WHERE customer_id = $1 AND action_id = $2 AND version = $3 AND confirm_hash = $4) AS "first!""#,
        action.customer.uuid(),
        action.id.uuid(),
        action.values.version,
        &sealed.confirm_hash[..]
    )
    .fetch_one(&mut **transaction)
    .await?;
    if first_showing {
        let detail = Detail {
            confirm_hash: Some(sealed.confirm_hash),
            ..Detail::default()
        };
        event::record(
            transaction,
            "card_shown",
            action.id,
            action.values.version,
            facts.now,
            detail,
        )
        .await?;
    }
    let nonce = nonce();
    sqlx::query!(
        r#"INSERT INTO bank.card_shown (customer_id, nonce_hash, action_id, version, panel_grant_id, confirm_hash)
           VALUES ($1, $2, $3, $4, bank.current_grant(), $5)"#,
        action.customer.uuid(),
        &nonce.hash()[..],
        action.id.uuid(),
        action.values.version,
        &sealed.confirm_hash[..]
    )
    .execute(&mut **transaction)
    .await?;
    card.nonce = Some(nonce.expose().to_owned());
    Ok(card)
}
