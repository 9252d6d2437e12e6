//! What a request without values of its own refers to: a list behind a colon, a debt, the sentence before.

use std::ops::Range;

use crate::{
    Reason,
    arguments::Item,
    blocks::blocked,
    context::Context,
    moves::{Move, Pair, Said, Who},
    pairing, scan,
    sentences::{self, Sentence, VERBS},
    tags::Tags,
    tokens::{Kind, Token},
};

/// "Please pay: Alice 30, Bob 45": the list is what is asked.
pub(crate) fn list_behind_colon(said: &mut [Said], act: &mut Move) {
    let Some(Said {
        act: before @ Move::Ask { .. },
        ..
    }) = said.last_mut()
    else {
        return;
    };
    let Move::Ask {
        pairs,
        terms,
        repair,
        also,
    } = before
    else {
        return;
    };
    if let Move::Fragment(fragment) = act
        && pairs.iter().all(|pair| pair.payee.is_none())
        && fragment
            .pairs
            .iter()
            .all(|pair| pair.payee.is_some() && pair.amount.is_some())
    {
        let (mut terms, repair, also) = (std::mem::take(terms), *repair, *also);
        // "Set up a standing order: 50 monthly to Mum from 1 February": the rhythm may stand on either side.
        terms.recurring |= fragment.terms.recurring;
        terms.frequency = fragment.terms.frequency.or(terms.frequency);
        terms.start = fragment.terms.start.or(terms.start);
        terms.from = fragment.terms.from.or(terms.from);
        *act = Move::Ask {
            pairs: std::mem::take(&mut fragment.pairs),
            terms,
            repair,
            also,
        };
        *before = Move::Nothing;
    }
}

/// The one amount and payee of a clause that a bare "pay it" behind it means.
pub(crate) fn referred(
    context: &Context,
    sentence: &Sentence,
    clause: &[Token],
    range: Range<usize>,
) -> Option<Pair> {
    // A debt may be told at length ("the 57 I owe Bob from the weekend").
    let owed = clause.iter().any(|token| token.has(Tags::DEBT));
    let plain = clause.iter().all(|token| {
        (owed || !token.is_unknown())
            && !token.has(
                Tags::SAY
                    .union(Tags::REVERSE)
                    .union(Tags::NO)
                    .union(Tags::OR),
            )
            && !matches!(token.kind, Kind::Quoted)
    });
    if !plain {
        return None;
    }
    let mut found = scan::scan(context, sentence.tokens.start + range.start, clause, None);
    if owed {
        found.items.retain(|item| {
            !matches!(item, Item::Payee { mention, .. }
                if matches!(mention.who, Who::Open(Reason::UnknownPayee)) && !mention.marked)
        });
    }
    match pairing::pair(&found).as_slice() {
        [
            pair @ Pair {
                payee: Some(_),
                amount: Some(_),
            },
        ] if found.amounts() == 1 && !found.negated && !found.reverse => Some(pair.clone()),
        _ => None,
    }
}

/// The same in the sentence before.
pub(crate) fn referred_sentence(context: &Context, sentence: &Sentence) -> Option<Pair> {
    let all = sentences::split(&context.tokens[..sentence.tokens.start]);
    let before = all.last()?;
    let tokens = &context.tokens[before.tokens.clone()];
    if blocked(tokens, before.question).is_some()
        || tokens
            .iter()
            .any(|token| token.has(VERBS) && !token.has(Tags::PAY_NOUN))
    {
        return None;
    }
    referred(context, before, tokens, 0..tokens.len())
}

pub(crate) fn with_values(act: Move, values: Pair) -> Move {
    match act {
        Move::Ask {
            terms,
            repair,
            also,
            ..
        } => Move::Ask {
            pairs: vec![values],
            terms,
            repair,
            also,
        },
        other => other,
    }
}

/// Whether a request without values, or for the same payee without an amount, can mean a pair.
pub(crate) fn refers_to(pairs: &[Pair], values: &Pair) -> bool {
    let [
        Pair {
            amount: None,
            payee,
        },
    ] = pairs
    else {
        return false;
    };
    match (payee, &values.payee) {
        (None, _) => true,
        (Some(named), Some(meant)) => matches!(named.who, Who::Target(_)) && named.who == meant.who,
        _ => false,
    }
}

/// "Bob needs 20, send it to him": the amount of the clause before goes to the one it named.
pub(crate) fn sent_to(act: &Move, values: &Pair) -> Option<Move> {
    let Move::Fragment(fragment) = act else {
        return None;
    };
    let [
        Pair {
            payee: Some(payee),
            amount: None,
        },
    ] = fragment.pairs.as_slice()
    else {
        return None;
    };
    let same = values
        .payee
        .as_ref()
        .is_some_and(|meant| meant.who == payee.who && matches!(meant.who, Who::Target(_)));
    (fragment.sends && same).then(|| Move::Ask {
        pairs: vec![values.clone()],
        terms: fragment.terms.clone(),
        repair: false,
        also: fragment.also,
    })
}

pub(crate) fn is_bare(pairs: &[Pair]) -> bool {
    matches!(
        pairs,
        [Pair {
            amount: None,
            payee: None
        }]
    )
}

pub(crate) fn clause_follows_colon(tokens: &[Token], clause: &Range<usize>) -> bool {
    let first = tokens[clause.clone()]
        .iter()
        .position(|token| !matches!(token.kind, Kind::Mark(_)))
        .unwrap_or(0);
    tokens[..clause.start + first]
        .iter()
        .rev()
        .take_while(|token| matches!(token.kind, Kind::Mark(_)))
        .any(|token| token.is_mark(":"))
}
