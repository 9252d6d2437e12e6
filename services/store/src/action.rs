//! A request as it is stored: where it stands, and the values of one version.

use countersign_domain::{
    AccountId, ActionId, ActionKind, ActionState, CardId, ConversationId, Currency, CustomerId,
    DisputeReason, Frequency, MinorUnits, OrderId, PayeeId, ProfileField, TransferId,
};
use sqlx::PgConnection;
use time::{Date, OffsetDateTime};

/// One payment of a version. A missing part is an open slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLine {
    /// Its number, from 1.
    pub line_number: i16,
    /// The saved payee it pays.
    pub payee: Option<PayeeId>,
    /// The own account it moves money to.
    pub own_account: Option<AccountId>,
    /// How much.
    pub amount: Option<MinorUnits>,
}

/// The values of one version of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVersion {
    /// Its number, from 1: the request's own; later ones are the panel's.
    pub version: i32,
    /// The currency of every amount.
    pub currency: Option<Currency>,
    /// The account money leaves.
    pub from_account: Option<AccountId>,
    /// The card it is about.
    pub card: Option<CardId>,
    /// The standing order it is about.
    pub order: Option<OrderId>,
    /// The transaction it is about.
    pub transaction: Option<TransferId>,
    /// How often a standing order pays.
    pub frequency: Option<Frequency>,
    /// When a standing order starts.
    pub start_date: Option<Date>,
    /// Why a transaction is disputed.
    pub dispute_reason: Option<DisputeReason>,
    /// Which line of the profile changes.
    pub profile_field: Option<ProfileField>,
    /// What the customer typed on the panel, by slot.
    pub typed: serde_json::Map<String, serde_json::Value>,
    /// The rules under which it was made.
    pub rules_version: String,
    /// The grammar that grounded it.
    pub provenance_version: String,
    /// Its payments, in order.
    pub lines: Vec<StoredLine>,
}

/// A request: where it stands, and its current values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAction {
    /// Whose it is.
    pub customer: CustomerId,
    /// Its id.
    pub id: ActionId,
    /// The conversation it was asked for in.
    pub conversation: ConversationId,
    /// What it does.
    pub kind: ActionKind,
    /// Where it stands.
    pub state: ActionState,
    /// What at most one open action may be about.
    pub target_key: String,
    /// What took its place.
    pub superseded_by: Option<ActionId>,
    /// The newest message when it was made.
    pub grounded_through: i64,
    /// Why the bank or the clock ended it.
    pub reason: Option<String>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it ends.
    pub expires_at: OffsetDateTime,
    /// When its state last changed.
    pub changed_at: OffsetDateTime,
    /// Its current values.
    pub values: StoredVersion,
}

/// A row that the schema forbids came out of the database. Nothing is shown or run from it.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// A text or number outside its enumeration.
    #[error("read a stored action: {0}")]
    Corrupt(&'static str),
    /// The database failed.
    #[error("read a stored action")]
    Database(#[from] sqlx::Error),
}

fn parse<T: std::str::FromStr>(text: &str, what: &'static str) -> Result<T, ActionError> {
    text.parse().map_err(|_| ActionError::Corrupt(what))
}

fn parse_optional<T: std::str::FromStr>(
    text: Option<String>,
    what: &'static str,
) -> Result<Option<T>, ActionError> {
    text.map(|text| parse(&text, what)).transpose()
}

/// Which actions to read.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// The one with this id.
    One(ActionId),
    /// Those that are open, newest first.
    Open,
    /// Open ones, and those that ended in the last hour, newest first; thirty at most.
    Recent,
}

/// Reads actions of the session's customer, newest first. At most fifty.
///
/// # Errors
/// When the database fails or holds what its own schema forbids.
pub async fn load(
    connection: &mut PgConnection,
    which: Which,
) -> Result<Vec<StoredAction>, ActionError> {
    let (one, open_only, recent) = match which {
        Which::One(id) => (Some(id.uuid()), false, false),
        Which::Open => (None, true, false),
        Which::Recent => (None, false, true),
    };
    let rows = sqlx::query!(
        r#"SELECT a.customer_id, a.action_id, a.conversation_id, a.kind, a.state, a.target_key, a.superseded_by,
                  a.grounded_through, a.reason, a.created_at, a.expires_at, a.changed_at,
                  v.version, v.currency, v.from_account_id, v.card_id, v.order_id, v.transaction_id, v.frequency, v.start_date,
                  v.dispute_reason, v.profile_field, v.typed, v.rules_version, v.provenance_version
             FROM bank.pending_action a
             JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
            WHERE a.customer_id = (SELECT bank.current_customer())
              AND ($1::uuid IS NULL OR a.action_id = $1)
              AND (NOT $2 OR a.state IN ('pending', 'held'))
              AND (NOT $3 OR a.state IN ('pending', 'held') OR a.changed_at > bank.bank_clock() - interval '1 hour')
            ORDER BY a.created_at DESC, a.action_id DESC LIMIT 50"#,
        one,
        open_only,
        recent
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut actions = Vec::with_capacity(rows.len());
    for row in rows {
        let lines = sqlx::query!(
            r#"SELECT line_number, payee_id, own_account_id, amount_minor_units FROM bank.pending_line
                WHERE customer_id = $1 AND action_id = $2 AND version = $3 ORDER BY line_number"#,
            row.customer_id,
            row.action_id,
            row.version
        )
        .fetch_all(&mut *connection)
        .await?
        .into_iter()
        .map(|line| {
            Ok(StoredLine {
                line_number: line.line_number,
                payee: line.payee_id.map(PayeeId::from_uuid),
                own_account: line.own_account_id.map(AccountId::from_uuid),
                amount: line
                    .amount_minor_units
                    .map(|count| MinorUnits::new(count).ok_or(ActionError::Corrupt("amount")))
                    .transpose()?,
            })
        })
        .collect::<Result<Vec<_>, ActionError>>()?;
        let serde_json::Value::Object(typed) = row.typed else {
            return Err(ActionError::Corrupt("typed"));
        };
        actions.push(StoredAction {
            customer: CustomerId::from_uuid(row.customer_id),
            id: ActionId::from_uuid(row.action_id),
            conversation: ConversationId::from_uuid(row.conversation_id),
            kind: parse(&row.kind, "kind")?,
            state: parse(&row.state, "state")?,
            target_key: row.target_key,
            superseded_by: row.superseded_by.map(ActionId::from_uuid),
            grounded_through: row.grounded_through,
            reason: row.reason,
            created_at: row.created_at,
            expires_at: row.expires_at,
            changed_at: row.changed_at,
            values: StoredVersion {
                version: row.version,
                currency: parse_optional(row.currency, "currency")?,
                from_account: row.from_account_id.map(AccountId::from_uuid),
                card: row.card_id.map(CardId::from_uuid),
                order: row.order_id.map(OrderId::from_uuid),
                transaction: row.transaction_id.map(TransferId::from_uuid),
                frequency: parse_optional(row.frequency, "frequency")?,
                start_date: row.start_date,
                dispute_reason: parse_optional(row.dispute_reason, "dispute reason")?,
                profile_field: parse_optional(row.profile_field, "profile field")?,
                typed,
                rules_version: row.rules_version,
                provenance_version: row.provenance_version,
                lines,
            },
        });
    }
    Ok(actions)
}
