//! The notary: gathers every customer's events into the bank's one Merkle log and signs its head.
//!
//! It sees hashes and places, never payloads. A turn places what is there and signs, so that a head is at most one turn old. Over a
//! database that is older than what it remembers it signs nothing: two heads of one size would be two histories.

use countersign_receipts::{Checkpoint, Compact, Hash, LogSigner, nodes_for_peaks};
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::LoopError;
use crate::{
    older_copy::{LogHead, LogMemory},
    receipt::load_nodes,
};

/// The most events of one turn.
const BATCH: i64 = 500;
/// The lock that two notaries take turns with. It orders the log's writers only; no money hangs on it.
const NOTARY_LOCK: i64 = 0x6e6f_7461_7279;

/// One turn with the pool of role `notary`. Returns the newest head of the log, signed now or seen, for the caller to keep
/// ([`LogMemory::remember`]); nothing where there is none, or the database is not the remembered one.
///
/// # Errors
/// When the database fails or the stored log does not fit itself.
pub async fn turn(
    pool: &PgPool,
    signer: &LogSigner,
    memory: &LogMemory,
) -> Result<Option<LogHead>, LoopError> {
    let mut transaction = pool.begin().await?;
    if !memory.look(&mut transaction).await? {
        // What was noticed stays, for a person of the bank.
        transaction.commit().await?;
        return Ok(None);
    }
    gather(&mut transaction, signer).await?;
    let newest = sqlx::query!(
        "SELECT tree_size, root_hash FROM bank.log_checkpoint ORDER BY tree_size DESC LIMIT 1"
    )
    .fetch_optional(&mut *transaction)
    .await?
    .map(|row| LogHead::stored(row.tree_size, row.root_hash))
    .transpose()
    .map_err(|error| LoopError::Log(error.to_string()))?;
    transaction.commit().await?;
    Ok(newest)
}

/// Places the events that wait, and signs the head over them; nothing where none does, or another notary is at it.
async fn gather(
    transaction: &mut Transaction<'static, Postgres>,
    signer: &LogSigner,
) -> Result<(), LoopError> {
    let mine = sqlx::query_scalar!(
        r#"SELECT pg_try_advisory_xact_lock($1) AS "mine!""#,
        NOTARY_LOCK
    )
    .fetch_one(&mut **transaction)
    .await?;
    if !mine {
        return Ok(());
    }
    // The log's own events have no customer.
    let events = sqlx::query!(
        r#"SELECT customer_id AS "customer_id?", sequence AS "sequence!", leaf_hash AS "leaf_hash!", recorded_at
             FROM bank.bank_event WHERE leaf_index IS NULL
           UNION ALL
           SELECT NULL, sequence, leaf_hash, recorded_at FROM bank.log_event WHERE leaf_index IS NULL
            ORDER BY 4, 1, 2 LIMIT $1"#,
        BATCH
    )
    .fetch_all(&mut **transaction)
    .await?;
    if events.is_empty() {
        return Ok(());
    }
    let size = sqlx::query_scalar!(
        r#"SELECT coalesce(max(tree_size), 0) AS "size!" FROM bank.log_checkpoint"#
    )
    .fetch_one(&mut **transaction)
    .await?;
    let size =
        u64::try_from(size).map_err(|_| LoopError::Log("the log's size is negative".to_owned()))?;
    let stored = load_nodes(transaction, &nodes_for_peaks(size))
        .await
        .map_err(|error| LoopError::Log(error.to_string()))?;
    let mut tree = Compact::load(size, |node| stored.get(&(node.level, node.index)).copied())
        .map_err(|error| LoopError::Log(error.to_string()))?;

    let mut levels: Vec<i16> = Vec::new();
    let mut indexes: Vec<i64> = Vec::new();
    let mut hashes: Vec<Vec<u8>> = Vec::new();
    for event in events {
        let leaf: [u8; 32] = event
            .leaf_hash
            .try_into()
            .map_err(|_| LoopError::Log("a leaf is no hash".to_owned()))?;
        let index = to_i64(tree.size())?;
        for (node, hash) in tree.append_leaf(Hash::from(leaf)) {
            levels.push(i16::from(node.level));
            indexes.push(to_i64(node.index)?);
            hashes.push(hash.as_bytes().to_vec());
        }
        if !place(transaction, event.customer_id, event.sequence, index).await? {
            return Err(LoopError::Log(
                "an event was placed by somebody else".to_owned(),
            ));
        }
    }
    sqlx::query!(
        "INSERT INTO bank.log_node (level, node_index, hash) SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[])",
        &levels,
        &indexes,
        &hashes
    )
    .execute(&mut **transaction)
    .await?;
    let root = tree.root();
    let head = Checkpoint {
        origin: signer.origin().to_owned(),
        size: tree.size(),
        root,
    }
    .sign(signer)
    .map_err(|error| LoopError::Log(error.to_string()))?;
    sqlx::query!(
        "INSERT INTO bank.log_checkpoint (tree_size, root_hash, note) VALUES ($1, $2, $3)",
        to_i64(tree.size())?,
        &root.as_bytes()[..],
        head.note
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Gives an event its place; says whether it had none.
async fn place(
    transaction: &mut Transaction<'static, Postgres>,
    customer: Option<Uuid>,
    sequence: i64,
    index: i64,
) -> Result<bool, sqlx::Error> {
    let done = match customer {
        Some(customer) => {
            sqlx::query!(
                "UPDATE bank.bank_event SET leaf_index = $3 WHERE customer_id = $1 AND sequence = $2 AND leaf_index IS NULL",
                customer,
                sequence,
                index
            )
            .execute(&mut **transaction)
            .await?
        }
        None => {
            sqlx::query!(
                "UPDATE bank.log_event SET leaf_index = $2 WHERE sequence = $1 AND leaf_index IS NULL",
                sequence,
                index
            )
            .execute(&mut **transaction)
            .await?
        }
    };
    Ok(done.rows_affected() == 1)
}

fn to_i64(count: u64) -> Result<i64, LoopError> {
    i64::try_from(count).map_err(|_| LoopError::Log("the log is too large".to_owned()))
}
