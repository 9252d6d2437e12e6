//! What a request is about, slot by slot, so that a card that has ended and a new proposal can be compared.

use countersign_domain::{ActionKind, Currency, MinorUnits};
use countersign_store::StoredVersion;

use crate::values::target;

/// The slots that tell one request of a kind from another, each with its value in text or open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<Option<String>>);

impl Shape {
    fn has_open(&self) -> bool {
        self.0.iter().any(Option::is_none)
    }

    fn has_value(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Whether every value of this shape is in the other too: this one may have been made from that one by leaving out.
    fn comes_from(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self
                .0
                .iter()
                .zip(&other.0)
                .all(|(mine, theirs)| mine.is_none() || mine == theirs)
    }

    /// Whether no slot contradicts the other's: an open one may be filled with anything.
    fn may_be(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self
                .0
                .iter()
                .zip(&other.0)
                .all(|(mine, theirs)| mine.is_none() || theirs.is_none() || mine == theirs)
    }

    /// Whether two shapes leave the same slots open.
    pub(crate) fn same_slots(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self
                .0
                .iter()
                .zip(&other.0)
                .all(|(mine, theirs)| mine.is_some() == theirs.is_some())
    }
}

/// An amount as a slot holds it: 20 of one currency is not 20 of another.
pub(crate) fn money(currency: Option<Currency>, amount: MinorUnits) -> String {
    format!("{} {}", currency.map_or("", Currency::code), amount.count())
}

fn text(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// The shapes of a version: one for each line where lines are what it is about, else one.
pub(crate) fn shapes(kind: ActionKind, values: &StoredVersion) -> Vec<Shape> {
    let one = |slots: Vec<Option<String>>| vec![Shape(slots)];
    match kind {
        ActionKind::Transfer | ActionKind::StandingOrderCreate => values
            .lines
            .iter()
            .map(|line| {
                Shape(vec![
                    target(line).map(countersign_provenance::Target::id_text),
                    line.amount.map(|amount| money(values.currency, amount)),
                ])
            })
            .collect(),
        ActionKind::StandingOrderChange | ActionKind::StandingOrderCancel => {
            one(vec![text(values.order)])
        }
        ActionKind::CardFreeze | ActionKind::CardUnfreeze => one(vec![text(values.card)]),
        ActionKind::Refund | ActionKind::Dispute => one(vec![text(values.transaction)]),
        ActionKind::ProfileChange => one(vec![text(values.profile_field)]),
        ActionKind::Payee | ActionKind::LimitChange => one(vec![]),
    }
}

/// Whether a request that was confirmed or cancelled has used an ask up.
///
/// `ended` is what was asked for (version 1) before the customer filled slots in. A complete request is used up where the
/// words are read, by its values. One with an open slot ended with values the words do not hold, so it is recognised here:
/// it has the very shape proposed again, or it may have been made from this ask. A request without any value may have been
/// made from every ask; it uses up those that are open themselves.
pub(crate) fn uses_up(ended: &Shape, ask: &Shape, proposed: &Shape) -> bool {
    ended.has_open()
        && (ended == proposed || (ended.comes_from(ask) && (ended.has_value() || ask.has_open())))
}

/// Whether a proposal offers again what a card offered before.
pub(crate) fn offers_again(ended: &[Shape], proposed: &[Shape]) -> bool {
    proposed
        .iter()
        .any(|proposed| ended.iter().any(|ended| ended.may_be(proposed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(payee: &str, amount: &str) -> Shape {
        let slot = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Shape(vec![slot(payee), slot(amount)])
    }

    #[test]
    fn a_filled_card_uses_up_the_ask_it_was_made_from() {
        let bob = shape("bob", "");
        assert!(uses_up(&bob, &bob, &bob));
        assert!(uses_up(&shape("", ""), &bob, &bob));
        assert!(!uses_up(&shape("alice", ""), &bob, &bob));
    }

    #[test]
    fn a_complete_request_is_left_to_the_words() {
        let both = shape("bob", "20");
        assert!(!uses_up(&both, &both, &both));
        assert!(!uses_up(&both, &shape("bob", ""), &shape("bob", "")));
    }

    #[test]
    fn leaving_values_out_does_not_bring_a_card_back() {
        let ask = shape("bob", "20");
        for weaker in [shape("bob", ""), shape("", "20"), shape("", "")] {
            assert!(uses_up(&weaker, &ask, &weaker), "{weaker:?}");
        }
        assert!(uses_up(&shape("bob", ""), &ask, &ask));
        assert!(!uses_up(&shape("", ""), &ask, &ask));
    }

    #[test]
    fn an_open_slot_does_not_make_an_expired_offer_a_new_one() {
        let ended = [shape("bob", "20")];
        assert!(offers_again(&ended, &[shape("bob", "20")]));
        assert!(offers_again(&ended, &[shape("bob", "")]));
        assert!(offers_again(&ended, &[shape("", "")]));
        assert!(!offers_again(&ended, &[shape("bob", "30")]));
        assert!(!offers_again(&ended, &[shape("alice", "20")]));
    }
}
