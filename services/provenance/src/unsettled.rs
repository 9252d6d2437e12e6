//! Requests whose sums their own words leave unsettled: alternatives, guesses and a price for each of several.
//!
//! "Send Alice 30 or Bob 40", "creo que eran 65", "20 per kid": a sum stands there and is no sum to pay yet. Such
//! pairs stay open, for the customer to pick on the panel.

use crate::{
    Reason, Span,
    context::Context,
    moves::{HowMuch, Move, Pair, Said},
    sentences::Sentence,
    signs::Signs,
    speech::CUES,
    tags::Tags,
    tokens::{Kind, Token},
};

/// How many tokens may stand between a sum and the words that make it a price for each.
const APART_MAX: usize = 3;

/// The longest sentence that only guesses. A longer one tells something.
const GUESS_TOKENS_MAX: usize = 6;

/// Opens the sums of what a sentence asks where its words leave them unsettled.
pub(crate) fn open(context: &Context, sentence: &Sentence, said: &mut Vec<Said>) {
    let tokens = &context.tokens[sentence.tokens.clone()];
    let goes_on = another_choice(tokens);
    let guessed = context.signs(tokens).has(Signs::GUESS) || guesses_behind(context, tokens);
    if is_choice(tokens) || goes_on || guessed {
        open_all(said);
    }
    open_rated(context, tokens, said);
    // "Send Bob 15 each for 2 tickets": one payee, so each of something else.
    let each = tokens
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(Tags::EACH));
    let named = tokens
        .iter()
        .filter(|token| matches!(token.kind, Kind::Name { .. }))
        .count();
    let counts = tokens
        .iter()
        .filter(|token| matches!(token.kind, Kind::Amount(_) | Kind::Masked))
        .count();
    // "25 each month": a rhythm.
    let recurs = tokens.iter().any(|token| {
        token.kind == Kind::Word
            && token.has(Tags::ORDER_NOUN.union(Tags::TIME_UNIT).union(Tags::RHYTHM))
    });
    if each && !recurs && named == 1 && counts > 1 {
        for one in said.iter_mut() {
            each_pair(&mut one.act, &mut |pairs| {
                if let [pair] = pairs {
                    unsettle(pair, Reason::Computed);
                }
            });
        }
    }
    // "Or Bob 40", "I think it was", "per kid, 3 of them": about the request before.
    let values = tokens.iter().any(is_value);
    let rated = tokens.first().is_some_and(|first| {
        context
            .signs
            .iter()
            .any(|sign| sign.signs.has(Signs::RATE) && sign.start == first.start)
    });
    let only_guess = guessed && !values && tokens.len() <= GUESS_TOKENS_MAX;
    if goes_on || only_guess || rated {
        let at = context.span(&tokens[0], &tokens[tokens.len() - 1]);
        let act = Move::Reopen {
            payee: goes_on,
            amount: true,
        };
        said.insert(0, Said { act, at });
    }
}

/// Opens the prices for each that an order takes from the words before it ("Bob gets 12 an hour, … pay him").
pub(crate) fn open_told(context: &Context, said: &mut [Said]) {
    open_rated(context, context.tokens, said);
}

/// Opens the sums that some tokens make a price for each of several.
fn open_rated(context: &Context, tokens: &[Token], said: &mut [Said]) {
    if !context.signs(tokens).has(Signs::RATE) {
        return;
    }
    let rates = rates(context, tokens);
    for one in said {
        each_pair(&mut one.act, &mut |pairs| {
            // "20 each to Bob and Carol" says how much goes to whom.
            let several = pairs.iter().filter(|pair| pair.payee.is_some()).count() > 1;
            for pair in pairs.iter_mut().filter(|_| !several) {
                let rated = pair.amount.is_some_and(|amount| {
                    amount.at.sequence == context.sequence
                        && rates.iter().any(|rate| meet(rate, &amount.at.span))
                });
                if rated {
                    unsettle(pair, Reason::Computed);
                }
            }
        });
    }
}

/// Opens all that a message asks where it leaves the choice to another ("whichever you like").
pub(crate) fn open_choice(context: &Context, said: &mut [Said]) {
    if context.signs(context.tokens).has(Signs::CHOICE) {
        open_all(said);
    }
}

/// Opens every sum.
fn open_all(said: &mut [Said]) {
    for one in said {
        each_pair(&mut one.act, &mut |pairs| {
            for pair in pairs {
                unsettle(pair, Reason::AmbiguousAmount);
            }
        });
    }
}

fn meet(one: &Span, other: &Span) -> bool {
    one.start < other.end && other.start < one.end
}

fn unsettle(pair: &mut Pair, reason: Reason) {
    if let Some(amount) = &mut pair.amount
        && !matches!(amount.much, HowMuch::Open(_))
    {
        amount.much = HowMuch::Open(reason);
    }
}

fn each_pair(act: &mut Move, change: &mut impl FnMut(&mut [Pair])) {
    match act {
        Move::Ask { pairs, .. } => change(pairs),
        Move::Fragment(fragment) => change(&mut fragment.pairs),
        Move::Amend { amends, otherwise } => {
            each_pair(amends, change);
            for one in otherwise {
                each_pair(&mut one.act, change);
            }
        }
        _ => {}
    }
}

/// Whether an "or" stands between values, so that only one side of it can be meant.
fn is_choice(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| {
        tokens[at].kind == Kind::Word
            && tokens[at].has(Tags::OR)
            && !tokens[at].has(Tags::RESPECTIVELY.union(Tags::AMOUNTS_TO).union(Tags::FIX))
            && tokens[..at].iter().any(is_value)
            && tokens[at + 1..].iter().any(is_value)
    })
}

/// Where the sums stand that are a price for each of something.
fn rates(context: &Context, tokens: &[Token]) -> Vec<Span> {
    let is_sum = |token: &&Token| matches!(token.kind, Kind::Amount(_));
    let span = |token: &Token| context.span(token, token).span;
    let mut found = Vec::new();
    for sign in context
        .signs
        .iter()
        .filter(|sign| sign.signs.has(Signs::RATE))
    {
        let from = tokens.partition_point(|token| token.start < sign.start);
        let behind = tokens.partition_point(|token| token.start < sign.end);
        let before = tokens[..from].iter().rev().take(APART_MAX).find(is_sum);
        let after = tokens[behind..].iter().take(APART_MAX).find(is_sum);
        found.extend(before.or(after).map(span));
    }
    found
}

fn is_value(token: &Token) -> bool {
    matches!(
        token.kind,
        Kind::Amount(_) | Kind::Name { .. } | Kind::Account(_)
    )
}

/// Whether a sentence begins with "or" and names a value, and corrects nothing ("or rather Carol").
fn another_choice(tokens: &[Token]) -> bool {
    let corrects = CUES.union(Tags::FIX).union(Tags::INSTEAD);
    let is_word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    tokens.first().is_some_and(|first| is_word(first, Tags::OR))
        && tokens.iter().any(is_value)
        && !tokens.iter().any(|token| is_word(token, corrects))
}

/// Whether a guess stands before a mark or at the end.
fn guesses_behind(context: &Context, tokens: &[Token]) -> bool {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return false;
    };
    context
        .signs
        .iter()
        .filter(|sign| {
            sign.signs.has(Signs::GUESS_BEHIND) && first.start <= sign.start && sign.end <= last.end
        })
        .any(|sign| {
            let behind = tokens.partition_point(|token| token.start < sign.end);
            tokens
                .get(behind)
                .is_none_or(|next| matches!(next.kind, Kind::Mark(_)))
        })
}
