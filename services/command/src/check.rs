//! Whether a database agrees with itself: the log's signed head with its leaves, the leaves with the customers' chains,
//! executions with their events, entries with each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use countersign_receipts::{Compact, TrustedKeys, empty_root, leaf_hash};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, Row};

use crate::database::Database;

/// What is checked.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    database: Database,
    /// The public keys of the bank's log (keys.json)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Checks a database.
///
/// # Errors
/// When it does not agree with itself, or does not answer.
pub async fn run(arguments: &Args) -> anyhow::Result<()> {
    let keys = read_keys(&arguments.key)?;
    let mut database = arguments.database.connect().await?;
    begin_moment(&mut database).await?;
    println!("{}", state_of(&mut database, &keys).await?);
    Ok(())
}

/// The public keys of the bank's log.
///
/// # Errors
/// When the file holds none.
pub fn read_keys(path: &Path) -> anyhow::Result<TrustedKeys> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    TrustedKeys::read(&text).with_context(|| format!("{} holds no keys of a log", path.display()))
}

/// Everything after it sees the database at one moment and can change nothing.
///
/// # Errors
/// When the database does not answer.
pub async fn begin_moment(database: &mut PgConnection) -> anyhow::Result<()> {
    for statement in [
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        // A role that sees its own rows alone must fail here, not count nothing.
        "SET LOCAL row_security = off",
        // A whole bank takes longer than a page.
        "SET LOCAL statement_timeout = 0",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
    ] {
        sqlx::query(statement).execute(&mut *database).await?;
    }
    Ok(())
}

/// What stands in a database that agrees with itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Customers.
    pub customers: u64,
    /// Events of their chains.
    pub events: u64,
    /// Executions.
    pub executions: u64,
    /// Transfers.
    pub transfers: u64,
    /// Entries.
    pub entries: u64,
    /// How many leaves the newest signed head has.
    pub log_size: u64,
    /// The newest signed head; none before there is an event.
    pub log_head: Option<String>,
}

impl std::fmt::Display for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} entries of {} transfers, {} executions and {} events of {} customers agree with the signed head over {} leaves.",
            self.entries,
            self.transfers,
            self.executions,
            self.events,
            self.customers,
            self.log_size
        )
    }
}

/// What must be nowhere, and what it would mean.
const NOWHERE: [(&str, &str); 5] = [
    (
        "SELECT count(*) FROM (SELECT FROM bank.entry GROUP BY customer_id, transfer_id, currency HAVING sum(amount_minor_units) <> 0) x",
        "transfers whose entries do not sum to zero",
    ),
    (
        "SELECT count(*) FROM bank.transfer t WHERE NOT EXISTS
           (SELECT FROM bank.entry e WHERE e.customer_id = t.customer_id AND e.transfer_id = t.transfer_id)",
        "transfers without an entry",
    ),
    (
        "SELECT count(*) FROM bank.transfer t WHERE t.action_id IS NOT NULL AND NOT EXISTS
           (SELECT FROM bank.execution x WHERE x.customer_id = t.customer_id AND x.action_id = t.action_id)",
        "ordered transfers that nobody confirmed",
    ),
    (
        "SELECT count(*) FROM bank.execution x WHERE NOT EXISTS
           (SELECT FROM bank.bank_event e WHERE e.customer_id = x.customer_id AND e.sequence = x.event_sequence AND e.action_id = x.action_id)",
        "executions without the event that records them",
    ),
    (
        "SELECT count(*) FROM bank.event_head h WHERE h.sequence > 0 AND NOT EXISTS
           (SELECT FROM bank.bank_event e WHERE e.customer_id = h.customer_id AND e.sequence = h.sequence AND e.chain_hash = h.chain_hash)",
        "customers whose chain does not end at its head",
    ),
];

/// Checks everything, at the moment of the transaction that is open.
///
/// # Errors
/// What does not agree, in a sentence.
pub async fn state_of(database: &mut PgConnection, keys: &TrustedKeys) -> anyhow::Result<State> {
    for (statement, what) in NOWHERE {
        let found: i64 = sqlx::query_scalar(statement)
            .fetch_one(&mut *database)
            .await?;
        ensure!(
            found == 0,
            "the ledger and the receipts do not agree: {found} {what}"
        );
    }
    let events = chains_hold(database).await?;
    let (log_size, log_head) = log_holds(database, keys).await?;
    Ok(State {
        customers: count(database, "SELECT count(*) FROM bank.customer").await?,
        events,
        executions: count(database, "SELECT count(*) FROM bank.execution").await?,
        transfers: count(database, "SELECT count(*) FROM bank.transfer").await?,
        entries: count(database, "SELECT count(*) FROM bank.entry").await?,
        log_size,
        log_head,
    })
}

