//! Clauses with values that tell something: what somebody was or wanted, and what is to be written with a payment.

use crate::{
    sentences::VERBS,
    speech::{CUES, LIGHT},
    tags::Tags,
    tokens::{Kind, Token},
};

/// "En el concepto ponle recibo 1190": what is to be written with the payment.
pub(crate) fn writes_reference(clause: &[Token]) -> bool {
    let mut words = clause
        .iter()
        .filter(|token| token.kind == Kind::Word && !token.has(LIGHT.union(Tags::DET)));
    let (first, second) = (words.next(), words.next());
    let leads = first.is_some_and(|first| first.has(Tags::INTO.union(Tags::ON).union(Tags::FOR)));
    let names_it = second
        .is_some_and(|second| second.has(Tags::TAIL) && !second.has(Tags::BECAUSE.union(Tags::TO)));
    // "Verwendungszweck Miete Dezember Whg 14": a line of its own.
    let line = clause
        .iter()
        .find(|token| !(token.kind == Kind::Word && token.has(LIGHT.union(Tags::DET))))
        .is_some_and(|first| first.kind == Kind::Word && first.has(Tags::REFERENCE))
        && !clause.iter().any(|token| {
            let says = CUES
                .without(Tags::REPAIR)
                .union(Tags::NEG)
                .union(Tags::FIX)
                .union(Tags::INSTEAD)
                .union(Tags::STATES)
                .union(Tags::STOP_ALONE)
                .union(VERBS);
            token.kind == Kind::Word && token.has(says)
                || matches!(token.kind, Kind::Account(_))
                || matches!(&token.kind, Kind::Amount(amount) if amount.currency.is_some())
        });
    let goes_to_somebody = clause.windows(2).any(|pair| {
        pair[0].kind == Kind::Word
            && pair[0].has(Tags::TO)
            && matches!(pair[1].kind, Kind::Name { .. })
    });
    (leads && names_it || line) && !goes_to_somebody
}

/// "Davide was last week": somebody named and what he was or did, without a sum and a word of correction.
pub(crate) fn tells_of_named(clause: &[Token]) -> bool {
    let mut words = clause.iter().filter(|token| {
        !(matches!(token.kind, Kind::Mark(_))
            || token.kind == Kind::Word && token.has(LIGHT.union(Tags::DET)))
    });
    let named = words
        .next()
        .is_some_and(|first| matches!(first.kind, Kind::Name { .. }));
    let states = words.next().is_some_and(|next| {
        next.kind == Kind::Word
            && next.has(Tags::STATES)
            && !next.has(
                Tags::TO
                    .union(Tags::FOR)
                    .union(Tags::FRAME)
                    .union(Tags::FRAME_NEED)
                    .union(Tags::SAY)
                    .union(Tags::DEBT),
            )
    });
    let goes_on = words.next().is_some_and(|next| !next.has(Tags::IT));
    let corrects = clause.iter().any(|token| {
        matches!(token.kind, Kind::Amount(_))
            || token.kind == Kind::Word && token.has(CUES.union(Tags::INSTEAD).union(Tags::NEG))
    });
    named && states && goes_on && !corrects
}

/// "Beatriz wanted 100": whoever is named right before a wish or need has it, not the customer.
pub(crate) fn wished_by_another(clause: &[Token]) -> bool {
    clause.windows(2).any(|pair| {
        matches!(
            pair[0].kind,
            Kind::Name {
                possessive: false,
                ..
            }
        ) && pair[1].kind == Kind::Word
            && pair[1].has(Tags::FRAME.union(Tags::FRAME_NEED))
            && !pair[1].has(Tags::POLITE.union(LIGHT))
    })
}
