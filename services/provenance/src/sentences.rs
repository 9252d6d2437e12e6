//! Where sentences and clauses end.

use std::ops::Range;

use crate::{
    settled,
    tags::Tags,
    tokens::{Kind, Token, contrasts, is_negation},
};

/// One sentence: its tokens without the mark that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub tokens: Range<usize>,
    pub question: bool,
}

/// Splits a message into sentences.
pub(crate) fn split(tokens: &[Token]) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut in_list = false;
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_mark(".!?;\n\u{2026}\u{3002}\u{ff1f}\u{ff01}\u{bf}\u{a1}\u{61f}") {
            continue;
        }
        // A list behind a colon goes on over its lines.
        let bullet = tokens
            .get(at + 1)
            .is_some_and(|next| next.is_mark("-*\u{2022}\u{2013}"));
        let behind_colon = at > start && tokens[at - 1].is_mark(":");
        if token.is_mark("\n") && (behind_colon || (in_list && bullet)) {
            in_list = true;
            continue;
        }
        // "Mr. Bob", "jeden 1. im Monat"
        let is_day = at > start
            && tokens[at - 1].kind == Kind::Masked
            && tokens[at - 1].has(Tags::ORDINAL)
            && tokens.get(at + 1).is_some_and(|next| !next.capital);
        // "fattura n. 77"
        let is_label = at > start
            && tokens[at - 1].has(Tags::LABEL)
            && token.glued
            && tokens
                .get(at + 1)
                .is_some_and(|next| next.kind == Kind::Masked);
        // "Nr. 20318", "evtl. die 22"
        let short = at > start
            && tokens[at - 1].kind == Kind::Word
            && (tokens[at - 1].has(Tags::SHORT)
                && tokens.get(at + 1).is_some_and(|next| {
                    !next.is_mark("\n") && !next.has(VERBS.union(Tags::FRAME))
                })
                || tokens[at - 1].has(Tags::LABEL)
                    && tokens
                        .get(at + 1)
                        .is_some_and(|next| matches!(next.kind, Kind::Masked | Kind::Amount(_))));
        if token.is_mark(".")
            && at > start
            && (tokens[at - 1].has(Tags::TITLE) || is_day || is_label || short)
        {
            continue;
        }
        let question = token.is_mark("?\u{ff1f}\u{61f}");
        if at > start {
            sentences.push(Sentence {
                tokens: start..at,
                question,
            });
        } else if question && let Some(last) = sentences.last_mut() {
            last.question = true;
        }
        start = at + 1;
        in_list = false;
    }
    if start < tokens.len() {
        sentences.push(Sentence {
            tokens: start..tokens.len(),
            question: false,
        });
    }
    sentences
}

/// Words a clause can begin with so that it stands on its own.
const STARTERS: Tags = Tags::PAY
    .union(Tags::CHANGE)
    .union(Tags::REFUND)
    .union(Tags::STOP)
    .union(Tags::FREEZE)
    .union(Tags::UNFREEZE)
    .union(Tags::DISPUTE)
    .union(Tags::MAKE)
    .union(Tags::ADD)
    .union(Tags::FIX)
    .union(Tags::REPAIR)
    .union(Tags::NO)
    .union(Tags::TAKE_BACK)
    .union(Tags::TAKE_BACK_LAST)
    .union(Tags::SUBJECT)
    .union(Tags::NEG)
    .union(Tags::FRAME)
    .union(Tags::FRAME_MINE)
    .union(Tags::FRAME_NEED)
    .union(Tags::SPLIT)
    .union(Tags::REMIND)
    .union(Tags::SAY)
    .union(Tags::REVERSE)
    .union(Tags::DEBT)
    .union(Tags::OTHER_VERB)
    .union(Tags::ASK);

/// Verbs of a request of their own.
pub(crate) const VERBS: Tags = Tags::PAY
    .union(Tags::PAY_INFINITIVE)
    .union(Tags::REFUND)
    .union(Tags::REFUND_INFINITIVE)
    .union(Tags::CHANGE)
    .union(Tags::CHANGE_INFINITIVE)
    .union(Tags::STOP)
    .union(Tags::FREEZE)
    .union(Tags::UNFREEZE)
    .union(Tags::DISPUTE)
    .union(Tags::MAKE)
    .union(Tags::MAKE_INFINITIVE)
    .union(Tags::ADD)
    .union(Tags::SPLIT);

