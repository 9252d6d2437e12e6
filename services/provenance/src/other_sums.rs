//! Sums that are told of something else: "My old one only cost 3000" corrects no request.

use crate::{
    context::Context,
    sentences::{Sentence, VERBS},
    speech::{CUES, LIGHT},
    tags::Tags,
    tokens::{Kind, Token},
};

/// Whose or what a sum is, or where ("in the shop it was 40").
const SUBJECTS: Tags = Tags::DET
    .union(Tags::SUBJECT)
    .union(Tags::PERSON)
    .union(Tags::INTO)
    .union(Tags::ON);

/// The least words before such a sum: whose, what, and what it did ("the other charged").
const WORDS_MIN: usize = 3;

/// Whether a sentence tells, with a subject and words of its own and no word of correction, what something cost.
pub(crate) fn tells(context: &Context, sentence: &Sentence) -> bool {
    let tokens = &context.tokens[sentence.tokens.clone()];
    let first = tokens.iter().find(|token| {
        !(matches!(token.kind, Kind::Mark(_)) || token.kind == Kind::Word && token.has(LIGHT))
    });
    let own_subject = first.is_some_and(|first| {
        first.kind == Kind::Word
            && first.has(SUBJECTS)
            && (first.has(Tags::DET) || !first.has(Tags::IT))
    });
    let corrects = CUES
        .without(Tags::TAKE_BACK_LAST)
        .union(Tags::FIX)
        .union(Tags::INSTEAD)
        .union(Tags::CHANGE)
        .union(Tags::CHANGE_INFINITIVE)
        .union(Tags::NEG)
        .union(Tags::PAY_NOUN)
        .union(Tags::DEBT)
        .union(VERBS);
    let cued = tokens
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(corrects) && !token.has(Tags::DET));
    let names = tokens
        .iter()
        .any(|token| matches!(token.kind, Kind::Name { .. } | Kind::Account(_)));
    own_subject && !cued && !names && says(tokens)
}

/// Whether a verb or another word that is no cue stands between the subject and the sum.
fn says(tokens: &[Token]) -> bool {
    let Some(sum) = tokens
        .iter()
        .rposition(|token| matches!(token.kind, Kind::Amount(_)))
    else {
        return false;
    };
    let words = || {
        tokens[..sum]
            .iter()
            .filter(|token| !matches!(token.kind, Kind::Mark(_)))
    };
    let plain = words()
        .filter(|token| token.kind == Kind::Word && !token.has(LIGHT))
        .count();
    // "my last one only cost 500": of light words, with a verb that states.
    let states = words()
        .skip(1)
        .any(|token| token.kind == Kind::Word && token.has(Tags::STATES.union(Tags::AMOUNTS_TO)));
    let it = words().next().is_some_and(|first| first.has(Tags::IT));
    plain >= WORDS_MIN || states && !it && words().count() > WORDS_MIN
}

/// Whether an earlier sentence of the message names a sum, so that this one competes with it and fills nothing.
pub(crate) fn follows_a_sum(context: &Context, sentence: &Sentence) -> bool {
    context.tokens[..sentence.tokens.start]
        .iter()
        .any(|token| matches!(token.kind, Kind::Amount(_)))
}
