//! The customer's receipt: what was confirmed, and the proof that the bank's signed log holds it.

use std::collections::HashMap;

use countersign_domain::{ActionId, Secret, record::ConfirmRecord};
use countersign_receipts::{
    Checkpoint, Hash, Node, Receipt, SignedCheckpoint, nodes_for_inclusion,
};
use countersign_store::session;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::ActError;

/// Letters of a short code: no vowels, nothing that is read as something else.
const CODE_LETTERS: &[u8; 31] = b"0123456789BCDFGHJKLMNPQRSTVWXYZ";

/// The code by which people find a receipt again: eight letters of what was executed.
///
/// Nearly forty bits: enough to tell one customer's receipts apart, never proof of anything.
pub fn short_code(executed_hash: &[u8; 32]) -> String {
    let mut code = String::with_capacity(9);
    for (position, byte) in executed_hash.iter().take(8).enumerate() {
        if position == 4 {
            code.push('-');
        }
        code.push(char::from(
            CODE_LETTERS[usize::from(*byte) % CODE_LETTERS.len()],
        ));
    }
    code
}

/// What a confirmed event says of the passkey that agreed.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct StepUpMark {
    /// Hash of the credential's id, hexadecimal.
    pub credential: String,
    /// Hash of the client data it signed, hexadecimal.
    pub client_data: String,
    /// `webauthn.get`, or `payment.get` where the browser displayed the payment.
    pub kind: String,
}

#[derive(serde::Deserialize)]
struct WithStepUp {
    step_up: Option<StepUpMark>,
}

/// A receipt as the panel shows it.
#[derive(Clone, Debug)]
pub struct ReceiptView {
    /// The record that was confirmed.
    pub record: ConfirmRecord,
    /// The note for the payee.
    pub note: String,
    /// H in hexadecimal.
    pub confirm_hash: String,
    /// E in hexadecimal.
    pub executed_hash: String,
    /// When it ran.
    pub executed_at: OffsetDateTime,
    /// The short code.
    pub short_code: String,
    /// Where the money is now, for payments: every transfer posted, or some on their way.
    pub posted: Option<bool>,
    /// Until when it can be undone.
    pub undo_until: Option<OffsetDateTime>,
    /// When it was undone, with the proof of that; nothing where it was not.
    pub undone: Option<Undone>,
    /// The passkey that agreed: the hash of its credential id and of the client data it signed, in hexadecimal.
    pub step_up: Option<StepUpMark>,
    /// The proof for a stranger; `None` until the log's next head is signed, about a second.
    pub proof: Option<Receipt>,
}

/// The receipt of an undo.
#[derive(Clone, Debug)]
pub struct Undone {
    /// When.
    pub at: OffsetDateTime,
    /// `undo` by the customer on the panel, `not_me` by the link of a notice.
    pub how: String,
    /// The proof, as for the receipt itself.
    pub proof: Option<Receipt>,
}

/// Loads the receipt of an action of the session's customer.
///
/// # Errors
/// [`ActError::NotFound`] when the action is not theirs or was never executed.
pub async fn load(
    pool: &PgPool,
    secret: &Secret,
    which: ActionId,
) -> Result<ReceiptView, ActError> {
    let mut transaction = session::begin(pool, secret).await?;
    let customer = session::customer(&mut transaction).await?;
    let row = sqlx::query!(
        r#"SELECT e.record, e.note, e.confirm_hash, e.executed_hash, e.executed_at, v.payload, v.leaf_index,
                  (SELECT bool_and(t.state = 'posted') FROM bank.transfer t
                    WHERE t.customer_id = e.customer_id AND t.action_id = e.action_id) AS posted,
                  (SELECT min(t.post_after) FROM bank.transfer t
                    WHERE t.customer_id = e.customer_id AND t.action_id = e.action_id AND t.state = 'reserved' AND t.leaving_at IS NULL
                      AND t.post_after > bank.bank_clock()) AS undo_until,
                  u.undone_at AS "undone_at?", u.how AS "how?", w.payload AS "undo_payload?", w.leaf_index AS "undo_leaf?"
             FROM bank.execution e
             LEFT JOIN bank.undo u ON u.customer_id = e.customer_id AND u.action_id = e.action_id
             LEFT JOIN bank.bank_event w ON w.customer_id = u.customer_id AND w.sequence = u.event_sequence
             JOIN bank.bank_event v ON v.customer_id = e.customer_id AND v.sequence = e.event_sequence
            WHERE e.customer_id = $1 AND e.action_id = $2"#,
        customer.uuid(),
        which.uuid()
    )
    .fetch_optional(&mut *transaction)
    .await?
    .ok_or(ActError::NotFound)?;
    let executed: [u8; 32] = row
        .executed_hash
        .as_slice()
        .try_into()
        .map_err(|_| countersign_store::action::ActionError::Corrupt("executed hash"))?;
    let record = serde_json::from_slice(&row.record)
        .map_err(|_| countersign_store::action::ActionError::Corrupt("record"))?;
    let step_up = serde_json::from_slice::<WithStepUp>(&row.payload)
        .map_err(|_| countersign_store::action::ActionError::Corrupt("payload"))?
        .step_up;
    let proof = match row.leaf_index {
        Some(index) => prove(&mut transaction, index, row.payload).await?,
        None => None,
    };
    let undone = match (row.undone_at, row.how, row.undo_payload) {
        (Some(at), Some(how), Some(payload)) => {
            let proof = match row.undo_leaf {
                Some(index) => prove(&mut transaction, index, payload).await?,
                None => None,
            };
            Some(Undone { at, how, proof })
        }
        _ => None,
    };
    Ok(ReceiptView {
        undo_until: row.undo_until,
        undone,
        record,
        note: row.note,
        confirm_hash: hex::encode(&row.confirm_hash),
        executed_hash: hex::encode(executed),
        executed_at: row.executed_at,
        short_code: short_code(&executed),
        posted: row.posted,
        step_up,
        proof,
    })
}