const LIGHT: Tags = Tags::FILLER
    .union(Tags::POLITE)
    .union(Tags::ALSO)
    .union(Tags::AFFIRM)
    .union(Tags::AND)
    .union(Tags::CONTRAST);

const SOFT_MARKS: &str = "\n,:-\u{2013}\u{2014}()/";

/// Splits a sentence into clauses. Commas between arguments do not split.
pub(crate) fn clauses(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < tokens.len() {
        if at > start && begins_clause(tokens, start, at) {
            clauses.push(start..at);
            start = at;
        }
        at += 1;
    }
    clauses.push(start..tokens.len());
    clauses.retain(|clause| {
        tokens[clause.clone()]
            .iter()
            .any(|token| !matches!(token.kind, Kind::Mark(_)))
    });
    clauses
}

fn begins_clause(tokens: &[Token], start: usize, at: usize) -> bool {
    let token = &tokens[at];
    // "…, et non 87": the conjunction goes with the "no" that it makes a denial.
    if at + 1 < tokens.len() && contrasts(tokens, at + 1) {
        return true;
    }
    if contrasts(tokens, at) {
        return false;
    }
    // Asked for cues alone: for each token it would cost the square of a clause's length.
    let stands_alone = || {
        let denied = !is_soft(tokens, at - 1)
            && (start..at).any(|at| is_negation(tokens, at) || tokens[at].has(Tags::STOP));
        let only_light = tokens[start..at]
            .iter()
            .all(|token| token.has(LIGHT.union(Tags::REPAIR)) && token.kind == Kind::Word);
        !only_light && !denied
    };
    if token.has(
        Tags::REPAIR
            .union(Tags::TAKE_BACK)
            .union(Tags::TAKE_BACK_LAST)
            .union(Tags::FIX),
    ) {
        // "schick doch 20": behind a verb it only softens.
        let softens = token.has(Tags::REPAIR.union(Tags::CONTRAST))
            && token.has(Tags::FILLER)
            && tokens[at - 1].has(VERBS);
        if softens || token.has(Tags::FIX) && settled::says_no_sum(tokens, at) {
            return false;
        }
        // "no wait", "sorry, I meant": one cue, unless something was asked before it. A negation before it
        // without a mark reaches over it ("don't actually send 50", "don't send it to Bob").
        return stands_alone();
    }
    // "ne Überweisung": an article where no mark follows.
    let is_article = token.has(Tags::DET)
        && tokens
            .get(at + 1)
            .is_some_and(|next| !matches!(next.kind, Kind::Mark(_)));
    if token.has(Tags::NO) && !is_negation(tokens, at) && !is_article {
        return stands_alone();
    }
    let before = &tokens[at - 1];
    let soft = is_soft(tokens, at - 1);
    if settled::begins(tokens, start, at, soft) {
        return true;
    }
    let follows = before.has(Tags::SO) && before.kind == Kind::Word;
    let joint = follows || before.has(Tags::AND.union(Tags::CONTRAST)) && before.kind == Kind::Word;
    if !soft && !joint {
        return false;
    }
    let head = (at..tokens.len()).find(|at| !tokens[*at].has(LIGHT) || tokens[*at].has(STARTERS));
    let Some(head) = head else { return false };
    // "Bob, not Carol": without a verb it is one correction.
    let value_follows = tokens
        .get(head + 1)
        .is_some_and(|next| matches!(next.kind, Kind::Name { .. } | Kind::Amount(_)));
    let no_verb = !tokens[start..at]
        .iter()
        .any(|token| token.has(VERBS) && token.kind == Kind::Word);
    if is_negation(tokens, head) && value_follows && no_verb && soft {
        return false;
    }
    let starters = if follows && !soft {
        VERBS.union(Tags::FRAME).union(Tags::FIX)
    } else {
        STARTERS
    };
    if tokens[head].has(starters) && tokens[head].kind == Kind::Word {
        return true;
    }
    if !soft {
        return false;
    }
    if denies_named(tokens, at) && has_whole(&tokens[start..at]) {
        return true;
    }
    // "20 to each: Alice, Bob and Carol"
    if before.is_mark(":") && lists_names(tokens, start, at) {
        return false;
    }
    // "To Bob: 20" is one clause; behind a verb or other words a colon begins another.
    let plain = tokens[start..at]
        .iter()
        .all(|token| !token.has(VERBS) && !token.is_unknown());
    if (before.is_mark(":") && !plain) || is_bystander(tokens, head) {
        return true;
    }
    // A verb on both sides: each has its own clause.
    let end = (head..tokens.len())
        .find(|at| is_soft(tokens, *at))
        .unwrap_or(tokens.len());
    let has_verb = |range: Range<usize>| {
        tokens[range]
            .iter()
            .any(|token| token.has(VERBS) && token.kind == Kind::Word)
    };
    has_verb(start..at) && has_verb(head..end)
}

