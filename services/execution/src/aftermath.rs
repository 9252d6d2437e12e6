//! What becomes of an action after its Confirm: how long it can be undone, what it is held for, whether it was undone.

use countersign_domain::ActionState;
use countersign_store::action::{ActionError, StoredAction};
use sqlx::PgConnection;
use time::OffsetDateTime;

/// Where a confirmed or held action stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// The hold of a held action.
    pub hold: Option<Hold>,
    /// Until when its payments can be undone; nothing once they left, or where there are none.
    pub undo_until: Option<OffsetDateTime>,
    /// When it was undone.
    pub undone_at: Option<OffsetDateTime>,
}

/// Why the bank waits, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub reason: String,
    /// When it goes by itself.
    pub release_after: Option<OffsetDateTime>,
    /// When it ends unsent.
    pub ends_at: OffsetDateTime,
}

pub(crate) async fn load(
    connection: &mut PgConnection,
    action: &StoredAction,
) -> Result<Aftermath, ActionError> {
    if !matches!(action.state, ActionState::Held | ActionState::Confirmed) {
        return Ok(Aftermath::default());
    }
    let row = sqlx::query!(
        r#"SELECT h.reason AS "reason?", h.release_after AS "release_after?", h.ends_at AS "ends_at?", u.undone_at AS "undone_at?",
                  (SELECT CASE WHEN bool_and(t.state = 'reserved' AND t.leaving_at IS NULL) THEN min(t.post_after) END FROM bank.transfer t
                    WHERE t.customer_id = $1 AND t.action_id = $2 AND t.kind IN ('payment_out', 'refund_out')) AS undo_until,
                  bank.bank_clock() AS "now!"
             FROM bank.pending_action a
             LEFT JOIN bank.hold h ON h.customer_id = a.customer_id AND h.action_id = a.action_id
             LEFT JOIN bank.undo u ON u.customer_id = a.customer_id AND u.action_id = a.action_id
            WHERE a.customer_id = $1 AND a.action_id = $2"#,
        action.customer.uuid(),
        action.id.uuid()
    )
    .fetch_one(connection)
    .await?;
    let hold = match (row.reason, row.ends_at) {
        (Some(reason), Some(ends_at)) if action.state == ActionState::Held => Some(Hold {
            reason,
            release_after: row.release_after,
            ends_at,
        }),
        _ => None,
    };
    Ok(Aftermath {
        hold,
        undo_until: row.undo_until.filter(|until| *until > row.now),
        undone_at: row.undone_at,
    })
}
