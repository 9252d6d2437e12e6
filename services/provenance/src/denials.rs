//! Whether a word denies what follows it, or is an answer, an "only", a thing that is not there.

use crate::{
    tags::Tags,
    tokens::{Kind, Token},
};

/// Whether the word at a place denies what follows. Where one word is both "no" and "not", it is an answer
/// before a mark, at the end, or before a word of correction.
pub(crate) fn is_negation(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    if token.kind != Kind::Word || !token.has(Tags::NEG.union(Tags::NO)) {
        return false;
    }
    if contrasts(tokens, at) {
        return true;
    }
    if !token.has(Tags::NEG) {
        return false;
    }
    if means_only(tokens, at) || lacks_a_thing(tokens, at) {
        return false;
    }
    let next = tokens.get(at + 1);
    let before_mark = next.is_none_or(|next| matches!(next.kind, Kind::Mark(_)));
    // "nie anuluj zlecenia": with an object behind it, it is the verb that is denied.
    let object = tokens
        .get(at + 2)
        .is_some_and(|object| !matches!(object.kind, Kind::Mark(_)));
    let before_cue = next.is_some_and(|next| {
        next.kind == Kind::Word
            && next.has(Tags::REPAIR.union(Tags::FIX).union(Tags::TAKE_BACK))
            && !(next.has(Tags::STOP) && object)
    });
    let answers = (token.has(Tags::NO) && (before_mark || before_cue))
        || (token.has(Tags::TAKE_BACK) && before_mark);
    !answers
}

/// What a language file gives a word that denies a thing and no act ("sin").
const WITHOUT: &str = "without";

/// "me quedo sin batería": a thing that is not there, whatever is asked.
fn lacks_a_thing(tokens: &[Token], at: usize) -> bool {
    let thing = Tags::COMMON.union(Tags::PAY_NOUN).union(Tags::LABEL);
    tokens[at].value == Some(WITHOUT)
        && tokens.get(at + 1).is_some_and(|next| {
            next.is_unknown() && !next.capital
                || next.kind == Kind::Word && next.tags.without(thing).is_empty()
        })
}

/// "78, et non 87", "do Kasi, a nie do Marka": joined to what was asked, a "no" right before a value denies that value.
pub(crate) fn contrasts(tokens: &[Token], at: usize) -> bool {
    if !tokens[at].has(Tags::NO.union(Tags::NEG)) {
        return false;
    }
    let joined = at.checked_sub(1).is_some_and(|before| {
        tokens[before].kind == Kind::Word && tokens[before].has(Tags::AND.union(Tags::CONTRAST))
    });
    let leads = Tags::TO.union(Tags::FOR).union(Tags::DET);
    let value = tokens[at + 1..]
        .iter()
        .take(3)
        .find(|token| !(token.kind == Kind::Word && token.has(leads)));
    let denies_value =
        value.is_some_and(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }));
    joined && denies_value
}

/// "N'envoie que 20": no other word denies, and a value follows the "que".
fn means_only(tokens: &[Token], negation: usize) -> bool {
    let is_word = |at: usize, tags: Tags| {
        tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Word && token.has(tags))
    };
    let denied_twice = (0..tokens.len()).any(|at| at != negation && is_word(at, Tags::NEG));
    let Some(only) = (negation + 1..tokens.len())
        .take(3)
        .find(|at| is_word(*at, Tags::ONLY))
    else {
        return false;
    };
    let value = only + 1 + usize::from(is_word(only + 1, Tags::TO));
    let has_value = tokens
        .get(value)
        .is_some_and(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }));
    has_value && !denied_twice
}