/// "…, to Ann nothing": somebody named at the head of what a word right behind denies.
fn denies_named(tokens: &[Token], at: usize) -> bool {
    let leads = LIGHT.union(Tags::TO).union(Tags::FOR).union(Tags::DET);
    let head =
        (at..tokens.len()).find(|at| !(tokens[*at].kind == Kind::Word && tokens[*at].has(leads)));
    head.is_some_and(|head| {
        matches!(
            tokens[head].kind,
            Kind::Name {
                possessive: false,
                ..
            }
        ) && tokens.get(head + 1).is_some_and(|next| {
            next.kind == Kind::Word
                && next.has(Tags::NEG.union(Tags::NO))
                && !next.has(Tags::DET)
                && !contrasts(tokens, head + 1)
        })
    })
}

/// Whether a clause names a sum and somebody.
fn has_whole(clause: &[Token]) -> bool {
    clause
        .iter()
        .any(|token| matches!(token.kind, Kind::Amount(_)))
        && clause
            .iter()
            .any(|token| matches!(token.kind, Kind::Name { .. } | Kind::Account(_)))
}

/// Whether nothing but names stands behind a colon, and an "each" without a name before it.
fn lists_names(tokens: &[Token], start: usize, at: usize) -> bool {
    let is_name = |token: &Token| matches!(token.kind, Kind::Name { .. });
    let before = &tokens[start..at];
    let is_each = before
        .iter()
        .any(|token| token.has(Tags::EACH) && token.kind == Kind::Word);
    let only_names = tokens[at..].iter().all(|token| {
        is_name(token)
            || token.is_mark(",")
            || token.kind == Kind::Word
                && token.has(Tags::AND.union(Tags::TO).union(Tags::FOR).union(Tags::DET))
    });
    is_each && only_names && !before.iter().any(is_name)
}

/// A mark that may part clauses; a hyphen only between blanks.
fn is_soft(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    token.is_mark(SOFT_MARKS)
        && !(token.is_mark("-/")
            && token.glued
            && tokens.get(at + 1).is_some_and(|next| next.glued))
}

/// A name with a sentence of its own behind it ("…, Bob knows about it").
fn is_bystander(tokens: &[Token], mut at: usize) -> bool {
    while tokens[at].has(Tags::DET) && tokens[at].kind == Kind::Word && at + 1 < tokens.len() {
        at += 1;
    }
    let Kind::Name { possessive, .. } = tokens[at].kind else {
        return false;
    };
    let Some(next) = tokens.get(at + 1) else {
        return false;
    };
    let argument = Tags::AND
        .union(Tags::OR)
        .union(Tags::TO)
        .union(Tags::FOR)
        .union(Tags::FROM)
        .union(Tags::EACH)
        .union(Tags::POLITE)
        .union(Tags::RESPECTIVELY)
        .union(Tags::FILLER)
        .union(Tags::ON)
        .union(Tags::DAY_WORD)
        .union(Tags::INSTEAD)
        .union(Tags::CURRENCY)
        .union(Tags::RHYTHM)
        .union(Tags::EVERY)
        .union(Tags::APPROX)
        .union(Tags::SAME)
        .union(Tags::ALSO);
    !possessive && next.kind == Kind::Word && (next.is_unknown() || !next.has(argument))
}
