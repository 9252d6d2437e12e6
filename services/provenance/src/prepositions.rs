//! Reading a clause: what stands before a value, and which words begin a reason instead.

use crate::{scan::Scan, tags::Tags, tokens::Kind};

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
        tags.has(Tags::TAIL) && !owed && !self.is_time(at, tags) && !self.is_vague(at, tags)
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
            if named && !self.tail {
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
