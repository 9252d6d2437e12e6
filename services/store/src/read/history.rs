//! The customer's own history, filtered: what the panel lists and hands out as a statement. Undone payments stand in it.

use countersign_domain::{AccountId, Money, TransferId};
use sqlx::PgConnection;
use time::{Date, OffsetDateTime};

use super::{ReadError, amount, currency};

/// Which movements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of one account, or of all.
    pub account: Option<AccountId>,
    /// Only in, only out, or both.
    pub incoming: Option<bool>,
    /// From this day on, by the bank's calendar.
    pub from: Option<Date>,
    /// Up to this day, with it.
    pub to: Option<Date>,
    /// A part of the other side's name or of the reference, in any case of the letters a to z; empty for all.
    pub text: String,
}

/// One movement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// Its id.
    pub id: TransferId,
    /// The account it touched.
    pub account: AccountId,
    /// The day, by the bank's calendar.
    pub day: Date,
    /// What kind of movement (`card_payment`, `payment_in`, …).
    pub kind: String,
    /// Whether money came in.
    pub incoming: bool,
    /// How much.
    pub amount: Money,
    /// Who is on the other side, as they call themselves.
    pub counterparty: String,
    /// Their account, where the bank knows it.
    pub counterparty_iban: Option<String>,
    /// What was written with it.
    pub reference: String,
    /// Whether the money is still on its way.
    pub on_its_way: bool,
    /// Until when it can be undone; nothing once it cannot.
    pub undo_until: Option<OffsetDateTime>,
    /// Whether it was undone: then nothing moved in the end.
    pub undone: bool,
}

/// A page of the history, newest first, after a movement already seen or from the newest. `None` where `after` is none of theirs.
///
/// # Errors
/// When the database fails or holds what its schema forbids.
pub async fn page(
    connection: &mut PgConnection,
    filter: &Filter,
    after: Option<TransferId>,
    length: i64,
) -> Result<Option<Vec<Movement>>, ReadError> {
    let position = match after {
        None => None,
        Some(after) => {
            let seen = sqlx::query_scalar!(
                "SELECT created_at FROM bank.transfer WHERE customer_id = (SELECT bank.current_customer()) AND transfer_id = $1",
                after.uuid()
            )
            .fetch_optional(&mut *connection)
            .await?;
            match seen {
                None => return Ok(None),
                Some(seen) => Some((seen, after.uuid())),
            }
        }
    };
    let (position_time, position_id) = position.unzip();
    sqlx::query!(
        r#"SELECT t.transfer_id, t.account_id, t.kind, t.state, t.amount_minor_units, t.currency, t.counterparty_name, t.counterparty_iban,
                  t.reference, (t.created_at AT TIME ZONE s.time_zone)::date AS "day!",
                  CASE WHEN t.state = 'reserved' AND t.leaving_at IS NULL AND t.post_after > bank.bank_clock() THEN t.post_after END AS undo_until
             FROM bank.transfer t, bank.setting s
            WHERE t.customer_id = (SELECT bank.current_customer()) AND t.kind <> 'opening'
              AND ($1::uuid IS NULL OR t.account_id = $1)
              AND ($2::boolean IS NULL OR (t.kind = 'payment_in' OR t.kind = 'own_in' OR t.kind = 'interest') = $2)
              AND ($3::date IS NULL OR t.created_at >= $3::date::timestamp AT TIME ZONE s.time_zone)
              AND ($4::date IS NULL OR t.created_at < ($4::date + 1)::timestamp AT TIME ZONE s.time_zone)
              AND ($5 = '' OR position(lower($5) IN lower(t.counterparty_name)) > 0 OR position(lower($5) IN lower(t.reference)) > 0)
              AND ($6::timestamptz IS NULL OR (t.created_at, t.transfer_id) < ($6, $7::uuid))
            ORDER BY t.created_at DESC, t.transfer_id DESC LIMIT $8"#,
        filter.account.map(AccountId::uuid),
        filter.incoming,
        filter.from,
        filter.to,
        filter.text,
        position_time,
        position_id,
        length
    )
    .fetch_all(connection)
    .await?
    .into_iter()
    .map(|row| {
        Ok(Movement {
            id: TransferId::from_uuid(row.transfer_id),
            account: AccountId::from_uuid(row.account_id),
            day: row.day,
            incoming: matches!(row.kind.as_str(), "payment_in" | "own_in" | "interest"),
            kind: row.kind,
            amount: Money {
                amount: amount(row.amount_minor_units)?,
                currency: currency(&row.currency)?,
            },
            counterparty: row.counterparty_name,
            counterparty_iban: row.counterparty_iban,
            reference: row.reference,
            on_its_way: row.state == "reserved",
            undo_until: row.undo_until,
            undone: row.state == "voided",
        })
    })
    .collect::<Result<Vec<_>, ReadError>>()
    .map(Some)
}
