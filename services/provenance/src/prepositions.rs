//! Reading a clause: what stands before a value, and which words begin a reason instead.

use crate::{scan::Scan, speech::LIGHT, tags::Tags, tokens::Kind};

/// What stands before a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preposition {
    None,
    To,
    For,
    From,
    Into,
    On,
}

/// What a language file gives a word that leads to an account or names a purpose ("na paliwo").
const TO_A_THING: &str = "thing";

/// Words after which a value belongs to the clause again although a tail was open.
const REOPENS: Tags = Tags::TO;

impl Scan<'_, '_> {
    /// "an sie": the word of a goal stands directly before.
    pub(crate) fn preposition_stands_before(&self, at: usize) -> bool {
        at.checked_sub(1)
            .is_some_and(|before| self.tags(before).has(Tags::TO.union(Tags::INTO)))
    }

    /// "so" before the verb leads over to the request instead of giving a reason.
    pub(crate) fn only_leads(&self, at: usize, tags: Tags, verb: Option<usize>) -> bool {
        tags.has(Tags::TAIL) && tags.has(Tags::FILLER) && verb.is_some_and(|verb| at < verb)
    }

    /// A word that can begin both a reason and a time stands before a time.
    pub(crate) fn is_time(&self, at: usize, tags: Tags) -> bool {
        let time = self
            .tokens
            .get(at + 1)
            .is_some_and(|next| matches!(next.kind, Kind::Masked | Kind::Date(_)));
        tags.has(Tags::ON) && time
    }

    /// Whether what follows is no argument.
    pub(crate) fn gives_a_reason(&self, at: usize, tags: Tags, verb: Option<usize>) -> bool {
        let owed = tags.has(Tags::DEBT) && verb.is_none();
        // "so 15 each to Ann and Bob": at the head it leads over.
        let leads = tags.has(Tags::SO)
            && self.tokens[at..]
                .iter()
                .any(|token| matches!(token.kind, Kind::Name { .. } | Kind::Account(_)))
            && self.tokens[..at].iter().all(|token| {
                matches!(token.kind, Kind::Mark(_)) || token.kind == Kind::Word && token.has(LIGHT)
            });
        tags.has(Tags::TAIL)
            && !owed
            && !leads
            && !self.is_time(at, tags)
            && !self.is_vague(at, tags)
    }

    /// "about 30": no reason follows, but an amount that is not exact.
    pub(crate) fn is_vague(&self, at: usize, tags: Tags) -> bool {
        let amount = self
            .tokens
            .get(at + 1)
            .is_some_and(|next| matches!(next.kind, Kind::Amount(_)));
        tags.has(Tags::APPROX) && amount
    }

    pub(crate) fn preposition(&mut self, at: usize, tags: Tags) {
        let mut next = at + 1;
        while self
            .tags(next)
            .has(Tags::DET.union(Tags::FILLER).union(Tags::TITLE))
            && !self.tags(next).has(Tags::PRONOUN)
        {
            next += 1;
        }
        let value = self.tokens.get(next).map(|token| &token.kind);
        if tags.has(Tags::FOR) {
            let named = matches!(
                value,
                Some(
                    Kind::Name {
                        possessive: false,
                        ..
                    } | Kind::Account(_)
                        | Kind::Amount(_)
                )
            ) || self.tags(next).has(Tags::PRONOUN) && !self.is_possessive(next);
            if named && !self.tail && !self.counts_things(next) {
                self.preposition = Preposition::For;
            } else {
                self.tail = true;
            }
            return;
        }
        if self.tail
            && !matches!(
                value,
                Some(
                    Kind::Name {
                        possessive: false,
                        ..
                    } | Kind::Account(_)
                        | Kind::BadAccount
                )
            )
        {
            return;
        }
        if tags.has(Tags::TAIL)
            && !matches!(
                value,
                Some(
                    Kind::Name {
                        possessive: false,
                        ..
                    } | Kind::Account(_)
                )
            )
        {
            // "bei der Bank" against "bei Bob dann 35".
            self.tail = true;
            return;
        }
        // "muda o do Tiago": the one of his.
        let of_his = at.checked_sub(1).is_some_and(|before| {
            self.tags(before)
                .has(Tags::DET.union(Tags::IT).union(Tags::ONE))
        });
        if tags.has(Tags::FROM) && of_his && matches!(value, Some(Kind::Name { .. })) {
            self.preposition = Preposition::None;
        } else if tags.has(Tags::FROM) {
            self.preposition = Preposition::From;
        } else if tags.has(Tags::TO) && self.leads_to_a_thing(at, next) {
            self.tail = true;
            self.preposition = Preposition::None;
        } else if tags.has(Tags::TO) {
            // "to cover", "to pay off": what it is for.
            let verb_follows = self
                .tags(at + 1)
                .has(Tags::PAY.union(Tags::TAIL).union(Tags::CHANGE))
                && !self.tags(at + 1).has(Tags::PAY_NOUN);
            self.tail = verb_follows;
            self.preposition = if verb_follows {
                Preposition::None
            } else {
                Preposition::To
            };
        } else if self.preposition == Preposition::None {
            self.preposition = Preposition::Into;
        }
    }

    /// "for the 3 bags and the 2 trays": in a purpose a whole number before an unknown word goes on counting, where
    /// nobody is named behind it.
    fn counts_on(&self, at: usize) -> bool {
        self.tail && self.counts_things(at)
    }

    /// Whether a whole number before an unknown word counts, with the sum named before it and nobody behind it.
    fn counts_things(&self, at: usize) -> bool {
        let counts = self.tokens.get(at).is_some_and(|token| {
            matches!(&token.kind, Kind::Amount(amount) if amount.currency.is_none()
                && amount.value.is_some_and(|value| value.scale == 0))
        }) && self
            .tokens
            .get(at + 1)
            .is_some_and(|next| next.is_unknown() && !next.glued);
        counts
            && self.found.amounts() > 0
            && !self.tokens[at..].iter().any(|token| {
                matches!(
                    token.kind,
                    Kind::Name { .. } | Kind::Account(_) | Kind::BadAccount
                ) || token.kind == Kind::Word && token.has(Tags::PRONOUN)
            })
    }

    /// "Puść Tomkowi 30 na paliwo": behind somebody named, a word that leads to a goal or to a purpose names the
    /// purpose where a small unknown word follows.
    fn leads_to_a_thing(&self, at: usize, next: usize) -> bool {
        self.tokens[at].value == Some(TO_A_THING)
            && self.found.payees() > 0
            && self
                .tokens
                .get(next)
                .is_some_and(|thing| thing.is_unknown() && !thing.capital)
    }

    /// Whether a value stands at a place, behind an "and" or article.
    pub(crate) fn reopens(&self, mut at: usize) -> bool {
        while self.tags(at).has(
            Tags::AND
                .union(Tags::DET)
                .union(Tags::ALSO)
                .union(Tags::FILLER),
        ) {
            at += 1;
        }
        if self.counts_on(at) {
            return false;
        }
        self.tags(at).has(REOPENS)
            || self.tokens.get(at).is_some_and(|token| {
                matches!(
                    token.kind,
                    Kind::Name {
                        possessive: false,
                        ..
                    } | Kind::Amount(_)
                        | Kind::Account(_)
                )
            })
    }
}
