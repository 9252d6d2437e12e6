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
    .union(Tags::TITLE)
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
    let joined = word(&tokens[at], Tags::AND.union(Tags::CONTRAST));
    // The values before are asked for last: for each mark they would cost the square of a clause's length.
    (parted || joined) && reports(tokens, at, parted) && tokens[start..at].iter().any(is_value)
}

fn reports(tokens: &[Token], at: usize, parted: bool) -> bool {
    let word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let mut names = 0;
    for (here, token) in tokens.iter().enumerate().skip(at) {
        if names > 0 && tells(tokens, here) {
            return true;
        }
        match token.kind {
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
            Kind::Word if word(token, BETWEEN) && !word(token, ASKS) => {}
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
