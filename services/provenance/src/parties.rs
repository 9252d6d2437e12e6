//! Reading a clause: who is named in it, and whether the words around a name make it somebody else's.

use crate::{
    Grounded, Reason, Target,
    arguments::Item,
    fold::folded_name,
    moves::{PayeeMention, Who},
    negations::Negation,
    prepositions::Preposition,
    scan::Scan,
    settled,
    signs::Signs,
    tags::Tags,
    tokens::{Kind, Token},
};

impl Scan<'_, '_> {
    pub(crate) fn name(&mut self, at: usize) {
        let preposition = std::mem::replace(&mut self.preposition, Preposition::None);
        if self.tail {
            return;
        }
        let token = &self.tokens[at];
        let mut who = match &token.kind {
            Kind::Account(number) => self.context.holder(number),
            Kind::BadAccount => Who::Open(Reason::BadIban),
            _ => {
                let Some(meaning) = self.context.meaning(token) else {
                    return;
                };
                if meaning.payees.is_empty() && meaning.accounts.is_empty() {
                    return; // A card or an order is nobody to pay.
                }
                self.context.who(meaning)
            }
        };
        if token.pasted {
            who = Who::Open(Reason::Pasted);
        }
        if self.goes_on(at, preposition != Preposition::None) && !matches!(who, Who::Open(_)) {
            who = Who::Open(Reason::UnknownPayee);
        }
        let own = matches!(who, Who::Target(Target::Own(_)));
        // "checking to savings" without a "from".
        let before_to = own
            && preposition == Preposition::None
            && self.tags(at + 1).has(Tags::TO.union(Tags::INTO));
        if preposition == Preposition::From || before_to {
            match who {
                Who::Target(Target::Own(account)) => {
                    self.found.terms.from = Some(Grounded {
                        value: account,
                        at: self.at(at),
                    });
                }
                _ => self.found.reverse = true,
            }
            return;
        }
        let marked = matches!(preposition, Preposition::To | Preposition::Into);
        self.payee(
            PayeeMention {
                who,
                at: self.at(at),
                marked,
            },
            preposition == Preposition::For,
        );
    }

    /// Whether the words around a name make it another name ("Alice's sister", "Alice Cooper", "Billy Bob").
    pub(crate) fn goes_on(&self, at: usize, prepositioned: bool) -> bool {
        let token = &self.tokens[at];
        let next = self.tokens.get(at + 1);
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        if matches!(
            token.kind,
            Kind::Name {
                possessive: true,
                ..
            }
        ) {
            let owns = Tags::PAY_NOUN
                .union(Tags::ORDER_NOUN)
                .union(Tags::ACCOUNT_NOUN);
            let skip = usize::from(matches!(next.map(|next| &next.kind), Some(Kind::Amount(_))));
            // "cancel Bob's": the payment to Bob, where no preposition makes it a place.
            let alone =
                next.is_none_or(|next| matches!(next.kind, Kind::Mark(_))) && !prepositioned;
            return !self.tags(at + 1 + skip).has(owns) && skip == 0 && !alone;
        }
        let title_case = |token: &Token| {
            token.capital
                && !self.context.folded.capital(token.start + 1)
                && token.end > token.start + 1
        };
        // "to Niamh Kelleher full stop": behind a whole name with its capitals a small word is none of its words.
        let ended = self.ends_whole_name(token);
        let joins = |other: &Token| {
            let small = ended
                && !other.capital
                && other.start > token.start
                && !self.context.belongs_to(other, Signs::PAST);
            other.is_unknown() && !small
                || other.kind == Kind::Quoted
                || matches!(other.kind, Kind::Name { .. }) && self.context.names_payee(other)
        };
        // "the wife of Bob"
        let relative = self.tags(at.wrapping_sub(1)).has(Tags::OF)
            && at.checked_sub(2).is_some_and(|owner| {
                self.tokens[owner].is_unknown() || self.tags(owner).has(Tags::PERSON)
            });
        // "siostrze Boba": behind a person's word a name in another form is that person's owner.
        let owner = before
            .is_some_and(|before| before.has(Tags::PERSON) && before.kind == Kind::Word)
            && self.is_inflected(token);
        relative
            || owner
            || next.is_some_and(|next| {
                joins(next)
                    || (next.has(Tags::SAY) && next.kind == Kind::Word)
                    || next.is_mark("/&@+*_")
                    || next.is_mark("(") && (next.glued || !self.is_told_of_behind(at + 2))
                    || (next.is_mark("-'") && next.glued)
                    || (next.kind == Kind::Word
                        && title_case(next)
                        && next.has(
                            Tags::COMMON
                                .union(Tags::MONTH)
                                .union(Tags::PERSON)
                                .union(Tags::NEG),
                        ))
            })
            || before
                .is_some_and(|before| joins(before) || (before.is_mark("-&@+/") && token.glued))
    }

