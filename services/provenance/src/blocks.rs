//! Why a whole sentence can ground nothing: a condition, a question, a reminder, work on a text.

use crate::{
    Reason,
    sentences::VERBS,
    speech::LIGHT,
    tags::Tags,
    tokens::{Kind, Token},
};

/// Why no clause of a sentence can ground anything.
pub(crate) fn blocked(tokens: &[Token], question: bool) -> Option<Reason> {
    let words = || tokens.iter().filter(|token| token.kind == Kind::Word);
    let said = words().fold(Tags::NONE, |tags, token| tags.union(token.tags));
    if said.has(Tags::CONDITION) || said.has(Tags::IF_YOU) && has_open_condition(tokens) {
        return Some(Reason::Conditional);
    }
    if said.has(Tags::HYPOTHESIS) {
        return Some(Reason::Question);
    }
    if said.has(Tags::REMIND) {
        return Some(Reason::Reminder);
    }
    if said.has(Tags::TEXT_WORK.union(Tags::ANNOUNCE)) {
        return Some(Reason::Quoted);
    }
    let head = tokens.iter().find(|token| {
        token.kind == Kind::Word && !token.has(LIGHT.union(Tags::REPAIR).union(Tags::NO))
    });
    if question && asks_which(tokens) {
        return Some(Reason::Question);
    }
    let framed = said.has(Tags::FRAME.union(Tags::POLITE));
    // "Sanne heeft …, maak haar 33 over": behind the one it speaks of a verb tells.
    let named_first = tokens
        .iter()
        .find(|token| {
            !(matches!(token.kind, Kind::Mark(_))
                || token.has(LIGHT.union(Tags::REPAIR)) && token.kind == Kind::Word)
        })
        .map(|first| &first.kind);
    let asks = if matches!(named_first, Some(Kind::Amount(_))) && !question {
        Tags::NONE
    } else if matches!(named_first, Some(Kind::Name { .. })) && !question {
        Tags::ASK
    } else {
        Tags::ASK.union(Tags::ASK_HEAD)
    };
    // "son 77", "é 114": a correction, where no mark asks.
    let amount_follows = tokens
        .iter()
        .skip_while(|token| !token.has(Tags::ASK_HEAD))
        .skip(1)
        .find(|token| !(token.kind == Kind::Word && token.has(LIGHT)))
        .is_some_and(|next| matches!(next.kind, Kind::Amount(_)));
    let states = |head: &Token| {
        // "Devo pagare 45 a Carol": a need, where no mark asks.
        let needs = head.has(Tags::FRAME_NEED) && !head.has(Tags::ASK);
        !question && (head.has(Tags::FIX) || needs || head.has(Tags::ASK_HEAD) && amount_follows)
    };
    if head.is_some_and(|head| head.has(asks) && !states(head)) {
        return Some(Reason::Question);
    }
    if said.has(Tags::FRAME_MINE) && !said.has(Tags::POLITE) {
        return Some(Reason::Question);
    }
    let tagged = tokens.last().is_some_and(|last| last.has(Tags::ASK_TAG));
    (question && !framed && !tagged).then_some(Reason::Question)
}

/// "Can you send 20 to Bob or is there a limit?": another possibility, without values of its own, makes it a question
/// what is possible.
fn asks_which(tokens: &[Token]) -> bool {
    let is_word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let Some(or) = tokens.iter().rposition(|token| is_word(token, Tags::OR)) else {
        return false;
    };
    let (before, behind) = (&tokens[..or], &tokens[or + 1..]);
    let has_value = behind.iter().any(|token| {
        matches!(
            token.kind,
            Kind::Name { .. } | Kind::Amount(_) | Kind::Account(_) | Kind::Date(_)
        )
    });
    let small = LIGHT
        .union(Tags::NO)
        .union(Tags::NEG)
        .union(Tags::ASK_TAG)
        .union(Tags::DAY_WORD)
        .union(Tags::WEEKDAY)
        .union(Tags::VAGUE_TIME)
        .union(Tags::PERSON)
        .union(Tags::DET);
    let says_something = behind
        .iter()
        .any(|token| token.kind == Kind::Word && !token.has(small));
    let asks = before
        .iter()
        .any(|token| is_word(token, VERBS.union(Tags::FRAME)));
    asks && says_something && !has_value
}

/// Whether an "if you" is a condition: it is a polite request only with a "could" beside the verb of paying.
fn has_open_condition(tokens: &[Token]) -> bool {
    let is_word = |at: usize, tags: Tags| {
        tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Word && token.has(tags))
    };
    let asked = |at: usize| {
        is_word(at, Tags::YOU_COULD)
            && (is_word(at + 1, VERBS) || at.checked_sub(1).is_some_and(|at| is_word(at, VERBS)))
    };
    let thanked = (0..tokens.len()).any(|at| is_word(at, Tags::GRATEFUL));
    (0..tokens.len())
        .filter(|at| is_word(*at, Tags::IF_YOU) && !thanked)
        .any(|at| {
            let end = (at..tokens.len())
                .find(|at| tokens[*at].is_mark(",;:\n"))
                .unwrap_or(tokens.len());
            !(at..end).any(asked)
        })
}

/// A condition behind a request, without a request of its own ("but only if my salary arrives").
pub(crate) fn is_afterthought(tokens: &[Token]) -> bool {
    let first = tokens
        .iter()
        .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)));
    let asks_else = tokens
        .iter()
        .any(|token| token.has(Tags::ASK.union(Tags::PAY)) && token.kind == Kind::Word);
    first.is_some_and(|first| first.has(Tags::CONDITION.union(Tags::IF_YOU))) && !asks_else
}
