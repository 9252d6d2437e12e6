//! What reading one message needs to know.

use crate::{
    Input, MessageSpan, Reason, Target,
    currencies::CurrencyName,
    fold::Folded,
    lexicon::Lexicon,
    moves::{HowMuch, Who},
    names::{Meaning, Names},
    signs::{Sign, Signs},
    tags::Tags,
    tokens::{Amount, Kind, Token},
    told::Told,
};

/// One message on its way through the grammar.
pub(crate) struct Context<'a> {
    pub input: &'a Input,
    pub names: &'a Names,
    pub lexicon: &'static Lexicon,
    pub folded: &'a Folded,
    pub typed: &'a str,
    pub sequence: i64,
    pub sent_at_unix_seconds: i64,
    pub tokens: &'a [Token],
    /// How its turns of phrase bear on a request.
    pub signs: &'a [Sign],
    /// Payees a pronoun can mean, from earlier messages.
    pub earlier: &'a [Target],
    /// What the message before told.
    pub told_before: &'a Told,
}

impl Context<'_> {
    /// The typed bytes of a run of tokens.
    pub(crate) fn span(&self, from: &Token, to: &Token) -> MessageSpan {
        MessageSpan {
            sequence: self.sequence,
            span: self.folded.typed(from.start, to.end),
        }
    }

    /// The signs that begin in a run of tokens.
    pub(crate) fn signs(&self, tokens: &[Token]) -> Signs {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return Signs::NONE;
        };
        let from = self.signs.partition_point(|sign| sign.start < first.start);
        self.signs[from..]
            .iter()
            .take_while(|sign| sign.start < last.end)
            .fold(Signs::NONE, |signs, sign| signs.union(sign.signs))
    }

    /// Whether a token names somebody who may be paid.
    pub(crate) fn names_payee(&self, token: &Token) -> bool {
        self.meaning(token)
            .is_some_and(|meaning| !meaning.payees.is_empty())
    }

    /// Whether a place lies inside a turn of phrase with one of some signs, behind its first word.
    pub(crate) fn is_inside(&self, at: usize, signs: Signs) -> bool {
        self.near(at)
            .any(|sign| sign.signs.has(signs) && sign.spans(at))
    }

    /// Whether a token belongs to a turn of phrase with one of some signs.
    pub(crate) fn belongs_to(&self, token: &Token, signs: Signs) -> bool {
        self.near(token.end)
            .any(|sign| sign.signs.has(signs) && sign.start <= token.start && token.end <= sign.end)
    }

    /// The signs that begin close before a place.
    fn near(&self, at: usize) -> impl Iterator<Item = &Sign> {
        /// No turn of phrase begins farther back, counted in signs.
        const BACK_MAX: usize = 32;
        let to = self.signs.partition_point(|sign| sign.start < at);
        self.signs[to.saturating_sub(BACK_MAX)..to].iter()
    }

    pub(crate) fn meaning(&self, token: &Token) -> Option<&Meaning> {
        match token.kind {
            Kind::Name { index, .. } => Some(&self.names.get(index).meaning),
            _ => None,
        }
    }

    /// Whom a name token means as one who gets money.
    pub(crate) fn who(&self, meaning: &Meaning) -> Who {
        match (meaning.payees.as_slice(), meaning.accounts.as_slice()) {
            ([payee], []) => Who::Target(Target::Payee(self.input.payees[*payee].id)),
            ([], [account]) => Who::Target(Target::Own(self.input.accounts[*account].id)),
            ([], []) => Who::Open(Reason::UnknownPayee),
            _ => Who::Open(Reason::AmbiguousPayee),
        }
    }

    /// Whom an account number belongs to.
    pub(crate) fn holder(&self, number: &str) -> Who {
        let mut payees = self
            .input
            .payees
            .iter()
            .filter(|payee| payee.iban == number);
        match (payees.next(), payees.next()) {
            (Some(payee), None) => return Who::Target(Target::Payee(payee.id)),
            (Some(_), Some(_)) => return Who::Open(Reason::AmbiguousPayee),
            _ => {}
        }
        match self
            .input
            .accounts
            .iter()
            .find(|account| account.iban == number)
        {
            Some(account) => Who::Target(Target::Own(account.id)),
            None => Who::Account(number.to_owned()),
        }
    }

    /// An amount in minor units of the currency it names or of the account's.
    pub(crate) fn sum(&self, amount: Amount) -> HowMuch {
        let currency = match amount.currency {
            Some(CurrencyName::Known(currency)) => currency,
            Some(CurrencyName::Foreign) => return HowMuch::Open(Reason::UnreadableAmount),
            Some(CurrencyName::Account) | None => self.input.account_currency,
        };
        match (amount.value, amount.problem) {
            (Some(value), None) => value
                .minor_units(currency)
                .map_or(HowMuch::Open(Reason::UnreadableAmount), |units| {
                    HowMuch::Sum(units, currency)
                }),
            (_, problem) => HowMuch::Open(problem.unwrap_or(Reason::UnreadableAmount)),
        }
    }

    /// Whom a pronoun at a place of the message means: the one payee named before it.
    pub(crate) fn antecedent(&self, at: usize) -> Who {
        // Whom the sentence itself names comes before all others ("Tyler paid, so send him 20").
        let sentence = self.tokens[..at]
            .iter()
            .rposition(|token| token.is_mark(".!?;\n"))
            .map_or(0, |mark| mark + 1);
        let near = self.named_between(sentence, at);
        if let Some([one]) = near.as_deref() {
            return Who::Target(*one);
        }
        let Some(named) = self.named_between(0, at) else {
            return Who::Open(Reason::AmbiguousPayee);
        };
        let candidates = if named.is_empty() {
            self.earlier
        } else {
            &named
        };
        match candidates {
            [one] => Who::Target(*one),
            _ => Who::Open(Reason::AmbiguousPayee),
        }
    }

    /// The payees named in a stretch; `None` where somebody else may be meant as well.
    fn named_between(&self, from: usize, at: usize) -> Option<Vec<Target>> {
        let mut named: Vec<Target> = Vec::new();
        for (index, token) in self.tokens[..at].iter().enumerate().skip(from) {
            let next = self.tokens.get(index + 1);
            let stranger = token.has(Tags::PERSON)
                && token.kind == Kind::Word
                && !self.describes(index)
                // "Bob's mother", but not "Bob's on 07700 900341".
                || matches!(
                    token.kind,
                    Kind::Name {
                        possessive: true,
                        ..
                    }
                ) && !next.is_some_and(|next| {
                    matches!(next.kind, Kind::Masked)
                        || next.kind == Kind::Word
                            && next.has(Tags::ON.union(Tags::INTO).union(Tags::NEG).union(Tags::FILLER))
                })
                || token.kind == Kind::BadAccount
                || (token.is_unknown()
                        && token.capital
                        && index > 0
                        && !self.tokens[index - 1].is_mark(".!?;\n")
                        // "from Leeds" is a place.
                        && !self.tokens[index - 1].has(Tags::FROM.union(Tags::INTO).union(Tags::ON)))
                || (matches!(token.kind, Kind::Name { .. })
                    && next.is_some_and(|next| next.is_unknown() && next.capital));
            if stranger {
                return None;
            }
            if token.pasted || token.kind == Kind::Quoted {
                continue;
            }
            let who = match &token.kind {
                Kind::Name { .. } => self
                    .meaning(token)
                    .filter(|meaning| !meaning.payees.is_empty())
                    .map(|meaning| self.who(meaning)),
                Kind::Account(number) => Some(self.holder(number)),
                _ => None,
            };
            match who {
                Some(Who::Target(target)) if !named.contains(&target) => named.push(target),
                Some(Who::Open(_) | Who::Account(_)) => return None,
                _ => {}
            }
        }
        Some(named)
    }

    /// Whether a person's word says what somebody named is ("Bob is my plumber"), instead of naming another.
    pub(crate) fn describes(&self, at: usize) -> bool {
        let before = self.tokens[..at]
            .iter()
            .rposition(|token| !token.has(Tags::DET) || token.kind != Kind::Word);
        let Some(before) = before else { return false };
        let is_verb = self.tokens[before].has(Tags::COMMON);
        let apposition = self.tokens[before].is_mark(",") && before > 0;
        let name_at = if is_verb || apposition {
            before.checked_sub(1)
        } else {
            Some(before)
        };
        let named = name_at.is_some_and(|at| {
            matches!(
                self.tokens[at].kind,
                Kind::Name {
                    possessive: false,
                    ..
                }
            )
        });
        let name_follows = self
            .tokens
            .get(at + 1)
            .is_some_and(|next| matches!(next.kind, Kind::Name { .. }));
        named && (is_verb || apposition) || name_follows
    }
}
