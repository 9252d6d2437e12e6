//! What was told before an order that leaves something out ("Denise needs her 65, get that over to her").
//!
//! An order means the one sum and the one payee that the customer's own words just told of. Two of either,
//! a condition, somebody else's words, money that comes in: then nothing is meant for sure, and the slot stays open.

use crate::{
    MessageSpan, Reason,
    blocks::blocked,
    context::Context,
    moves::{AmountMention, Fragment, HowMuch, Move, Pair, PayeeMention, Said, Terms, Who},
    pieces,
    sentences::Sentence,
    tags::Tags,
    tokens::{Kind, Token, is_negation},
};

/// A stretch of a message and the values it tells of.
#[derive(Clone, Debug)]
struct Piece {
    at: MessageSpan,
    amounts: Vec<AmountMention>,
    payees: Vec<PayeeMention>,
    /// It says that something is owed or due, or who gets how much.
    owed: bool,
    /// It names a bill by its number.
    billed: bool,
    /// What it tells holds for each of those it names ("both", "20 apiece").
    each: bool,
    /// It says what somebody gets or what something comes to.
    states: bool,
    /// Its values are not what is to be paid.
    vetoed: bool,
}

/// Everything one message tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(Vec<Piece>);

impl Told {
    /// Reads the pieces of a message.
    pub(crate) fn of(context: &Context, sentences: &[Sentence]) -> Self {
        let mut told = Vec::new();
        for sentence in sentences {
            let tokens = &context.tokens[sentence.tokens.clone()];
            // A stretch without values tells nothing that an order could mean.
            if !tokens.iter().any(tells_a_value) {
                continue;
            }
            let pieces = pieces::cut(tokens);
            let last = pieces.len().saturating_sub(1);
            for (index, range) in pieces.into_iter().enumerate() {
                // The mark asks what stands right before it.
                let question = sentence.question && index == last;
                let base = sentence.tokens.start + range.start;
                told.push(piece(context, base, &tokens[range], question));
            }
        }
        Self(told)
    }

    /// Whether it tells of a sum or a payee at all.
    pub(crate) fn has_values(&self) -> bool {
        self.0
            .iter()
            .any(|piece| !(piece.amounts.is_empty() && piece.payees.is_empty()))
    }

    /// Completes an order by what was told before it, here or in the message before.
    pub(crate) fn complete(&self, context: &Context, before: &Self, said: &mut Said) {
        let Some(order) = Order::of(context, said) else {
            return;
        };
        let here: Vec<&Piece> = self
            .0
            .iter()
            .filter(|piece| piece.at.span.end <= said.at.span.start)
            .collect();
        let has_values = here
            .iter()
            .any(|piece| !(piece.amounts.is_empty() && piece.payees.is_empty()));
        let told = if has_values {
            here
        } else {
            before.0.iter().collect()
        };
        let pairs = match order.meant(&told) {
            Some(pair) => Some(vec![pair]),
            None => order.meant_for_all(&told),
        };
        if let Some(pairs) = pairs {
            let (terms, also) = match &said.act {
                Move::Ask { terms, also, .. } => (terms.clone(), *also),
                Move::Fragment(fragment) => (fragment.terms.clone(), fragment.also),
                _ => (Terms::default(), false),
            };
            let asks = Move::Ask {
                pairs,
                terms,
                repair: false,
                also,
            };
            // "Give it to Carol" is about a live request before it is about what was told.
            let before = std::mem::replace(&mut said.act, Move::Nothing);
            said.act = match before {
                Move::Fragment(_) => Move::Amend {
                    amends: Box::new(before),
                    otherwise: vec![Said {
                        act: asks,
                        at: said.at,
                    }],
                },
                _ => asks,
            };
        }
    }
}

fn tells_a_value(token: &Token) -> bool {
    match token.kind {
        Kind::Amount(_) | Kind::Name { .. } => true,
        Kind::Word => token.has(Tags::PERSON),
        _ => false,
    }
}

/// Whom a fragment hands "it" to, where it says nothing else.
fn handed_to(fragment: &Fragment) -> Option<&PayeeMention> {
    let plain = fragment.sends
        && fragment.not_payees.is_empty()
        && fragment.not_amounts.is_empty()
        && !fragment.restrict;
    match fragment.pairs.as_slice() {
        [
            Pair {
                payee: Some(payee),
                amount: None,
            },
        ] if plain => Some(payee),
        _ => None,
    }
}

/// An order with something left out.
struct Order {
    payee: Option<PayeeMention>,
    amount: Option<AmountMention>,
    /// It says "it" or "that".
    it: bool,
    /// It says "him" or "them".
    pronoun: bool,
    /// It gives each of them a sum of its own ("give them 45 each").
    them_each: bool,
}

