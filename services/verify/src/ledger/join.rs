//! The join: every leg has one transfer, every transfer that a customer can order has one receipt, and every receipt has what it says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::read::{Entry, Export, Transfer, thousandths};
use crate::verdict::Verdict;

/// Kinds of transfers that come about by a customer's order alone.
const ORDERED: [&str; 3] = ["payment_out", "own_out", "refund_out"];
/// Kinds of actions that move money when they are confirmed.
const MOVES_MONEY: [&str; 2] = ["transfer", "refund"];

/// What was joined.
pub struct Joined {
    pub receipts: usize,
    pub ordered: usize,
    pub from_elsewhere: usize,
    pub before_the_log: usize,
}

/// One line of a receipt.
struct Told<'e> {
    customer: &'e str,
    receipt: &'e Value,
    line: &'e Value,
}

/// What the log says.
#[derive(Default)]
struct Log<'e> {
    requests: BTreeSet<&'e str>,
    receipts: BTreeSet<&'e str>,
    lines: BTreeMap<&'e str, Told<'e>>,
    voided: BTreeSet<String>,
    posted: BTreeSet<String>,
    began: Option<&'e str>,
}

/// Joins an export whose log was checked.
pub fn join(export: &Export) -> Result<Joined, Verdict> {
    let log = read_log(export)?;
    let mut transfers: BTreeMap<&str, &Transfer> = BTreeMap::new();
    for transfer in &export.transfers {
        if transfers.insert(&transfer.id, transfer).is_some() {
            return Err(Verdict::Doubled(format!(
                "transfer {} stands there twice",
                transfer.id
            )));
        }
    }
    let legs = read_legs(export, &transfers)?;
    // A receipt first: it is what the customer holds.
    for (id, told) in &log.lines {
        match transfers.get(id) {
            Some(transfer) if legs.contains_key(id) => same(told, transfer)?,
            _ => {
                return Err(Verdict::Missing(format!(
                    "the receipt of {} names {id}, and the ledger has no entries of it",
                    text(told.receipt, "action")
                )));
            }
        }
    }
    let mut joined = Joined {
        receipts: log.receipts.len(),
        ordered: 0,
        from_elsewhere: 0,
        before_the_log: 0,
    };
    let mut credited: BTreeSet<&str> = BTreeSet::new();
    for transfer in &export.transfers {
        let none = Vec::new();
        let own = legs.get(transfer.id.as_str()).unwrap_or(&none);
        if own.is_empty()
            && log
                .began
                .is_some_and(|began| transfer.made.as_str() >= began)
        {
            return Err(Verdict::Missing(format!(
                "transfer {} has no entries",
                transfer.id
            )));
        }
        if let Some(origin) = &transfer.origin {
            credit(transfer, transfers.get(origin.as_str()).copied())?;
            if !credited.insert(origin) {
                return Err(Verdict::Doubled(format!(
                    "transfer {origin} was credited twice"
                )));
            }
        }
        let is_ordered = ORDERED.contains(&transfer.kind.as_str());
        if log.lines.contains_key(transfer.id.as_str()) {
            joined.ordered += 1;
            moved(transfer, own, &log)?;
        } else if transfer.action.is_some()
            || (is_ordered
                && log
                    .began
                    .is_none_or(|began| transfer.made.as_str() >= began))
        {
            return Err(Verdict::Orphan(format!(
                "transfer {} and its {} entries have no receipt",
                transfer.id,
                own.len()
            )));
        } else if is_ordered {
            joined.before_the_log += 1;
        } else {
            joined.from_elsewhere += 1;
        }
    }
    for (id, told) in &log.lines {
        let transfer = transfers[id];
        let inside = transfers
            .values()
            .any(|other| other.origin.as_deref() == Some(*id));
        if transfer.state == "posted" && transfer.kind == "own_out" && !inside {
            return Err(Verdict::Missing(format!(
                "{id} of {} was taken and never credited",
                text(told.receipt, "action")
            )));
        }
    }
    // What was confirmed was asked for: the log holds that too.
    if let Some(action) = log.receipts.difference(&log.requests).next() {
        return Err(Verdict::Orphan(format!(
            "action {action} was confirmed and never asked for"
        )));
    }
    Ok(joined)
}

fn read_log(export: &Export) -> Result<Log<'_>, Verdict> {
    let mut log = Log::default();
    for event in &export.events {
        let said = &event.said;
        log.began = match (log.began, said["at"].as_str()) {
            (Some(began), Some(at)) => Some(began.min(at)),
            (began, at) => began.or(at),
        };
        match text(said, "event") {
            "request_created" => {
                log.requests.insert(text(said, "action"));
            }
            "confirmed" => {
                if !log.receipts.insert(text(said, "action")) {
                    return Err(Verdict::Doubled(format!(
                        "action {} has two receipts",
                        text(said, "action")
                    )));
                }
                if text(said, "customer") != event.customer {
                    return Err(Verdict::Differs(format!(
                        "the receipt of {} stands in another customer's chain",
                        text(said, "action")
                    )));
                }
                if !MOVES_MONEY.contains(&text(said, "kind")) {
                    continue;
                }
                for line in said["lines"].as_array().into_iter().flatten() {
                    let told = Told {
                        customer: &event.customer,
                        receipt: said,
                        line,
                    };
                    if log.lines.insert(text(line, "transfer"), told).is_some() {
                        return Err(Verdict::Doubled(format!(
                            "transfer {} stands in two receipts",
                            text(line, "transfer")
                        )));
                    }
                }
            }
            "undone" => {
                for transfer in said["transfers"].as_array().into_iter().flatten() {
                    if !log
                        .voided
                        .insert(transfer.as_str().unwrap_or_default().to_owned())
                    {
                        return Err(Verdict::Doubled(format!(
                            "transfer {transfer} was undone twice"
                        )));
                    }
                }
            }
            "posted" if !log.posted.insert(format!("trf_{}", text(said, "about"))) => {
                return Err(Verdict::Doubled(format!(
                    "transfer trf_{} was posted twice",
                    text(said, "about")
                )));
            }
            _ => {}
        }
    }
    Ok(log)
}

