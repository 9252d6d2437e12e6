//! Requests in words that no section of a language file holds: what stands around the unknown words decides.
//!
//! A sum and somebody it goes to are a request when the words beside them turn to the assistant or name nobody
//! who acts, tell nothing and deny nothing. An unknown word may then be the verb ("can you sort 20 to Bob",
//! "yeet 20 to Bob") or what the money is for ("garage rent 20 to Bob").

use crate::{
    arguments::{Arguments, Item},
    context::Context,
    moves::Move,
    pairing,
    retags::WISH,
    scan,
    sentences::VERBS,
    signs::Signs,
    speech::LIGHT,
    tags::Tags,
    tokens::{Kind, Token},
};

/// Words beside a sum and a payee that say something else than a request.
const SAYS_ELSE: Tags = Tags::SUBJECT
    .union(Tags::SAY)
    .union(Tags::REVERSE)
    .union(Tags::REVERSE_NOUN)
    .union(Tags::NEG)
    .union(Tags::NO)
    .union(Tags::CONDITION)
    .union(Tags::HYPOTHESIS)
    .union(Tags::IF_YOU)
    .union(Tags::ASK)
    .union(Tags::ASK_HEAD)
    .union(Tags::DEBT)
    .union(Tags::STATES)
    .union(Tags::REMIND)
    .union(Tags::ANNOUNCE)
    .union(Tags::TEXT_WORK)
    .union(Tags::OTHER_VERB)
    .union(Tags::STOP)
    .union(Tags::TAKE_BACK)
    .union(Tags::TAKE_BACK_LAST)
    .union(Tags::FRAME_MINE)
    .union(Tags::FRAME_NEED)
    .union(Tags::VAGUE_TIME)
    .union(Tags::REPAIR)
    .union(Tags::INSTEAD)
    .union(Tags::ME)
    .union(Tags::OR);

/// The most words without a section that a clause may hold.
const UNKNOWN_MAX: usize = 5;

/// A clause without a known verb, read as a request where its values and unknown words allow it.
pub(crate) fn ask(context: &Context, base: usize, clause: &[Token]) -> Option<Move> {
    let verb = verb(context, clause);
    let plain = clause
        .iter()
        .enumerate()
        .all(|(at, token)| match token.kind {
            Kind::Word if Some(at) == verb => true,
            Kind::Word if token.is_unknown() => !context.lexicon.tells(word(context, token)),
            Kind::Word => !token.has(SAYS_ELSE) || token.has(Tags::FRAME.union(LIGHT)),
            Kind::Quoted | Kind::BadAccount => false,
            _ => true,
        });
    let unknown = clause.iter().filter(|token| token.is_unknown()).count();
    // "Transferi 300 para a Acme ontem": what is over is no request.
    // Nor is what is put off ("hold fire on the 40 for Ann").
    let over = context
        .signs(clause)
        .has(Signs::PAST.union(Signs::HESITATE).union(Signs::MOCK));
    if !plain || over || unknown > UNKNOWN_MAX {
        return None;
    }
    let found = scan::scan(context, base, clause, verb);
    if found.negated || found.reverse || found.me || !found.not_payees.is_empty() {
        return None;
    }
    let asked = verb.is_some_and(|verb| {
        clause[..verb]
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(Tags::FRAME))
    }) || found.polite;
    // "is 20 enough for Bob": behind a word that may say anything, "for" marks nobody.
    let weak = found
        .items
        .iter()
        .any(|item| matches!(item, Item::Payee { weak: true, .. }));
    if verb.is_some() && weak && !asked {
        return None;
    }
    let asked = asked || verb.is_some();
    if !is_transfer(&found, asked) {
        return None;
    }
    Some(Move::Ask {
        pairs: pairing::pair(&found),
        terms: found.terms,
        repair: false,
        also: found.also,
    })
}

/// Whether sums and payees make transfers: each payee is marked as the goal, or something else asks.
fn is_transfer(found: &Arguments, asked: bool) -> bool {
    let marked = found.items.iter().all(|item| match item {
        Item::Payee { mention, weak } => mention.marked || *weak || asked,
        Item::Amount { .. } => true,
    });
    found.amounts() > 0 && found.payees() > 0 && marked
}

/// The unknown word that stands where a verb would: behind a turn to the assistant, at the end behind one where a
/// language puts its verbs there, or at the head right before the values.
fn verb(context: &Context, clause: &[Token]) -> Option<usize> {
    let next = |mut at: usize| {
        while clause.get(at).is_some_and(|token| {
            token.kind == Kind::Word
                && token.has(LIGHT.union(Tags::DET))
                && !token.has(Tags::PRONOUN)
        }) {
            at += 1;
        }
        at
    };
    let is_value = |at: usize| {
        clause.get(at).is_some_and(|token| {
            matches!(
                token.kind,
                Kind::Amount(_) | Kind::Name { .. } | Kind::Account(_)
            ) || token.kind == Kind::Word && token.has(Tags::PRONOUN)
        })
    };
    let names_act = |at: usize| {
        let text = word(context, &clause[at]);
        let endings = &context.lexicon.infinitives;
        endings.is_empty()
            || endings
                .iter()
                .any(|end| text.len() > end.len() + 1 && text.ends_with(end))
    };
    let frame = clause
        .iter()
        .rposition(|token| token.kind == Kind::Word && token.has(Tags::FRAME));
    // "it'd be great if 25 went to Bob": what is wished may stand in any tense, before or behind its sum.
    let wish = frame.filter(|frame| clause[*frame].value == Some(WISH));
    if let Some(frame) = wish {
        let behind = next(frame + 1);
        let after = next(behind + 1);
        let amount = matches!(clause.get(behind)?.kind, Kind::Amount(_));
        return [behind, after].into_iter().find(|at| {
            clause.get(*at).is_some_and(Token::is_unknown) && (*at == behind || amount)
        });
    }
    if let Some(frame) = frame {
        let behind = next(frame + 1);
        let last = clause
            .iter()
            .rposition(|token| token.kind == Kind::Word && !token.has(LIGHT));
        return [Some(behind), last.filter(|_| context.lexicon.verb_last)]
            .into_iter()
            .flatten()
            .find(|at| {
                *at > frame && clause.get(*at).is_some_and(Token::is_unknown) && names_act(*at)
            });
    }
    let first = next(0);
    let head = clause.get(first)?;
    let asks = head.is_unknown()
        && is_value(next(first + 1))
        && !context.lexicon.tells(word(context, head))
        && !clause
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(VERBS));
    asks.then_some(first)
}

fn word<'t>(context: &'t Context, token: &Token) -> &'t str {
    &context.folded.text[token.start..token.end]
}