impl Order {
    fn of(context: &Context, said: &Said) -> Option<Self> {
        let words = |tags: Tags| {
            context.tokens.iter().any(|token| {
                let span = context.span(token, token).span;
                token.kind == Kind::Word
                    && token.has(tags)
                    && said.at.span.start <= span.start
                    && span.end <= said.at.span.end
            })
        };
        let (payee, amount) = match &said.act {
            Move::AskIt => (None, None),
            // "Bob lent me 20, pay that back": no payment that came in.
            Move::Act(act) if act.act == crate::Act::Refund && act.transaction.is_none() => {
                (None, None)
            }
            Move::Fragment(fragment) => (Some(handed_to(fragment)?.clone()), None),
            Move::Ask {
                pairs,
                repair: false,
                ..
            } => match pairs.as_slice() {
                [pair] => (pair.payee.clone(), pair.amount),
                _ => return None,
            },
            _ => return None,
        };
        let open_payee = payee
            .as_ref()
            .is_none_or(|payee| payee.who == Who::Open(Reason::AmbiguousPayee));
        let known = amount.is_some_and(|amount| matches!(amount.much, HowMuch::Sum(..)));
        let unread = amount.is_some() && !known;
        let pronoun = words(Tags::PRONOUN);
        let it =
            matches!(said.act, Move::AskIt | Move::Fragment(_) | Move::Act(_)) || words(Tags::IT);
        let lacks = !known || open_payee;
        let someone_else = payee.is_some() && open_payee && !pronoun;
        (lacks && !unread && !someone_else).then_some(Self {
            payee: payee.filter(|_| !open_payee),
            amount: amount.filter(|_| known),
            it,
            pronoun,
            them_each: pronoun && words(Tags::EACH),
        })
    }

    fn meant(&self, told: &[&Piece]) -> Option<Pair> {
        if self.them_each {
            return None;
        }
        let with_values = |piece: &&&Piece| !(piece.amounts.is_empty() && piece.payees.is_empty());
        let told: Vec<&&Piece> = told.iter().filter(with_values).collect();
        if told.is_empty() || told.iter().any(|piece| piece.vetoed) {
            return None;
        }
        let payees: Vec<&PayeeMention> = told.iter().flat_map(|piece| &piece.payees).collect();
        let amounts: Vec<&AmountMention> = told.iter().flat_map(|piece| &piece.amounts).collect();
        let first = payees.first();
        let one_payee = payees.iter().all(|payee| {
            matches!(payee.who, Who::Target(_)) && Some(&payee.who) == first.map(|first| &first.who)
        });
        let payee = match (&self.payee, first) {
            (Some(named), None) => named.clone(),
            (Some(named), Some(first)) if one_payee && first.who == named.who => named.clone(),
            (None, Some(first)) if one_payee => (*first).clone(),
            _ => return None,
        };
        if let Some(amount) = self.amount {
            return Some(Pair {
                payee: Some(payee),
                amount: Some(amount),
            });
        }
        let amount = **amounts.first()?;
        let one_amount = amounts
            .iter()
            .all(|other| other.much == amount.much && matches!(other.much, HowMuch::Sum(..)));
        // Without "it" a sum is meant only where it was told beside the payee or as owed.
        let billed = told
            .iter()
            .any(|piece| piece.billed && !piece.payees.is_empty());
        let linked = billed
            || told
                .iter()
                .any(|piece| !piece.amounts.is_empty() && (!piece.payees.is_empty() || piece.owed));
        (one_amount && (linked || self.it)).then_some(Pair {
            payee: Some(payee),
            amount: Some(amount),
        })
    }

    /// "Tom and Ann are both owed 15, can you sort that?", "Lewis needs 80 and Ana 30, can you do both?": an order
    /// without values of its own means all that was told, where it says for each of them how much.
    fn meant_for_all(&self, told: &[&Piece]) -> Option<Vec<Pair>> {
        let bare = self.payee.is_none() && self.amount.is_none() && (self.it || self.pronoun);
        if let (true, Some(amount)) = (self.them_each, self.amount) {
            return all_with(told, amount);
        }
        let told: Vec<&&Piece> = told
            .iter()
            .filter(|piece| !(piece.amounts.is_empty() && piece.payees.is_empty()))
            .collect();
        if !bare || told.is_empty() || told.iter().any(|piece| piece.vetoed) {
            return None;
        }
        let payees: Vec<&PayeeMention> = told.iter().flat_map(|piece| &piece.payees).collect();
        let amounts: Vec<&AmountMention> = told.iter().flat_map(|piece| &piece.amounts).collect();
        let known = payees
            .iter()
            .all(|payee| matches!(payee.who, Who::Target(_)))
            && amounts
                .iter()
                .all(|amount| matches!(amount.much, HowMuch::Sum(..)));
        let twice = (1..payees.len()).any(|at| {
            payees[..at]
                .iter()
                .any(|before| before.who == payees[at].who)
        });
        if !known
            || twice
            || payees.len() < 2
            || !told.iter().any(|piece| piece.owed || piece.states)
        {
            return None;
        }
        let pair = |payee: &PayeeMention, amount: &AmountMention| Pair {
            payee: Some(payee.clone()),
            amount: Some(*amount),
        };
        if let [amount] = amounts.as_slice() {
            let each = told.iter().any(|piece| piece.each);
            return each.then(|| payees.iter().map(|payee| pair(payee, amount)).collect());
        }
        let in_turn = |piece: &Piece| {
            piece
                .payees
                .iter()
                .zip(&piece.amounts)
                .zip(1..)
                .all(|((payee, amount), next)| {
                    let follows = piece
                        .payees
                        .get(next)
                        .is_none_or(|next| amount.at.span.end <= next.at.span.start);
                    payee.at.span.end <= amount.at.span.start && follows
                })
        };
        let one_by_one = told.iter().all(|piece| {
            piece.payees.len() == piece.amounts.len()
                && !piece.each
                && (piece.payees.len() == 1 || in_turn(piece))
        });
        one_by_one.then(|| {
            payees
                .iter()
                .zip(&amounts)
                .map(|(payee, amount)| pair(payee, amount))
                .collect()
        })
    }
}

