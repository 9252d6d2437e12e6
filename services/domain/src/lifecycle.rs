//! The one table of what may follow what: an action's states and a transfer's, with the act that leads from each to the next.
//!
//! The rooms ask it before they write, the database's own guards are compared with it, `docs/LIFECYCLE.md` is checked against it, and the
//! model checker walks it.

use crate::ActionState;

/// What moves an action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ActionAct {
    /// A newer request takes its place.
    Supersede,
    /// The customer cancels it, or a stop ends it.
    Cancel,
    /// Its time is over.
    Expire,
    /// A rule says no at Confirm.
    Refuse,
    /// It is confirmed, and the bank waits.
    Hold,
    /// It is confirmed and runs, or is let go after a hold.
    Execute,
}

/// One edge: from, by what, to.
pub type ActionEdge = (ActionState, ActionAct, ActionState);

/// Every edge of an action. A state that begins none is final.
pub const ACTION_EDGES: [ActionEdge; 9] = [
    (
        ActionState::Pending,
        ActionAct::Supersede,
        ActionState::Superseded,
    ),
    (
        ActionState::Pending,
        ActionAct::Cancel,
        ActionState::Cancelled,
    ),
    (
        ActionState::Pending,
        ActionAct::Expire,
        ActionState::Expired,
    ),
    (
        ActionState::Pending,
        ActionAct::Refuse,
        ActionState::Refused,
    ),
    (ActionState::Pending, ActionAct::Hold, ActionState::Held),
    (
        ActionState::Pending,
        ActionAct::Execute,
        ActionState::Confirmed,
    ),
    (
        ActionState::Held,
        ActionAct::Execute,
        ActionState::Confirmed,
    ),
    (ActionState::Held, ActionAct::Cancel, ActionState::Cancelled),
    (ActionState::Held, ActionAct::Expire, ActionState::Expired),
];

/// Where a transfer stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TransferState {
    /// The payer's side is written, and it has not left.
    Reserved,
    /// It is with the payee, or outside.
    Posted,
    /// The money came back.
    Voided,
}

/// What moves a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransferAct {
    /// It left, and arrived.
    Post,
    /// The customer undid it, or a stop did.
    Void,
}

/// Every edge of a transfer.
pub const TRANSFER_EDGES: [(TransferState, TransferAct, TransferState); 2] = [
    (
        TransferState::Reserved,
        TransferAct::Post,
        TransferState::Posted,
    ),
    (
        TransferState::Reserved,
        TransferAct::Void,
        TransferState::Voided,
    ),
];

impl TransferState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Reserved, Self::Posted, Self::Voided];

    /// The text in the database.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Posted => "posted",
            Self::Voided => "voided",
        }
    }

    /// Whether another state may follow this one.
    pub fn may_become(self, next: Self) -> bool {
        TRANSFER_EDGES
            .iter()
            .any(|(from, _, to)| (*from, *to) == (self, next))
    }
}

impl ActionState {
    /// The state that an act leads to; nothing where the act is not possible.
    pub fn after(self, act: ActionAct) -> Option<Self> {
        ACTION_EDGES
            .iter()
            .find(|(from, by, _)| (*from, *by) == (self, act))
            .map(|(_, _, to)| *to)
    }

    /// Whether a state may follow this one.
    pub fn may_become(self, next: Self) -> bool {
        ACTION_EDGES
            .iter()
            .any(|(from, _, to)| (*from, *to) == (self, next))
    }

    /// Whether anything may follow this one.
    pub fn is_final(self) -> bool {
        ACTION_EDGES.iter().all(|(from, _, _)| *from != self)
    }
}

#[cfg(test)]
mod checked;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_waits_or_is_held_can_still_change() {
        for state in ActionState::ALL {
            let open = matches!(state, ActionState::Pending | ActionState::Held);
            assert_eq!(state.is_final(), !open, "{state}");
        }
    }

    #[test]
    fn an_act_leads_to_one_state() {
        for (place, (from, act, to)) in ACTION_EDGES.iter().enumerate() {
            let same = |edge: &&ActionEdge| (edge.0, edge.1) == (*from, *act);
            assert_eq!(ACTION_EDGES.iter().filter(same).count(), 1, "edge {place}");
            assert_eq!(from.after(*act), Some(*to));
            assert!(from.may_become(*to));
        }
    }

    /// The drawing in the document names the edges of the table and no others.
    #[test]
    fn the_document_draws_the_table() {
        let document = include_str!("../../../docs/LIFECYCLE.md");
        let drawing = document.split("```").nth(1).expect("a drawing");
        let mut drawn = Vec::new();
        let mut from = ActionState::Pending;
        for line in drawing.lines() {
            if line.trim_start().starts_with("held ") {
                from = ActionState::Held;
            }
            let Some((_, after)) = line.split_once("─ ").map(|(before, after)| {
                // A line that begins a group draws its stem before the branch.
                (
                    before,
                    after.rsplit_once("─ ").map_or(after, |(_, last)| last),
                )
            }) else {
                continue;
            };
            let to = after
                .split_whitespace()
                .next()
                .expect("a state")
                .parse()
                .expect("a state of the table");
            drawn.push((from, to));
        }
        let mut wanted: Vec<_> = ACTION_EDGES
            .iter()
            .map(|(from, _, to)| (*from, *to))
            .collect();
        drawn.sort();
        wanted.sort();
        assert_eq!(drawn, wanted);
        for (from, _, to) in TRANSFER_EDGES {
            let line = document
                .lines()
                .find(|line| line.starts_with(&format!("`{} →", from.text())))
                .expect("a line of transfers");
            assert!(line.contains(to.text()), "{line}");
        }
    }
}