/// The legs of each transfer: of one that is there, each once, summing to zero per currency.
fn read_legs<'e>(
    export: &'e Export,
    transfers: &BTreeMap<&str, &'e Transfer>,
) -> Result<BTreeMap<&'e str, Vec<&'e Entry>>, Verdict> {
    let mut legs: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in &export.entries {
        match transfers.get(entry.transfer.as_str()) {
            Some(transfer) if transfer.customer == entry.customer => {}
            Some(_) => {
                return Err(Verdict::Differs(format!(
                    "leg {} of {} is another customer's",
                    entry.leg, entry.transfer
                )));
            }
            None => {
                return Err(Verdict::Orphan(format!(
                    "leg {} of {} belongs to no transfer",
                    entry.leg, entry.transfer
                )));
            }
        }
        let own = legs.entry(&entry.transfer).or_default();
        if own.iter().any(|other| other.leg == entry.leg) {
            return Err(Verdict::Doubled(format!(
                "leg {} of {} stands there twice",
                entry.leg, entry.transfer
            )));
        }
        own.push(entry);
    }
    for (transfer, own) in &legs {
        let mut sums: BTreeMap<&str, i128> = BTreeMap::new();
        for entry in own {
            *sums.entry(&entry.currency).or_default() += entry.amount;
        }
        if own.len() < 2 || sums.values().any(|sum| *sum != 0) {
            return Err(Verdict::Differs(format!(
                "the entries of {transfer} do not sum to zero"
            )));
        }
    }
    Ok(legs)
}

/// A receipt's line and the transfer it names say the same.
fn same(told: &Told<'_>, transfer: &Transfer) -> Result<(), Verdict> {
    let plain = |account: &str| account.replace(' ', "");
    let counterparty = transfer
        .counterparty
        .as_deref()
        .map(plain)
        .unwrap_or_default();
    let pairs = [
        ("customer", told.customer == transfer.customer),
        (
            "action",
            transfer.action.as_deref() == Some(text(told.receipt, "action")),
        ),
        ("account", text(told.receipt, "from") == transfer.account),
        (
            "currency",
            text(told.receipt, "currency") == transfer.currency,
        ),
        (
            "amount",
            thousandths(text(told.line, "amount")) == Some(transfer.amount),
        ),
        (
            "payee",
            plain(text(told.line, "payee_account")) == counterparty,
        ),
    ];
    match pairs.iter().find(|(_, is_same)| !is_same) {
        Some((what, _)) => Err(Verdict::Differs(format!(
            "the {what} of {} is not its receipt's",
            transfer.id
        ))),
        None => Ok(()),
    }
}

/// What an ordered transfer did to its account is what its state says, and the log says the same.
fn moved(transfer: &Transfer, own: &[&Entry], log: &Log<'_>) -> Result<(), Verdict> {
    let voided = log.voided.contains(&transfer.id);
    let posted = log.posted.contains(&transfer.id)
        || (transfer.kind == "own_out" && transfer.state == "posted");
    let wanted_state = match (voided, posted) {
        (true, false) => "voided",
        (false, true) => "posted",
        (false, false) => "reserved",
        (true, true) => {
            return Err(Verdict::Differs(format!(
                "{} was undone and posted",
                transfer.id
            )));
        }
    };
    if transfer.state != wanted_state {
        return Err(Verdict::Differs(format!(
            "{} is {} and {wanted_state} in the log",
            transfer.id, transfer.state
        )));
    }
    let left: i128 = own
        .iter()
        .filter(|entry| {
            entry.book == "account"
                && entry.account.as_deref() == Some(&transfer.account)
                && entry.currency == transfer.currency
        })
        .map(|entry| entry.amount)
        .sum();
    let elsewhere = own.iter().any(|entry| {
        entry.currency != transfer.currency
            || (entry.book == "account" && entry.account.as_deref() != Some(&transfer.account))
    });
    let wanted = if voided { 0 } else { -transfer.amount };
    if left != wanted || elsewhere {
        return Err(Verdict::Differs(format!(
            "the entries of {} take another amount than its receipt says",
            transfer.id
        )));
    }
    Ok(())
}

/// The payee's side names the payer's, of the same amount, that has not come back.
fn credit(transfer: &Transfer, origin: Option<&Transfer>) -> Result<(), Verdict> {
    let Some(origin) = origin else {
        return Err(Verdict::Orphan(format!(
            "{} credits what nobody sent",
            transfer.id
        )));
    };
    if (origin.amount, &origin.currency) != (transfer.amount, &transfer.currency)
        || origin.state == "voided"
    {
        return Err(Verdict::Differs(format!(
            "{} credits another amount than {} sent",
            transfer.id, origin.id
        )));
    }
    Ok(())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}