/// A sum for each of those that were told of and can be nobody else.
fn all_with(told: &[&Piece], amount: AmountMention) -> Option<Vec<Pair>> {
    let mut payees: Vec<&PayeeMention> = Vec::new();
    for piece in told.iter().filter(|piece| !piece.payees.is_empty()) {
        let known = piece
            .payees
            .iter()
            .all(|payee| matches!(payee.who, Who::Target(_)));
        if piece.vetoed || !known {
            return None;
        }
        for payee in &piece.payees {
            if !payees.iter().any(|before| before.who == payee.who) {
                payees.push(payee);
            }
        }
    }
    let pair = |payee: &&PayeeMention| Pair {
        payee: Some((*payee).clone()),
        amount: Some(amount),
    };
    (payees.len() > 1).then(|| payees.iter().map(pair).collect())
}

fn piece(context: &Context, base: usize, tokens: &[Token], question: bool) -> Piece {
    let has = |tags: Tags| {
        tokens
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(tags))
    };
    // "invoice no. 88012 from the vet": what a bill says is owed.
    let billed = tokens.iter().enumerate().any(|(at, token)| {
        token.kind == Kind::Word
            && token.has(Tags::LABEL)
            && tokens[at + 1..]
                .iter()
                .take(3)
                .any(|next| next.kind == Kind::Masked)
    });
    let owed = has(Tags::DEBT);
    let hinders = match blocked(tokens, question) {
        None => false,
        Some(Reason::Question) => !owed,
        Some(_) => true,
    };
    let other = Tags::SAY
        .union(Tags::REVERSE)
        .union(Tags::REVERSE_NOUN)
        .union(Tags::OR)
        .union(Tags::COMPUTED)
        .union(Tags::APPROX);
    let denies = (0..tokens.len()).any(|at| is_negation(tokens, at));
    let mut piece = Piece {
        at: context.span(&tokens[0], &tokens[tokens.len() - 1]),
        amounts: Vec::new(),
        payees: Vec::new(),
        owed,
        billed,
        each: has(Tags::EACH),
        states: has(Tags::AMOUNTS_TO),
        vetoed: hinders || denies || has(other),
    };
    for (index, token) in tokens.iter().enumerate() {
        let at = context.span(token, token);
        match &token.kind {
            Kind::Amount(amount) => {
                let mut much = context.sum(*amount);
                if token.pasted {
                    much = HowMuch::Open(Reason::Pasted);
                }
                piece.amounts.push(AmountMention { much, at });
            }
            Kind::Name { possessive, .. } => {
                let Some(meaning) = context
                    .meaning(token)
                    .filter(|meaning| !meaning.payees.is_empty())
                else {
                    continue;
                };
                // "Sandra's 18.50" against "Alice's mother".
                let owner = *possessive
                    && !tokens.get(index + 1).is_some_and(|next| {
                        matches!(next.kind, Kind::Amount(_)) || next.has(Tags::DEBT)
                    });
                let who = if token.pasted {
                    Who::Open(Reason::Pasted)
                } else if owner {
                    Who::Open(Reason::UnknownPayee)
                } else {
                    context.who(meaning)
                };
                piece.payees.push(PayeeMention {
                    who,
                    at,
                    marked: true,
                });
            }
            Kind::Word if token.has(Tags::PERSON) && !context.describes(base + index) => {
                piece.payees.push(PayeeMention {
                    who: Who::Open(Reason::UnknownPayee),
                    at,
                    marked: true,
                });
            }
            Kind::Quoted | Kind::BadAccount | Kind::Account(_) => piece.vetoed = true,
            _ => {}
        }
    }
    piece
}
