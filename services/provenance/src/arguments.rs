//! What was found in a clause beside its verb.

use countersign_domain::MinorUnits;

use crate::{
    Target,
    moves::{AmountMention, HowMuch, PayeeMention, Terms, Who},
};

/// A payee or an amount, in the order of the clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Amount {
        mention: AmountMention,
        total: bool,
        after_to: bool,
        after_from: bool,
        after_on: bool,
    },
    Payee {
        mention: PayeeMention,
        weak: bool,
    },
}

/// Everything found in one clause.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub items: Vec<Item>,
    pub terms: Terms,
    pub not_payees: Vec<Target>,
    pub not_amounts: Vec<MinorUnits>,
    /// The denied amounts with their places.
    pub denied_amounts: Vec<AmountMention>,
    /// A negation that covers the clause as a whole.
    pub negated: bool,
    pub each: bool,
    pub respectively: bool,
    /// The customer is the one who gets.
    pub me: bool,
    /// The request itself is meant ("it").
    pub it: bool,
    /// Money comes from a payee.
    pub reverse: bool,
    /// A word outside the tail that the language file does not know.
    pub unknown_word: bool,
    pub pay_noun: bool,
    pub order_noun: bool,
    pub polite: bool,
    pub also: bool,
    pub marked: bool,
}

impl Arguments {
    pub(crate) fn amounts(&self) -> usize {
        self.items
            .iter()
            .filter(|item| matches!(item, Item::Amount { .. }))
            .count()
    }

    pub(crate) fn payees(&self) -> usize {
        self.items.len() - self.amounts()
    }

    /// Every payee of the clause, whether it says to pay them or not to.
    pub(crate) fn every_payee(&self) -> Vec<Target> {
        let named = self.items.iter().filter_map(|item| match item {
            Item::Payee {
                mention:
                    PayeeMention {
                        who: Who::Target(target),
                        ..
                    },
                ..
            } => Some(*target),
            _ => None,
        });
        named.chain(self.not_payees.iter().copied()).collect()
    }

    /// The same for amounts.
    pub(crate) fn every_amount(&self) -> Vec<MinorUnits> {
        let named = self.items.iter().filter_map(|item| match item {
            Item::Amount {
                mention:
                    AmountMention {
                        much: HowMuch::Sum(units, _),
                        ..
                    },
                ..
            } => Some(*units),
            _ => None,
        });
        named.chain(self.not_amounts.iter().copied()).collect()
    }
}
