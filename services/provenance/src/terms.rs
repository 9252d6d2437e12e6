//! Reading a clause: how often, and as much as before.

use countersign_domain::Frequency;

use crate::{
    Grounded,
    arguments::Item,
    moves::{AmountMention, HowMuch},
    prepositions::Preposition,
    scan::Scan,
    tags::Tags,
};

impl Scan<'_, '_> {
    pub(crate) fn same(&mut self, at: usize) {
        self.preposition = Preposition::None;
        if self.excluded() {
            return;
        }
        let mention = AmountMention {
            much: HowMuch::Same,
            at: self.at(at),
        };
        self.found.items.push(Item::Amount {
            mention,
            total: false,
            after_to: false,
            after_from: false,
            after_on: false,
        });
    }

    pub(crate) fn rhythm(&mut self, at: usize) -> bool {
        let token = &self.tokens[at];
        let next = self.tags(at + 1);
        let (value, end) = if token.has(Tags::RHYTHM) {
            (token.value, at)
        } else if next.has(Tags::WEEKDAY) {
            (Some("weekly"), at + 1)
        } else if next.has(Tags::TIME_UNIT) {
            let value = match self.tokens[at + 1].value {
                Some("week") => "weekly",
                Some("month") => "monthly",
                Some("quarter") => "quarterly",
                Some("year") => "yearly",
                _ => "other",
            };
            (Some(value), at + 1)
        } else if next.has(Tags::MONTH) {
            (Some("yearly"), at + 1)
        } else {
            return false;
        };
        self.preposition = Preposition::None;
        let frequency: Option<Frequency> = value.and_then(|value| value.parse().ok());
        let span = self.context.span(token, &self.tokens[end]);
        let contradicts = self.found.terms.recurring
            && self
                .found
                .terms
                .frequency
                .as_ref()
                .is_some_and(|known| Some(known.value) != frequency);
        self.found.terms.recurring = true;
        self.found.terms.frequency = frequency
            .filter(|_| !contradicts && !token.pasted)
            .map(|value| Grounded { value, at: span });
        true
    }
}
