//! Who is no longer to be paid because another takes the place: "instead of Bob, send it to Carol".

use crate::{
    Reason, Target,
    context::Context,
    moves::{Move, Pair, Said, Who},
    sentences::Sentence,
    signs::Signs,
    tags::Tags,
    tokens::{Kind, Token},
};

/// Words between "instead of" and the name: an article, "to".
const BETWEEN: Tags = Tags::DET.union(Tags::TO).union(Tags::OF).union(Tags::FOR);

/// Ends what was to go to those in whose place a sentence puts another.
pub(crate) fn end(context: &Context, sentence: &Sentence, said: &mut Vec<Said>) {
    let tokens = &context.tokens[sentence.tokens.clone()];
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return;
    };
    if !context.signs(tokens).has(Signs::REPLACES) {
        return;
    }
    let mut payees: Vec<Target> = Vec::new();
    let mut unknown = false;
    for sign in context.signs.iter().filter(|sign| {
        sign.signs.has(Signs::REPLACES) && first.start <= sign.start && sign.start < last.end
    }) {
        let behind = tokens.partition_point(|token| token.start < sign.end);
        let named = tokens[behind..]
            .iter()
            .find(|token| !(token.kind == Kind::Word && token.has(BETWEEN)));
        let known = named.and_then(|token| target(context, token));
        // "zamiast Dave'a", "instead of him": whoever it is, nobody is sure to be paid any more.
        unknown |= known.is_none()
            && named.is_some_and(|token| {
                token.kind == Kind::Word && (token.capital || token.has(Tags::PRONOUN))
            });
        payees.extend(known);
    }
    payees.retain(|payee| !said.iter().any(|said| asks_for(&said.act, *payee)));
    if unknown {
        let act = Move::Reopen {
            payee: true,
            amount: false,
        };
        let at = context.span(first, last);
        said.insert(0, Said { act, at });
    }
    if !payees.is_empty() {
        let at = context.span(first, last);
        let act = Move::Forbid {
            payees,
            amounts: Vec::new(),
            reason: Reason::TakenBack,
        };
        said.push(Said { act, at });
    }
}

fn target(context: &Context, token: &Token) -> Option<Target> {
    match context.who(context.meaning(token)?) {
        Who::Target(target) => Some(target),
        _ => None,
    }
}

fn asks_for(act: &Move, payee: Target) -> bool {
    let names = |pairs: &[Pair]| {
        pairs.iter().any(|pair| {
            pair.payee
                .as_ref()
                .is_some_and(|mention| mention.who == Who::Target(payee))
        })
    };
    match act {
        Move::Ask { pairs, .. } => names(pairs),
        Move::Fragment(fragment) => names(&fragment.pairs),
        Move::Amend { amends, otherwise } => {
            asks_for(amends, payee) || otherwise.iter().any(|said| asks_for(&said.act, payee))
        }
        _ => false,
    }
}
