//! What a reply claims against what the record says of its conversation.

use std::collections::BTreeSet;

use countersign_screening::{Act, Claim, Stage};
use serde::Serialize;

use crate::store::action_status::Status;

/// A conversation's requests by where they stand, as the page shows them beside a claim that is not true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Kinds that the customer confirmed.
    pub confirmed: BTreeSet<String>,
    /// Kinds that wait for the customer.
    pub waiting: BTreeSet<String>,
    /// Kinds that were cancelled, replaced or ran out.
    pub dropped: BTreeSet<String>,
}

impl Record {
    fn of(statuses: &[Status]) -> Self {
        let mut record = Self::default();
        for status in statuses {
            let set = match status.state.as_str() {
                "confirmed" | "held" => &mut record.confirmed,
                "pending" => &mut record.waiting,
                _ => &mut record.dropped,
            };
            set.insert(status.kind.clone());
        }
        record
    }
}

/// The record, where a reply's claims say more than it holds.
///
/// `least` is the stage from which on a description of how things stand counts as a deed: "your card is frozen" does
/// right after a request to freeze it.
pub fn correction(claims: &[Claim], least: Stage, statuses: &[Status]) -> Option<Record> {
    claims
        .iter()
        .filter(|claim| claim.stage != Stage::Stands || least <= Stage::Stands)
        .any(|claim| contradicts(claim, statuses))
        .then(|| Record::of(statuses))
}

fn contradicts(claim: &Claim, statuses: &[Status]) -> bool {
    let is = |status: &Status, states: &[&str]| states.contains(&status.state.as_str());
    if claim.stage == Stage::Prepared {
        return !statuses
            .iter()
            .filter(|status| about(claim, &status.kind))
            .any(|status| status.recent || is(status, &["pending", "held"]));
    }
    if claim.acts.contains(&Act::Cancel) {
        let dropped = statuses.iter().any(|status| {
            is(status, &["cancelled", "superseded", "expired"])
                || is(status, &["confirmed"]) && status.kind == "standing_order_cancel"
        });
        // The assistant has no way to cancel; what waits was not taken back by it.
        let waits = statuses.iter().any(|status| is(status, &["pending"]));
        return !dropped || claim.by_itself && waits;
    }
    !statuses
        .iter()
        .filter(|status| about(claim, &status.kind))
        .any(|status| is(status, &["confirmed", "held"]))
}

/// Whether a claim can be about a request of this kind.
fn about(claim: &Claim, kind: &str) -> bool {
    claim.acts.iter().any(|act| match act {
        Act::Any | Act::Cancel => true,
        Act::Transfer => matches!(kind, "transfer" | "refund" | "standing_order_create"),
        Act::Freeze => kind == "card_freeze",
        Act::Unfreeze => kind == "card_unfreeze",
        Act::Dispute => kind == "dispute",
        Act::Refund => kind == "refund",
        Act::Order => kind.starts_with("standing_order"),
        Act::Limit => kind == "limit_change",
        Act::Payee => matches!(kind, "payee" | "transfer"),
        Act::Profile => kind == "profile_change",
    })
}

#[cfg(test)]
mod tests {
    use countersign_screening::claims;

    use super::*;

    fn status(kind: &str, state: &str) -> Status {
        Status {
            kind: kind.to_owned(),
            state: state.to_owned(),
            recent: false,
        }
    }

    fn corrected(reply: &str, statuses: &[Status]) -> bool {
        correction(&claims(reply), Stage::Done, statuses).is_some()
    }

    #[test]
    fn every_kind_of_claim_needs_its_own_kind_of_request() {
        for (prepared, done, kind) in [
            ("I've prepared the payment.", "I've sent it.", "transfer"),
            (
                "I've prepared the freeze.",
                "I froze your card.",
                "card_freeze",
            ),
            (
                "I've prepared the dispute.",
                "The dispute has been filed.",
                "dispute",
            ),
            ("I've prepared the refund.", "I refunded it.", "refund"),
            (
                "I've prepared the limit.",
                "I raised your limit.",
                "limit_change",
            ),
            (
                "I've prepared the standing order.",
                "I've set up the standing order.",
                "standing_order_create",
            ),
            (
                "I've prepared the new payee.",
                "I've added the payee.",
                "payee",
            ),
            (
                "I've prepared the address.",
                "I've changed your address.",
                "profile_change",
            ),
        ] {
            for reply in [prepared, done] {
                assert!(corrected(reply, &[]), "{reply}");
                let other = if kind == "dispute" {
                    "card_freeze"
                } else {
                    "dispute"
                };
                assert!(corrected(reply, &[status(other, "confirmed")]), "{reply}");
                assert!(corrected(reply, &[status(kind, "expired")]), "{reply}");
            }
            assert!(
                !corrected(prepared, &[status(kind, "pending")]),
                "{prepared}"
            );
            assert!(corrected(done, &[status(kind, "pending")]), "{done}");
            assert!(!corrected(done, &[status(kind, "confirmed")]), "{done}");
            assert!(!corrected(done, &[status(kind, "held")]), "{done}");
            let ended = Status {
                recent: true,
                ..status(kind, "confirmed")
            };
            assert!(
                !corrected(prepared, &[ended]),
                "{prepared}: confirmed at once"
            );
        }
    }

    #[test]
    fn a_cancelling_is_true_when_something_was_dropped_and_nothing_waits() {
        let said = "Gotowe, anulowałem przelew.";
        assert!(corrected(said, &[status("transfer", "pending")]));
        assert!(corrected(
            "I cancelled it.",
            &[status("transfer", "confirmed")]
        ));
        assert!(!corrected(
            "I cancelled it.",
            &[status("transfer", "cancelled")]
        ));
        let replaced = [
            status("transfer", "pending"),
            status("transfer", "superseded"),
        ];
        assert!(corrected("I cancelled it.", &replaced));
        assert!(!corrected("The first one was cancelled.", &replaced));
        let ended = [status("standing_order_cancel", "confirmed")];
        assert!(!corrected("Your standing order was cancelled.", &ended));
    }

    #[test]
    fn the_record_is_told_by_where_things_stand() {
        let statuses = [
            status("transfer", "pending"),
            status("card_freeze", "held"),
            status("transfer", "superseded"),
        ];
        let record = correction(&claims("I've sent it."), Stage::Done, &statuses).expect("false");
        let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(&record.waiting), "transfer");
        assert_eq!(names(&record.confirmed), "card_freeze");
        assert_eq!(names(&record.dropped), "transfer");
    }

    #[test]
    fn how_things_stand_counts_right_after_a_request() {
        let waits = [status("card_freeze", "pending")];
        let frozen = claims("Your card is frozen.");
        assert_eq!(correction(&frozen, Stage::Done, &waits), None);
        assert!(correction(&frozen, Stage::Stands, &waits).is_some());
    }
}
