//! Changing a limit: what the customer typed on the panel lowers it at once, or becomes a card that raises it.

use countersign_domain::{ActionId, Currency, MinorUnits, Money, Secret};
use countersign_store::{action::StoredAction, session};
use countersign_texts::Texts;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{ActError, facts::Facts, hold};

/// Which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitName {
    /// What one payment may be.
    PerTransfer,
    /// What may leave in a day.
    PerDay,
    /// What may wait at one time.
    PendingTotal,
    /// What may go to new payees, all of them together, while they are new.
    FirstPayment,
    /// Above what a payment wants the passkey.
    StepUpOver,
    /// How long a payment can be undone: longer is more careful.
    UndoSeconds,
}

impl LimitName {
    /// Every limit, in the order the page shows them.
    pub const ALL: [Self; 6] = [
        Self::PerTransfer,
        Self::PerDay,
        Self::PendingTotal,
        Self::FirstPayment,
        Self::StepUpOver,
        Self::UndoSeconds,
    ];

    /// The name in the database and in forms.
    pub const fn text(self) -> &'static str {
        match self {
            Self::PerTransfer => "per_transfer",
            Self::PerDay => "per_day",
            Self::PendingTotal => "pending_total",
            Self::FirstPayment => "first_payment",
            Self::StepUpOver => "step_up_over",
            Self::UndoSeconds => "undo_seconds",
        }
    }

    /// What it is, for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::PerTransfer => "One payment",
            Self::PerDay => "A day",
            Self::PendingTotal => "Waiting at one time",
            Self::FirstPayment => "First payment to somebody new",
            Self::StepUpOver => "Payments without a passkey",
            Self::UndoSeconds => "Time to undo",
        }
    }

    /// Reads a name.
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.text() == text)
    }
}

/// What became of a wish to change a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It is lower now.
    Lowered,
    /// A card waits for the customer's Confirm.
    Asked,
    /// It was that already; a raise that waited was stopped.
    Same,
    /// Higher than the bank lets it be.
    TooHigh,
    /// The customer has no such limit.
    NoSuchLimit,
}

/// A raise that was confirmed and cools off.
#[derive(Clone, Debug)]
pub struct Cooling {
    /// Its request.
    pub action: ActionId,
    /// Which limit, for people.
    pub label: &'static str,
    /// What it becomes.
    pub value: String,
    /// When.
    pub at: OffsetDateTime,
}

/// Changes a limit as the customer typed it.
///
/// # Errors
/// [`ActError::Invalid`] with a sentence where the value cannot be taken.
pub async fn change(
    pool: &PgPool,
    secret: &Secret,
    name: LimitName,
    currency: Option<Currency>,
    value: &str,
) -> Result<Changed, ActError> {
    let value = match (name, currency) {
        (LimitName::UndoSeconds, _) => value
            .trim()
            .parse::<u16>()
            .map(i64::from)
            .map_err(|_| ActError::Invalid("Type whole seconds, such as 20."))?,
        (_, Some(currency)) => Money::parse_wire(value.trim(), currency)
            .map(|money| money.amount.count())
            .map_err(|_| {
                ActError::Invalid("Type an amount such as 20.00, with a point and without spaces.")
            })?,
        (_, None) => return Err(ActError::Invalid("Choose a limit.")),
    };
    let mut transaction = session::begin(pool, secret).await?;
    let answer = sqlx::query_scalar!(
        r#"SELECT bank.change_limit($1, $2, $3, $4, $5) AS "answer!""#,
        name.text(),
        currency
            .filter(|_| name != LimitName::UndoSeconds)
            .map_or("", Currency::code),
        value,
        Uuid::now_v7(),
        countersign_provenance::VERSION
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(match answer.as_str() {
        "lowered" => Changed::Lowered,
        "asked" => Changed::Asked,
        "same" => Changed::Same,
        "too_high" => Changed::TooHigh,
        _ => Changed::NoSuchLimit,
    })
}

/// Stops a raise that cools off.
///
/// # Errors
/// See [`ActError`].
pub async fn stop(pool: &PgPool, secret: &Secret, which: ActionId) -> Result<(), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    sqlx::query_scalar!("SELECT bank.stop_limit_change($1)", which.uuid())
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// The raises that cool off, in the customer's language, and how long a payment can be undone now, in seconds.
///
/// # Errors
/// See [`ActError`].
pub async fn cooling(
    pool: &PgPool,
    secret: &Secret,
    texts: &Texts,
) -> Result<(Vec<Cooling>, i32), ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    session::customer(&mut transaction).await?;
    let undo = sqlx::query_scalar!(r#"SELECT bank.my_undo_seconds() AS "seconds!""#)
        .fetch_one(&mut *transaction)
        .await?;
    let rows = sqlx::query!(
        r#"SELECT action_id, limit_name, currency, value, effective_at FROM bank.limit_change
            WHERE customer_id = (SELECT bank.current_customer()) AND ended_at IS NULL ORDER BY effective_at, action_id"#
    )
    .fetch_all(&mut *transaction)
    .await?;
    let cooling = rows
        .into_iter()
        .filter_map(|row| {
            let name = LimitName::of(&row.limit_name)?;
            Some(Cooling {
                action: ActionId::from_uuid(row.action_id),
                label: name.label(),
                value: shown(texts, name, row.currency.parse().ok(), row.value)?,
                at: row.effective_at,
            })
        })
        .collect();
    Ok((cooling, undo))
}

/// A limit's value for people.
fn shown(texts: &Texts, name: LimitName, currency: Option<Currency>, value: i64) -> Option<String> {
    if name == LimitName::UndoSeconds {
        return Some(texts.with("{count} seconds", &[("count", &value.to_string())]));
    }
    let amount = MinorUnits::new(value)?;
    let currency = currency?;
    Some(texts.money(Money { amount, currency }))
}

/// Which limit a request raises, from what, to what.
fn raise(texts: &Texts, action: &StoredAction) -> Option<(LimitName, String, String)> {
    let typed = |key: &str| {
        action
            .values
            .typed
            .get(key)
            .and_then(serde_json::Value::as_str)
    };
    let name = LimitName::of(typed("limit")?)?;
    let value = |key: &str| {
        shown(
            texts,
            name,
            action.values.currency,
            typed(key)?.parse().ok()?,
        )
    };
    Some((name, value("limit_before")?, value("limit_value")?))
}

/// What the button of a card says.
pub(crate) fn button(texts: &Texts, action: &StoredAction) -> String {
    match raise(texts, action) {
        Some((LimitName::UndoSeconds, _, to)) => {
            texts.with("Shorten my time to undo to {value}", &[("value", &to)])
        }
        Some((LimitName::StepUpOver, _, to)) => {
            texts.with("Ask for my passkey only above {value}", &[("value", &to)])
        }
        Some((_, _, to)) => texts.with("Raise my limit to {value}", &[("value", &to)]),
        None => texts.say("Raise a limit").to_owned(),
    }
}

/// The values of a card, by the words it shows them under.
pub(crate) fn terms(action: &StoredAction, facts: &Facts) -> Vec<(&'static str, String)> {
    let texts = facts.texts;
    raise(texts, action).map_or_else(Vec::new, |(name, from, to)| {
        let time = hold::hours(texts, facts.limit_cooling_seconds);
        vec![
            ("Limit", texts.say(name.label()).to_owned()),
            ("Now", from),
            ("Then", to),
            (
                "Takes effect",
                texts.with("{time} after your press", &[("time", &time)]),
            ),
        ]
    })
}
