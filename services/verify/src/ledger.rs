//! An export of the bank's ledger against the receipts in its signed log: each entry has exactly one chain, from the leg to the transfer, to
//! the confirmed action, to the receipt, to the head that a key signed.

mod join;
mod read;

use std::collections::BTreeMap;

use countersign_receipts::{Compact, empty_root, leaf_hash};
use sha2::{Digest as _, Sha256};

use crate::command::LedgerArguments;
use crate::verdict::{Verdict, read as read_file, read_keys};
use read::{Event, Export};

/// Checks an export.
pub fn verify(arguments: &LedgerArguments) -> Verdict {
    check(arguments).unwrap_or_else(|refused| refused)
}

fn check(arguments: &LedgerArguments) -> Result<Verdict, Verdict> {
    let keys = read_keys(&arguments.key)?;
    let export = Export::read(&read_file(&arguments.file)?)?;
    let note = match &arguments.checkpoint {
        Some(saved) => &read_file(saved)?,
        None => &export.head,
    };
    let head = keys.verify(note)?.checkpoint;
    log_is_whole(&export.events, head.size, &head.root)?;
    chains_hold(&export)?;
    let joined = join::join(&export)?;
    Ok(Verdict::Holds(format!(
        "{} entries of {} transfers; {} of them ordered, under {} receipts in {} signed events; {} from elsewhere, {} from before the log",
        export.entries.len(),
        export.transfers.len(),
        joined.ordered,
        joined.receipts,
        export.events.len(),
        joined.from_elsewhere,
        joined.before_the_log
    )))
}

/// The events are the leaves that the head was signed for, all of them and no more.
fn log_is_whole(
    events: &[Event],
    size: u64,
    root: &countersign_receipts::Hash,
) -> Result<(), Verdict> {
    let mut tree = Compact::new();
    let mut signed = (size == 0).then(empty_root);
    for (place, event) in (0..).zip(events) {
        match event.leaf {
            Some(leaf) if leaf == place => {}
            Some(_) => {
                return Err(Verdict::ChainBreak(format!(
                    "event {place} of the log is not there, or not in its place"
                )));
            }
            None => {
                return Err(Verdict::Unsigned(format!(
                    "an event of {} is not in the log yet; export again in a second",
                    event.customer
                )));
            }
        }
        tree.push(leaf_hash(event.payload.as_bytes()));
        if tree.size() == size {
            signed = Some(tree.root());
        }
    }
    match signed {
        None => Err(Verdict::Truncated(format!(
            "{} events where the head was signed for {size}",
            events.len()
        ))),
        Some(found) if found != *root => Err(Verdict::Fork(format!(
            "the first {size} events are not the ones the head was signed for"
        ))),
        // A head that was saved earlier covers the beginning alone.
        Some(_) if tree.size() > size => Err(Verdict::Signature(format!(
            "{} events are behind the signed head",
            tree.size() - size
        ))),
        Some(_) => Ok(()),
    }
}

/// Each customer's events follow from one another without a gap, up to the head of the chain.
fn chains_hold(export: &Export) -> Result<(), Verdict> {
    let mut chains: BTreeMap<&str, BTreeMap<u64, &Event>> = BTreeMap::new();
    for event in &export.events {
        let doubled = chains
            .entry(&event.customer)
            .or_default()
            .insert(event.sequence, event);
        if doubled.is_some() {
            return Err(Verdict::ChainBreak(format!(
                "two events of {} have the number {}",
                event.customer, event.sequence
            )));
        }
    }
    for (customer, events) in &chains {
        let mut hash = [0; 32];
        for (wanted, (sequence, event)) in (1..).zip(events) {
            if wanted != *sequence {
                return Err(Verdict::ChainBreak(format!(
                    "event {wanted} of {customer} is missing"
                )));
            }
            let mut next = Sha256::new_with_prefix(hash);
            next.update(leaf_hash(event.payload.as_bytes()).as_bytes());
            hash = next.finalize().into();
        }
        let length = u64::try_from(events.len()).unwrap_or(u64::MAX);
        if export.chains.get(*customer) != Some(&(length, hex::encode(hash))) {
            return Err(Verdict::ChainBreak(format!(
                "the events of {customer} do not lead to the head of their chain"
            )));
        }
    }
    let silent = export
        .chains
        .iter()
        .find(|(customer, (length, _))| *length > 0 && !chains.contains_key(customer.as_str()));
    match silent {
        Some((customer, _)) => Err(Verdict::ChainBreak(format!(
            "the events of {customer} are missing"
        ))),
        None => Ok(()),
    }
}
