//! What must be true of a history and the ledger together.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Call, Ledger, What};

/// How far the clocks of clients and bank may be apart: they run on one machine, and the bank's times have milliseconds.
const SKEW_MILLISECONDS: i64 = 5;
/// States that nothing follows.
const FINAL: [&str; 5] = ["superseded", "cancelled", "expired", "refused", "confirmed"];

/// Everything that is wrong, in words. Empty: the history is one that the ledger explains.
#[must_use]
pub fn judge(history: &[Call], ledger: &Ledger) -> Vec<String> {
    let mut wrong = Vec::new();
    acknowledged_ran_once(history, ledger, &mut wrong);
    what_ran_was_pressed(history, ledger, &mut wrong);
    undone_was_asked(history, ledger, &mut wrong);
    entries_follow_receipts(ledger, &mut wrong);
    balances_follow(history, ledger, &mut wrong);
    views_are_own_and_go_forward(history, ledger, &mut wrong);
    wrong
}

fn acknowledged_ran_once(history: &[Call], ledger: &Ledger, wrong: &mut Vec<String>) {
    let mut codes: BTreeMap<&str, &str> = BTreeMap::new();
    for call in history {
        let (
            What::Confirm {
                action,
                confirm_hash,
            },
            Some(answer),
        ) = (&call.what, &call.answer)
        else {
            continue;
        };
        if answer.status != 200 || answer.outcome.as_deref() != Some("confirmed") {
            continue;
        }
        let receipts: Vec<_> = ledger
            .receipts
            .iter()
            .filter(|receipt| receipt.action == *action)
            .collect();
        match receipts[..] {
            [one] if one.confirm_hash == *confirm_hash && one.customer == call.customer => {}
            [_] => wrong.push(format!(
                "{action} was acknowledged, and its receipt is of another H or customer"
            )),
            [] => wrong.push(format!("{action} was acknowledged and never ran")),
            _ => wrong.push(format!("{action} ran {} times", receipts.len())),
        }
        if let Some(code) = &answer.short_code
            && codes
                .insert(action, code)
                .is_some_and(|before| before != code)
        {
            wrong.push(format!("{action} was answered with two receipts"));
        }
    }
}

fn what_ran_was_pressed(history: &[Call], ledger: &Ledger, wrong: &mut Vec<String>) {
    for receipt in &ledger.receipts {
        // An answer that was lost may have been a yes; one that came and was a no was none.
        let pressed = history.iter().any(|call| {
            matches!(&call.what, What::Confirm { action, confirm_hash } if *action == receipt.action && *confirm_hash == receipt.confirm_hash)
                && call.customer == receipt.customer
                && call.answer.as_ref().is_none_or(|answer| answer.status == 200)
                && call.start - SKEW_MILLISECONDS <= receipt.at
                && (call.answer.is_none() || receipt.at <= call.end + SKEW_MILLISECONDS)
        });
        if !pressed {
            wrong.push(format!(
                "{} ran, and nobody pressed Confirm of it then",
                receipt.action
            ));
        }
    }
}

fn undone_was_asked(history: &[Call], ledger: &Ledger, wrong: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (action, at) in &ledger.undone {
        if !seen.insert(action) {
            wrong.push(format!("{action} was undone twice"));
        }
        let asked = history.iter().any(|call| {
            matches!(&call.what, What::Undo { action: asked } if asked == action)
                && ledger.owners.get(action) == Some(&call.customer)
                && call
                    .answer
                    .as_ref()
                    .is_none_or(|answer| answer.status == 200)
                && call.start - SKEW_MILLISECONDS <= *at
        });
        if !asked {
            wrong.push(format!("{action} was undone, and nobody asked for it"));
        }
    }
    for call in history {
        let answered = |status| {
            call.answer
                .as_ref()
                .is_some_and(|answer| answer.status == status)
        };
        match &call.what {
            What::Undo { action }
                if answered(200) && !ledger.undone.iter().any(|(undone, _)| undone == action) =>
            {
                wrong.push(format!(
                    "the undo of {action} was acknowledged and never happened"
                ));
            }
            What::Cancel { action } if answered(200) => {
                let ran = ledger
                    .receipts
                    .iter()
                    .any(|receipt| receipt.action == *action);
                if ran {
                    wrong.push(format!(
                        "the cancel of {action} was acknowledged, and it ran"
                    ));
                }
                if !ledger.cancelled.contains(action) {
                    wrong.push(format!(
                        "the cancel of {action} was acknowledged and never happened"
                    ));
                }
            }
            _ => {}
        }
    }
}