async fn prove(
    transaction: &mut sqlx::Transaction<'static, sqlx::Postgres>,
    index: i64,
    payload: Vec<u8>,
) -> Result<Option<Receipt>, ActError> {
    let corrupt = |what| ActError::from(countersign_store::action::ActionError::Corrupt(what));
    let head = sqlx::query!(
        "SELECT tree_size, root_hash, note FROM bank.log_checkpoint ORDER BY tree_size DESC LIMIT 1"
    )
    .fetch_optional(&mut **transaction)
    .await?;
    let Some(head) = head.filter(|head| head.tree_size > index) else {
        return Ok(None);
    };
    let size = u64::try_from(head.tree_size).map_err(|_| corrupt("tree size"))?;
    let leaf = u64::try_from(index).map_err(|_| corrupt("leaf index"))?;
    let nodes = load_nodes(transaction, &nodes_for_inclusion(leaf, size)).await?;
    let root: [u8; 32] = head.root_hash.try_into().map_err(|_| corrupt("root"))?;
    let origin = head.note.lines().next().unwrap_or_default().to_owned();
    let signed = SignedCheckpoint {
        checkpoint: Checkpoint {
            origin,
            size,
            root: Hash::from(root),
        },
        note: head.note,
    };
    let payload = String::from_utf8(payload).map_err(|_| corrupt("payload"))?;
    Receipt::new(&payload, leaf, &signed, |node| {
        nodes.get(&(node.level, node.index)).copied()
    })
    .map(Some)
    .map_err(|error| ActError::Internal(Box::new(error)))
}

/// Reads stored nodes of the bank's log in one go.
pub(crate) async fn load_nodes(
    connection: &mut sqlx::PgConnection,
    wanted: &[Node],
) -> Result<HashMap<(u8, u64), Hash>, ActError> {
    let levels: Vec<i16> = wanted.iter().map(|node| i16::from(node.level)).collect();
    let indexes: Vec<i64> = wanted
        .iter()
        .map(|node| i64::try_from(node.index).unwrap_or(-1))
        .collect();
    let rows = sqlx::query!(
        r#"SELECT n.level, n.node_index, n.hash FROM bank.log_node n
             JOIN unnest($1::smallint[], $2::bigint[]) AS w (level, node_index) ON n.level = w.level AND n.node_index = w.node_index"#,
        &levels,
        &indexes
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let hash: [u8; 32] = row
                .hash
                .try_into()
                .map_err(|_| countersign_store::action::ActionError::Corrupt("node"))?;
            let level = u8::try_from(row.level).unwrap_or(u8::MAX);
            let index = u64::try_from(row.node_index).unwrap_or(u64::MAX);
            Ok(((level, index), Hash::from(hash)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_code_is_eight_letters_that_nobody_misreads() {
        let code = short_code(&[0xA7; 32]);
        assert_eq!(code.len(), 9);
        assert!(
            code.bytes()
                .all(|letter| letter == b'-' || CODE_LETTERS.contains(&letter))
        );
        assert_ne!(short_code(&[1; 32]), short_code(&[2; 32]));
    }
}
