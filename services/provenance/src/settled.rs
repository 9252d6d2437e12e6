//! Where a clause begins that tells of money already moved ("…, Sacha has been paid back", "…, to Nélia I paid 70").
//!
//! Behind an order such words name somebody who gets nothing by it: neither the order's verb nor its "each" reaches
//! over the mark or the "and" before them.

use crate::{
    speech::LIGHT,
    tags::Tags,
    tokens::{Kind, Token},
};

/// Words that may stand between the head of a clause and the verb that tells.
const BETWEEN: Tags = LIGHT
    .union(Tags::DET)
    .union(Tags::TO)
    .union(Tags::FOR)
    .union(Tags::OF)
    .union(Tags::ON)
    .union(Tags::TITLE)
    .union(Tags::ALREADY)
    .union(Tags::CURRENCY)
    .union(Tags::SUBJECT)
    .union(Tags::PRONOUN)
    .union(Tags::IT)
    .union(Tags::ME)
    .union(Tags::EACH)
    .union(Tags::DAY_WORD)
    .union(Tags::WEEKDAY)
    .union(Tags::COMMON)
    .union(Tags::PERSON);

/// Words behind "already" that leave it a "now" ("y 30 a Ana ya por favor").
const ASIDE: Tags = LIGHT
    .union(Tags::FOR)
    .union(Tags::TO)
    .union(Tags::ON)
    .union(Tags::INTO)
    .union(Tags::TAIL)
    .union(Tags::DAY_WORD)
    .union(Tags::WEEKDAY)
    .union(Tags::SO)
    .union(Tags::BECAUSE);

/// Words that join a clause to the one before.
const JOINTS: Tags = Tags::AND
    .union(Tags::CONTRAST)
    .union(Tags::BECAUSE)
    .union(Tags::SO)
    .union(Tags::ONLY);

/// Words that turn what follows them to something else than a report.
const ASKS: Tags = Tags::ASK
    .union(Tags::BECAUSE)
    .union(Tags::SO)
    .union(Tags::CONDITION)
    .union(Tags::NEG)
    .union(Tags::NO);

/// Whether a report of somebody named begins at a place that a mark or a joint parts from what was said before.
pub(crate) fn begins(tokens: &[Token], start: usize, at: usize, parted: bool) -> bool {
    let word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let named = |at: usize| {
        tokens
            .get(at)
            .is_some_and(|token| matches!(token.kind, Kind::Name { .. }))
    };
    // "to Ann and Bob Carol has hers"
    let beside = named(at - 1) && (named(at) || word(&tokens[at], Tags::DET) && named(at + 1));
    let joined = word(&tokens[at], JOINTS) || beside;
    // The values before are asked for last: for each mark they would cost the square of a clause's length.
    (parted || joined) && reports(tokens, at, parted) && tokens[start..at].iter().any(is_value)
}

/// Whether what begins at a place tells of somebody it names.
pub(crate) fn reports(tokens: &[Token], at: usize, parted: bool) -> bool {
    let word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let mut names = 0;
    for (here, token) in tokens.iter().enumerate().skip(at) {
        if names > 0 && tells(tokens, here) {
            return true;
        }
        match token.kind {
            // "and Bob Carol has hers": who is spoken of stands right before.
            Kind::Name { .. } if names > 0 && !parted => return false,
            Kind::Name { .. } => names += 1,
            Kind::Amount(_) => {}
            // "for Ann and Bob and Carol has hers": only the last of them is spoken of.
            Kind::Word if here > at && !parted && word(token, Tags::AND) => return false,
            // "and gave 70 to Bob": a verb before the one it names.
            Kind::Word if names == 0 && tells(tokens, here) => {
                return tokens[here + 1..]
                    .iter()
                    .take_while(|token| !token.is_mark(",;:\n"))
                    .any(|token| matches!(token.kind, Kind::Name { .. }));
            }
            Kind::Word if here == at && word(token, JOINTS) => {}
            Kind::Word if word(token, BETWEEN) && !word(token, ASKS.union(Tags::PAY)) => {}
            _ => return false,
        }
    }
    false
}

/// Whether a word is a verb that tells what is or was. "a" without its accent is one only behind a name.
fn tells(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let asks = Tags::FRAME
        .union(Tags::FRAME_NEED)
        .union(Tags::PAY)
        .union(Tags::DEBT)
        .union(ASKS);
    if done_already(tokens, at) {
        return true;
    }
    if token.kind != Kind::Word || !token.has(Tags::STATES) {
        return false;
    }
    if token.has(Tags::FIX) {
        return says_no_sum(tokens, at);
    }
    if token.has(Tags::TO) {
        let named = at
            .checked_sub(1)
            .is_some_and(|before| matches!(tokens[before].kind, Kind::Name { .. }));
        return named
            && tokens
                .get(at + 1)
                .is_some_and(|next| !matches!(next.kind, Kind::Name { .. } | Kind::Amount(_)));
    }
    !token.has(asks)
}

/// "30 a Bob ya enviado": whether a clause without a verb of an order says what has been done already.
pub(crate) fn is_done(clause: &[Token]) -> bool {
    (0..clause.len()).any(|at| done_already(clause, at)) && reports(clause, 0, true)
}

/// "Sacha ya pagado": behind a name or its sum and "already" a word that says what was done.
fn done_already(tokens: &[Token], at: usize) -> bool {
    let named = at
        .checked_sub(1)
        .is_some_and(|before| is_value(&tokens[before]));
    let done = tokens
        .get(at + 1)
        .is_some_and(|next| next.kind == Kind::Word && !next.has(ASIDE));
    named && done && tokens[at].kind == Kind::Word && tokens[at].has(Tags::ALREADY)
}

/// "…, 70 a Sacha sono partiti": behind a name and without a sum behind it "is" sets nothing.
pub(crate) fn says_no_sum(tokens: &[Token], at: usize) -> bool {
    let named = at
        .checked_sub(1)
        .is_some_and(|before| matches!(tokens[before].kind, Kind::Name { .. }));
    let mut behind = tokens[at + 1..]
        .iter()
        .take_while(|token| !token.is_mark(",;:\n"));
    let says = tokens
        .get(at + 1)
        .is_some_and(|next| next.kind == Kind::Word);
    named && says && tokens[at].has(Tags::STATES) && !behind.any(is_value)
}

fn is_value(token: &Token) -> bool {
    matches!(
        token.kind,
        Kind::Amount(_) | Kind::Name { .. } | Kind::Account(_)
    )
}
