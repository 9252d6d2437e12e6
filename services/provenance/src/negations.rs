//! Reading a clause: how far a negation reaches.

use crate::{arguments::Item, scan::Scan, tags::Tags, tokens::Kind};

/// How far a negation reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Negation {
    None,
    /// Only the next value.
    Next,
    /// Up to a word of contrast.
    Rest,
}

impl Scan<'_, '_> {
    /// Whether the value just read is excluded by a negation; one that covers a single value is used up.
    pub(crate) fn excluded(&mut self) -> bool {
        match self.negation {
            Negation::None => false,
            Negation::Rest => true,
            Negation::Next => {
                self.negation = Negation::None;
                true
            }
        }
    }

    pub(crate) fn negation(&mut self, at: usize, verb: Option<usize>) {
        if verb.is_some_and(|verb| at < verb) {
            // What stands before it in the clause is not wanted either.
            for item in &self.found.items {
                if let Item::Amount { mention, .. } = item {
                    self.found.denied_amounts.push(*mention);
                }
            }
            self.found.not_payees = self.found.every_payee();
            self.found.not_amounts = self.found.every_amount();
            self.found.items.clear();
            self.negation = Negation::Rest;
            return;
        }
        let skipped = Tags::TO
            .union(Tags::FOR)
            .union(Tags::DET)
            .union(Tags::INTO)
            .union(Tags::FROM)
            .union(Tags::FILLER);
        let mut next = at + 1;
        while self.tags(next).has(skipped) {
            next += 1;
        }
        let (is_amount, is_payee) = match self.tokens.get(next).map(|token| &token.kind) {
            Some(Kind::Amount(_)) => (true, false),
            Some(Kind::Name { .. } | Kind::Account(_)) => (false, true),
            _ => (false, false),
        };
        if !is_amount && !is_payee || self.tail {
            self.found.negated = true;
            return;
        }
        let same_before = match self.found.items.last() {
            Some(Item::Amount { .. }) => is_amount,
            Some(Item::Payee { .. }) => is_payee,
            None => false,
        };
        self.negation = if same_before {
            Negation::Next
        } else {
            Negation::Rest
        };
    }

    /// "Don't send the 70 to Bob but to Carol": what the contrast does not name again stays as it was.
    pub(crate) fn complete_contrast(&mut self) {
        if !self.contrasted {
            return;
        }
        if let ([Item::Payee { .. }], [amount], [_]) = (
            self.found.items.as_slice(),
            self.found.denied_amounts.as_slice(),
            self.found.not_payees.as_slice(),
        ) {
            let mention = *amount;
            self.found.items.push(Item::Amount {
                mention,
                total: false,
                after_to: false,
                after_from: false,
                after_on: false,
            });
            self.found.not_amounts.clear();
        }
    }
}