/// Each payment of a receipt has one transfer whose legs take its amount once, or nothing where it was undone.
fn entries_follow_receipts(ledger: &Ledger, wrong: &mut Vec<String>) {
    let mut by_transfer: BTreeMap<&str, Vec<&crate::export::Leg>> = BTreeMap::new();
    for leg in &ledger.legs {
        by_transfer.entry(&leg.transfer).or_default().push(leg);
    }
    for (transfer, legs) in &by_transfer {
        if legs.iter().map(|leg| leg.amount).sum::<i64>() != 0 {
            wrong.push(format!("the legs of {transfer} do not sum to zero"));
        }
    }
    let mut told = BTreeSet::new();
    for receipt in &ledger.receipts {
        for (transfer, amount) in &receipt.lines {
            if !told.insert(transfer) {
                wrong.push(format!("{transfer} stands in two receipts"));
            }
            let undone = ledger
                .undone
                .iter()
                .any(|(action, _)| *action == receipt.action);
            let took: i64 = by_transfer
                .get(transfer.as_str())
                .into_iter()
                .flatten()
                .filter(|leg| leg.account.is_some() && leg.customer == receipt.customer)
                .map(|leg| leg.amount)
                .sum();
            let wanted = if undone { 0 } else { -amount };
            if !by_transfer.contains_key(transfer.as_str()) || took != wanted {
                wrong.push(format!(
                    "{transfer} of {} took {took} where {wanted} was confirmed",
                    receipt.action
                ));
            }
            let state = ledger
                .transfers
                .get(transfer)
                .map(|(state, _)| state.as_str());
            if undone != (state == Some("voided")) {
                wrong.push(format!("{transfer} is {state:?} and undone: {undone}"));
            }
        }
    }
    for (transfer, (_, action)) in &ledger.transfers {
        if action.is_some() && !told.contains(transfer) {
            wrong.push(format!("{transfer} was ordered, and no receipt names it"));
        }
    }
}

/// A balance that was shown is one that the account had between the call's beginning and its end.
fn balances_follow(history: &[Call], ledger: &Ledger, wrong: &mut Vec<String>) {
    for call in history {
        let (What::Confirm { action, .. }, Some(answer)) = (&call.what, &call.answer) else {
            continue;
        };
        let (Some(shown), Some(account)) = (answer.balance, ledger.accounts.get(action)) else {
            continue;
        };
        let mut legs: Vec<_> = ledger
            .legs
            .iter()
            .filter(|leg| leg.account.as_ref() == Some(account))
            .collect();
        legs.sort_by_key(|leg| leg.at);
        let mut balance = 0;
        let mut had = Vec::new();
        for leg in legs {
            if leg.at >= call.start - SKEW_MILLISECONDS {
                had.push(balance);
            }
            if leg.at > call.end + SKEW_MILLISECONDS {
                break;
            }
            balance += leg.amount;
        }
        had.push(balance);
        if !had.contains(&shown) {
            wrong.push(format!(
                "after {action} a balance of {shown} was shown, and the account had {had:?}"
            ));
        }
    }
}

fn views_are_own_and_go_forward(history: &[Call], ledger: &Ledger, wrong: &mut Vec<String>) {
    // Of each action: the earliest moment by which somebody had been told that it had ended so.
    let mut ended: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for call in history {
        let Some(answer) = &call.answer else { continue };
        let mut told: Vec<(&str, &str)> = answer
            .cards
            .iter()
            .filter(|seen| FINAL.contains(&seen.state.as_str()))
            .map(|seen| (seen.action.as_str(), seen.state.as_str()))
            .collect();
        match &call.what {
            What::Confirm { action, .. } if answer.outcome.as_deref() == Some("confirmed") => {
                told.push((action, "confirmed"))
            }
            What::Cancel { action } if answer.status == 200 => told.push((action, "cancelled")),
            _ => {}
        }
        for (action, state) in told {
            let first = ended.entry(action).or_insert((call.end, state));
            if first.1 != state {
                wrong.push(format!(
                    "{action} was told to be {} and to be {state}",
                    first.1
                ));
            }
            first.0 = first.0.min(call.end);
        }
    }
    for call in history {
        for seen in call.answer.iter().flat_map(|answer| &answer.cards) {
            match ledger.owners.get(&seen.action) {
                Some(owner) if *owner == call.customer => {}
                Some(_) => wrong.push(format!("{} was shown to another customer", seen.action)),
                None => wrong.push(format!(
                    "{} was shown, and the log does not know it",
                    seen.action
                )),
            }
            if let Some((since, state)) = ended.get(seen.action.as_str())
                && call.start > *since
                && seen.state != *state
            {
                wrong.push(format!(
                    "{} was {} after somebody had been told that it is {state}",
                    seen.action, seen.state
                ));
            }
            let ran = ledger
                .receipts
                .iter()
                .any(|receipt| receipt.action == seen.action);
            if (seen.state == "confirmed") && !ran {
                wrong.push(format!(
                    "{} was shown as confirmed and never ran",
                    seen.action
                ));
            }
            if seen.undone
                && !ledger
                    .undone
                    .iter()
                    .any(|(action, _)| *action == seen.action)
            {
                wrong.push(format!("{} was shown as undone and was not", seen.action));
            }
        }
        match &call.what {
            What::Confirm { action, .. } | What::Cancel { action } | What::Undo { action } => {
                let is_own = ledger.owners.get(action) == Some(&call.customer);
                if !is_own
                    && call
                        .answer
                        .as_ref()
                        .is_some_and(|answer| answer.status == 200)
                {
                    wrong.push(format!("somebody else's {action} was acted on"));
                }
            }
            What::Look => {}
        }
    }
}

#[cfg(test)]
mod tests;
