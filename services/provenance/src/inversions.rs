//! Conditions without an "if": a verb leads its clause, and the order follows behind a mark ("Sollte er anrufen, …").

use crate::{
    context::Context,
    sentences::VERBS,
    signs::Signs,
    speech::LIGHT,
    tags::Tags,
    tokens::{Kind, Token},
};

/// Where a subject may stand behind its verb, counted in tokens: "sich", "mir" and the like come between.
const SUBJECT_WITHIN: usize = 3;

/// Whether a sentence begins with a condition that only the order of its words tells.
pub(crate) fn leads(context: &Context, tokens: &[Token]) -> bool {
    if follows(context, tokens) {
        return true;
    }
    let light = |token: &Token| {
        matches!(token.kind, Kind::Mark(_))
            || token.kind == Kind::Word && token.has(LIGHT) && !inverts(context, token)
    };
    let Some(first) = tokens.iter().position(|token| !light(token)) else {
        return false;
    };
    let head = &tokens[first];
    // "Should you have a moment": a courtesy in more words than the verb.
    let longest = |signs: Signs| {
        context
            .signs
            .iter()
            .filter(|sign| {
                sign.signs.has(signs) && sign.start <= head.start && head.end <= sign.end
            })
            .map(|sign| sign.end)
            .max()
    };
    if head.kind != Kind::Word || longest(Signs::COURTESY) > longest(Signs::INVERTED) {
        return false;
    }
    let behind = &tokens[first + 1..];
    let Some(mark) = behind
        .iter()
        .position(|token| token.is_mark(",:\n\u{2013}\u{2014}-"))
    else {
        return inverts(context, head) && orders(behind) && subject(behind);
    };
    let order = behind[mark + 1..].iter().find(|token| !light(token));
    // "…, dann überweise": a word that only leads to the order.
    let order = match order {
        Some(order) if order.is_unknown() => behind[mark + 1..]
            .iter()
            .skip_while(|token| light(token))
            .nth(1),
        order => order,
    };
    let orders_next = order.is_some_and(|order| order.has(ORDERS) || is_value(order));
    if inverts(context, head) {
        // "Sollte …, überweise", "Should …, then please": an order anywhere behind it hangs on it.
        return subject(behind) && (orders_next || orders(&behind[mark + 1..]));
    }
    let word_of = |token: &Token| &context.folded.text[token.start..token.end];
    // "De llamar el casero, manda …": an infinitive behind "of".
    let infinitive = behind
        .iter()
        .find(|token| !token.has(Tags::NEG))
        .is_some_and(|next| {
            next.kind == Kind::Word
                && (next.is_unknown() || next.has(VERBS))
                && context
                    .lexicon
                    .infinitives
                    .iter()
                    .any(|ending| word_of(next).ends_with(ending))
        });
    if head.has(Tags::OF) && infinitive && orders_next {
        return true;
    }
    // "Kommt das Geld, überweis …": any verb in the third person, where the verb stands last otherwise.
    let word = word_of(head);
    let plain = head.tags.without(PLAIN_VERBS).is_empty();
    let next = behind.first();
    let is_next = |tags: Tags| next.is_some_and(|next| next.kind == Kind::Word && next.has(tags));
    let thing = next.is_some_and(|next| matches!(next.kind, Kind::Name { .. }))
        || is_next(Tags::DET)
        || next.is_some_and(|next| matches!(word_of(next), "sich" | "zich"));
    // "Bekomme ich", "Regnet es": before a pronoun whatever form it has.
    let verb = thing && (word.ends_with('t') || word.ends_with("en"))
        || is_next(Tags::SUBJECT.union(Tags::IT));
    context.lexicon.verb_last && plain && verb && orders_next
}

/// Whether such a condition stands behind the order ("überweise Dave 640, sollte sich der Vermieter melden").
fn follows(context: &Context, tokens: &[Token]) -> bool {
    (1..tokens.len()).any(|at| {
        context.belongs_to(&tokens[at], Signs::INVERTED_BEHIND)
            && tokens[at].kind == Kind::Word
            && matches!(tokens[at - 1].kind, Kind::Mark(_))
            && orders(&tokens[..at])
            && subject(&tokens[at + 1..])
    })
}

const ORDERS: Tags = VERBS.union(Tags::FRAME).union(Tags::POLITE).union(Tags::SO);

/// What a verb may be known as that only tells.
const PLAIN_VERBS: Tags = Tags::STATES
    .union(Tags::AMOUNTS_TO)
    .union(Tags::COMMON)
    .union(Tags::UNIT)
    .union(Tags::REVERSE);

fn inverts(context: &Context, token: &Token) -> bool {
    context.belongs_to(token, Signs::INVERTED)
}

fn is_value(token: &Token) -> bool {
    matches!(token.kind, Kind::Amount(_) | Kind::Name { .. })
}

fn orders(tokens: &[Token]) -> bool {
    tokens
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(VERBS))
}

/// Whether somebody or something follows that does what the verb says.
fn subject(behind: &[Token]) -> bool {
    let subject = Tags::DET
        .union(Tags::SUBJECT)
        .union(Tags::PERSON)
        .union(Tags::IT)
        .union(Tags::PRONOUN)
        .union(Tags::PAY_NOUN);
    behind
        .iter()
        .take(SUBJECT_WITHIN)
        .take_while(|token| !matches!(token.kind, Kind::Mark(_) | Kind::Amount(_)))
        .any(|token| match token.kind {
            Kind::Name { .. } => true,
            Kind::Word => token.has(subject) || token.is_unknown(),
            _ => false,
        })
}