    /// "to Bob (Ann got hers)": what the bracket holds tells of another.
    fn is_told_of_behind(&self, at: usize) -> bool {
        settled::reports(self.context.tokens, self.base + at, true)
    }

    /// Whether a saved name of several words stands here whole, with a capital.
    fn ends_whole_name(&self, token: &Token) -> bool {
        let text = &self.context.folded.text[token.start..token.end];
        let whole = |payee: &usize| {
            let payee = &self.context.input.payees[*payee];
            folded_name(&payee.name) == text
        };
        token.capital
            && text.contains(' ')
            && self
                .context
                .meaning(token)
                .is_some_and(|meaning| meaning.payees.iter().any(whole))
    }

    /// Whether a payee's name stands here in a form nobody saved.
    fn is_inflected(&self, token: &Token) -> bool {
        let text = &self.context.folded.text[token.start..token.end];
        let saved = |name: &String| {
            let name = folded_name(name);
            name == text || name.split(' ').any(|part| part == text)
        };
        self.context.meaning(token).is_some_and(|meaning| {
            !meaning.payees.is_empty()
                && !meaning.payees.iter().any(|payee| {
                    let payee = &self.context.input.payees[*payee];
                    std::iter::once(&payee.name)
                        .chain(&payee.aliases)
                        .any(saved)
                })
        })
    }

    pub(crate) fn payee(&mut self, mut mention: PayeeMention, weak: bool) {
        if let Who::Target(target) = mention.who
            && self.negation != Negation::None
        {
            self.found.not_payees.push(target);
        }
        if self.excluded() {
            return;
        }
        if self.or {
            mention.who = Who::Open(Reason::AmbiguousPayee);
            if let Some(Item::Payee {
                mention: before, ..
            }) = self.found.items.last_mut()
            {
                before.who = Who::Open(Reason::AmbiguousPayee);
            }
            self.or = false;
        }
        self.found.marked |= mention.marked || weak;
        self.found.items.push(Item::Payee { mention, weak });
    }

    /// A word in a payee's place that is no saved name.
    pub(crate) fn stranger(&mut self, at: usize, wants_name: bool, verb: Option<usize>) {
        let token = &self.tokens[at];
        let next_is_name = self
            .tokens
            .get(at + 1)
            .is_some_and(|next| matches!(next.kind, Kind::Name { .. } | Kind::Account(_)));
        let after_verb = verb.is_some_and(|verb| at == verb + 1);
        let capital = token.capital && token.is_unknown();
        // "42 Euro Essensgeld": what the money is for.
        let purpose = at > 0
            && capital
            && self.context.lexicon.infinitive_asks
            && matches!(&self.tokens[at - 1].kind, Kind::Amount(amount) if amount.currency.is_some());
        if purpose {
            return;
        }
        if next_is_name || !(wants_name || (token.is_unknown() && (after_verb || capital))) {
            return;
        }
        let word = &self.context.folded.text[token.start..token.end];
        let span = self.at(at);
        let typed = &self.context.typed[span.span.start..span.span.end];
        let reason = if self.context.names.looks_like_one(word, typed) {
            Reason::LookAlike
        } else {
            Reason::UnknownPayee
        };
        let weak = self.preposition == Preposition::For;
        let marked = wants_name && !weak;
        self.preposition = Preposition::None;
        // A name of several words is one payee.
        if let (Some(Item::Payee { mention, .. }), true) = (self.found.items.last(), at > 0)
            && matches!(mention.who, Who::Open(_))
            && mention.at == self.at(at - 1)
        {
            return;
        }
        self.payee(
            PayeeMention {
                who: Who::Open(reason),
                at: span,
                marked,
            },
            weak,
        );
    }

    /// "her 50" against "her sister".
    pub(crate) fn is_possessive(&self, at: usize) -> bool {
        self.tags(at).has(Tags::DET)
            && self.tokens.get(at + 1).is_some_and(|next| {
                next.is_unknown()
                    || next.has(
                        Tags::PERSON
                            .union(Tags::PAY_NOUN)
                            .union(Tags::ACCOUNT_NOUN)
                            .union(Tags::CARD_NOUN)
                            .union(Tags::ORDER_NOUN),
                    )
                    || matches!(next.kind, Kind::Name { .. })
            })
    }

    pub(crate) fn pronoun(&mut self, at: usize) {
        let preposition = std::mem::replace(&mut self.preposition, Preposition::None);
        let who = self.context.antecedent(self.base + at);
        if preposition == Preposition::From {
            self.found.reverse = true;
            return;
        }
        let mention = PayeeMention {
            who,
            at: self.at(at),
            marked: preposition == Preposition::To,
        };
        self.payee(mention, preposition == Preposition::For);
    }
}