async fn count(database: &mut PgConnection, statement: &'static str) -> anyhow::Result<u64> {
    let found: i64 = sqlx::query_scalar(statement).fetch_one(database).await?;
    Ok(u64::try_from(found)?)
}

/// Every event's bytes are the ones whose leaf is chained, and no event of a chain is missing.
async fn chains_hold(database: &mut PgConnection) -> anyhow::Result<u64> {
    let mut rows = sqlx::query(
        "SELECT customer_id::text AS customer, sequence, payload, leaf_hash, chain_hash FROM bank.bank_event ORDER BY customer_id, sequence",
    )
    .fetch(database);
    let mut ends: BTreeMap<String, (i64, [u8; 32])> = BTreeMap::new();
    let mut events = 0;
    while let Some(row) = rows.try_next().await? {
        events += 1;
        let (customer, sequence): (String, i64) = (row.get("customer"), row.get("sequence"));
        let (before, hash) = ends.get(&customer).copied().unwrap_or_default();
        ensure!(
            sequence == before + 1,
            "event {} of a customer's chain is missing",
            before + 1
        );
        let leaf = leaf_hash(row.get::<&[u8], _>("payload"));
        ensure!(
            row.get::<&[u8], _>("leaf_hash") == leaf.as_bytes(),
            "event {sequence} of a customer's chain has other bytes than its leaf was made of"
        );
        let mut next = Sha256::new_with_prefix(hash);
        next.update(leaf.as_bytes());
        let chain: [u8; 32] = next.finalize().into();
        ensure!(
            row.get::<&[u8], _>("chain_hash") == chain,
            "event {sequence} does not follow from the one before it in its customer's chain"
        );
        ends.insert(customer, (sequence, chain));
    }
    Ok(events)
}

/// The leaves in their order lead to the newest head, which one of the keys has signed.
async fn log_holds(
    database: &mut PgConnection,
    keys: &TrustedKeys,
) -> anyhow::Result<(u64, Option<String>)> {
    let newest: Option<(i64, Vec<u8>, String)> =
        sqlx::query_as("SELECT tree_size, root_hash, note FROM bank.log_checkpoint ORDER BY tree_size DESC LIMIT 1")
            .fetch_optional(&mut *database)
            .await?;
    let mut rows = sqlx::query(
        "SELECT leaf_index, leaf_hash FROM (
           SELECT leaf_index, leaf_hash FROM bank.bank_event UNION ALL SELECT leaf_index, leaf_hash FROM bank.log_event) leaf
          WHERE leaf_index IS NOT NULL ORDER BY leaf_index",
    )
    .fetch(&mut *database);
    let Some((size, root, note)) = newest else {
        ensure!(
            rows.try_next().await?.is_none(),
            "the log has leaves and no signed head"
        );
        return Ok((0, None));
    };
    let signed = keys
        .verify(&note)
        .context("the newest head of the log is not signed by a key of that file")?
        .checkpoint;
    ensure!(
        i64::try_from(signed.size) == Ok(size) && signed.root.as_bytes()[..] == root[..],
        "the newest head of the log says another thing than its signed note"
    );
    let mut tree = Compact::new();
    let mut found = (signed.size == 0).then(empty_root);
    while let Some(row) = rows.try_next().await? {
        let index: i64 = row.get("leaf_index");
        ensure!(
            i64::try_from(tree.size()) == Ok(index),
            "leaf {} of the log is missing",
            tree.size()
        );
        let leaf: [u8; 32] = row
            .get::<&[u8], _>("leaf_hash")
            .try_into()
            .context("a leaf of 32 bytes")?;
        tree.push(leaf.into());
        if tree.size() == signed.size {
            found = Some(tree.root());
        }
    }
    match found {
        Some(root) if root == signed.root => Ok((signed.size, Some(note))),
        Some(_) => bail!(
            "the first {} leaves of the log are not the ones its head was signed for",
            signed.size
        ),
        None => bail!(
            "the log holds {} leaves, and its head was signed for {}",
            tree.size(),
            signed.size
        ),
    }
}
