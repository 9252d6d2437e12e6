//! What a clause that asks for nothing does to the requests before it.
//!
//! After a request people say much that is neither "yes" nor "no": that they would rather sleep on it, that Bob
//! has his money already, that it rains. What speaks against a request ends it, at once. What cannot be read but
//! bears on it (the customer speaks of himself, denies something, speaks of the payment) ends it too when it is
//! all that a later message says: an open slot costs a pick, a payment nobody wants any more costs money.

use crate::{
    Reason, Target,
    context::Context,
    moves::{Fragment, Move, Strength},
    remarks::{bearing, denies},
    sentences::VERBS,
    signs::Signs,
    speech::CUES,
    tags::Tags,
    tokens::{Kind, Token, is_negation},
};

/// The move of a clause with regard to what was asked before it.
pub(crate) fn weigh(context: &Context, clause: &[Token], act: Move, question: bool) -> Move {
    let mut signs = context.signs(clause);
    let asked = signs.has(Signs::ASKED)
        && !signs.has(Signs::FIRST_PERSON.union(Signs::HESITATE))
        && !clause.iter().any(|token| {
            matches!(token.kind, Kind::Amount(_))
                || token.kind == Kind::Word && token.has(VERBS.union(Tags::NEG).union(Tags::NO))
        });
    if asked {
        signs = signs.without(Signs::SPARE);
    }
    let named = named(context, clause);
    let values_stay = matches!(&act, Move::Fragment(fragment) if fragment.restrict);
    if signs.has(Signs::SPARE) && !named.is_empty() && !values_stay && !is_request(&act) {
        return spare(named);
    }
    // "don't do that second one": the newest.
    if let Move::TakeBack {
        all: true,
        of_what,
        bare_no: false,
    } = act
        && named.is_empty()
        && clause.iter().any(|token| token.has(Tags::ORDINAL))
        && clause
            .iter()
            .any(|token| token.has(Tags::ONE.union(Tags::IT)))
    {
        return Move::TakeBack {
            all: false,
            of_what,
            bare_no: false,
        };
    }
    // "Freeze my card, I can't find it": what the negation denies is not the request.
    if let Move::TakeBack { bare_no: false, .. } = act
        && signs.has(Signs::HARMLESS)
        && !denies(context, clause)
        && !clause.iter().any(|token| {
            token.has(
                Tags::STOP
                    .union(Tags::TAKE_BACK)
                    .union(Tags::TAKE_BACK_LAST)
                    .union(Tags::REPAIR)
                    .union(Tags::NO),
            ) && token.kind == Kind::Word
                && !context.belongs_to(token, Signs::HARMLESS)
        })
    {
        return Move::Nothing;
    }
    if let Move::TakeBack { .. } = act {
        // "never mind about Bob"; but "wrong person, Carol" is about what was asked before.
        let parted = clause
            .iter()
            .any(|token| matches!(token.kind, Kind::Mark(_)));
        return match named.is_empty() || parted {
            true => act,
            false => Move::Doubt {
                payees: named,
                strength: Strength::Certain,
            },
        };
    }
    // "Cancel theirs": a pronoun does not say whose.
    if let Move::Forbid { payees, reason, .. } = &act
        && !payees.is_empty()
        && named.is_empty()
        && *reason == Reason::TakenBack
    {
        return Move::Doubt {
            payees: Vec::new(),
            strength: Strength::Certain,
        };
    }
    // "Attends pour les 40 d'Inès": what is put off before its values are named is not asked.
    let whole = matches!(&act, Move::Ask { .. } | Move::Fragment(_)) && is_request(&act);
    if whole && outweighed(context, clause) {
        return Move::Doubt {
            payees: named,
            strength: Strength::Certain,
        };
    }
    if matches!(&act, Move::Fragment(_)) && is_request(&act) && held_back_first(context, clause) {
        return Move::Doubt {
            payees: named,
            strength: Strength::Certain,
        };
    }
    if !leaves_open(&act) {
        return act;
    }
    if signs.has(Signs::RESTRICT)
        && let Move::Ask { pairs, terms, .. } = &act
        && pairs.iter().all(|pair| pair.payee.is_some())
    {
        // "only pay Alice"
        return Move::Fragment(Fragment {
            pairs: pairs.clone(),
            terms: terms.clone(),
            can_ask: true,
            restrict: true,
            ..Fragment::default()
        });
    }
    // "No wait, rather to Carol": a correction that can be read.
    let corrects =
        matches!(&act, Move::Fragment(fragment) if fragment.repair && !fragment.pairs.is_empty());
    if corrects {
        return act;
    }
    if signs.has(Signs::SPARE) && !question {
        return spare(named);
    }
    // "Let me talk to Bob first" is about more than Bob.
    let about = match signs.has(Signs::FIRST_PERSON) {
        true => Vec::new(),
        false => named.clone(),
    };
    if signs.has(Signs::HESITATE) {
        // "Ilse gets another 90, but not yet": about that, whoever else is to be paid.
        let own = !named.is_empty()
            && clause
                .iter()
                .any(|token| matches!(token.kind, Kind::Amount(_)));
        return Move::Doubt {
            payees: if own { named } else { about },
            strength: if own {
                Strength::Likely
            } else {
                Strength::Certain
            },
        };
    }
    let corrects = Tags::CHANGE
        .union(Tags::CHANGE_INFINITIVE)
        .union(Tags::FIX)
        .union(Tags::INSTEAD);
    let unread_correction = matches!(act, Move::Refuse(_))
        && !named.is_empty()
        && clause
            .iter()
            .any(|token| token.has(corrects) && token.kind == Kind::Word);
    if unread_correction && !question {
        return Move::Doubt {
            payees: named,
            strength: Strength::Certain,
        };
    }
    if question {
        return act;
    }
    let may_be = |payees| Move::Doubt {
        payees,
        strength: Strength::Likely,
    };
    if signs.has(Signs::POSTPONE) {
        return match act {
            // "pay Bob later"
            Move::Ask { .. } | Move::AskIt => Move::Doubt {
                payees: named,
                strength: Strength::Certain,
            },
            Move::Fragment(_) => may_be(named),
            _ => may_be(about),
        };
    }
    match &act {
        Move::Nothing | Move::Refuse(_) => match bearing(context, clause, signs) {
            Some(strength) => Move::Doubt {
                payees: named,
                strength,
            },
            None => act,
        },
        Move::Fragment(fragment) if only_time(fragment, clause) => may_be(named),
        _ => act,
    }
}

/// The same for a sentence that is refused as a whole.
pub(crate) fn weigh_refused(
    context: &Context,
    sentence: &[Token],
    reason: Reason,
    question: bool,
) -> Option<Move> {
    let quiet = match reason {
        // Without its mark a question can be a statement ("I am not sure").
        Reason::Question => {
            let wonders = sentence
                .iter()
                .any(|token| token.has(Tags::HYPOTHESIS) && token.kind == Kind::Word);
            let corrects = sentence
                .iter()
                .any(|token| token.has(Tags::REPAIR.union(Tags::NO)) && token.kind == Kind::Word);
            question || !wonders && !corrects && !denies(context, sentence)
        }
        Reason::Quoted => !speaks_against(sentence),
        _ => question,
    };
    // "Isn't that too much?"
    let too_much = |token: &Token| {
        token.kind == Kind::Word
            && token.has(Tags::TAKE_BACK)
            && !token.has(Tags::STOP_ALONE.union(Tags::STOP))
    };
    let asks_in_doubt =
        reason == Reason::Question && (denies(context, sentence) || sentence.iter().any(too_much));
    // "…, or was it 35?": another sum competes with the one that was asked for.
    let head = sentence
        .iter()
        .find(|token| !matches!(token.kind, Kind::Mark(_)) && !token.has(Tags::FILLER));
    let competes = reason == Reason::Question
        && head.is_some_and(|head| head.kind == Kind::Word && head.has(Tags::OR))
        && sentence
            .iter()
            .any(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }));
    if competes {
        return Some(Move::Doubt {
            payees: Vec::new(),
            strength: Strength::Certain,
        });
    }
    if context.signs(sentence).has(Signs::SPARE) && !question {
        return Some(spare(named(context, sentence)));
    }
    match weigh(context, sentence, Move::Refuse(reason), quiet) {
        // Without a mark it asks nothing, so it is about no answer either.
        Move::Doubt {
            payees,
            strength: Strength::Faint,
        } if reason == Reason::Question => Some(Move::Doubt {
            payees,
            strength: Strength::Likely,
        }),
        Move::Refuse(Reason::Question) if asks_in_doubt => Some(Move::Doubt {
            payees: named(context, sentence),
            strength: Strength::Likely,
        }),
        // "Carol says she is fine": so may whoever is to be paid.
        Move::Refuse(Reason::Quoted) if !question => {
            let payees = named(context, sentence);
            (!payees.is_empty() || speaks_against(sentence)).then_some(Move::Doubt {
                payees,
                strength: Strength::Likely,
            })
        }
        Move::Refuse(_) => None,
        other => Some(other),
    }
}

/// Whether a word of a sentence denies, stops or takes back.
fn speaks_against(sentence: &[Token]) -> bool {
    (0..sentence.len()).any(|at| {
        is_negation(sentence, at)
            || sentence[at].kind == Kind::Word
                && sentence[at].has(CUES.without(Tags::REPAIR).union(Tags::STOP))
    })
}

/// Whether a doubt stands before the first value of a clause.
fn held_back_first(context: &Context, clause: &[Token]) -> bool {
    let first = clause
        .iter()
        .position(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }));
    let corrects = Tags::REPAIR
        .union(Tags::NO)
        .union(Tags::FIX)
        .union(Tags::INSTEAD)
        .union(Tags::CONTRAST)
        .union(Tags::NEG);
    first.is_some_and(|first| {
        let before = &clause[..first];
        let breaks = |token: &Token| {
            matches!(token.kind, Kind::Mark(_)) || token.kind == Kind::Word && token.has(corrects)
        };
        context.signs(before).has(Signs::HESITATE) && !before.iter().any(breaks)
    })
}

/// Whether a doubt, or that it is done, stands behind a "but" ("I wanted to send Ann 20 but it's sorted").
fn outweighed(context: &Context, clause: &[Token]) -> bool {
    let against = Signs::SPARE.union(Signs::HESITATE).union(Signs::MOCK);
    clause
        .iter()
        .rposition(|token| token.kind == Kind::Word && token.has(Tags::CONTRAST))
        .filter(|but| {
            clause[..*but]
                .iter()
                .any(|token| matches!(token.kind, Kind::Amount(_)))
        })
        .is_some_and(|but| {
            let behind = &clause[but + 1..];
            context.signs(behind).has(against)
                && !behind
                    .iter()
                    .any(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }))
        })
}

/// Whether a move asks for something, so that other words of its clause only explain it.
fn is_request(act: &Move) -> bool {
    match act {
        Move::Ask { pairs, .. } => pairs.iter().any(|pair| pair.amount.is_some()),
        Move::Fragment(fragment) => fragment
            .pairs
            .iter()
            .any(|pair| pair.amount.is_some() && pair.payee.is_some()),
        Move::Act(_)
        | Move::CardAgain(_)
        | Move::FillCard(_)
        | Move::ForbidAct(_)
        | Move::Forbid { .. } => true,
        _ => false,
    }
}

fn spare(named: Vec<Target>) -> Move {
    if named.is_empty() {
        return Move::TakeBack {
            all: true,
            of_what: true,
            bare_no: false,
        };
    }
    Move::Forbid {
        payees: named,
        amounts: Vec::new(),
        reason: Reason::TakenBack,
    }
}

/// Every saved payee that a clause names, all who bear the name where it has several.
pub(crate) fn named(context: &Context, clause: &[Token]) -> Vec<Target> {
    let mut named = Vec::new();
    for token in clause {
        let payees = context
            .meaning(token)
            .map_or(&[][..], |meaning| &meaning.payees);
        for payee in payees {
            let target = Target::Payee(context.input.payees[*payee].id);
            if !named.contains(&target) {
                named.push(target);
            }
        }
    }
    named
}

/// Whether a move leaves open what its clause does: nothing, or something without an amount.
pub(crate) fn leaves_open(act: &Move) -> bool {
    match act {
        Move::Nothing | Move::Refuse(_) | Move::AskIt => true,
        Move::Doubt { strength, .. } => *strength < Strength::Certain,
        Move::Ask { pairs, .. } => pairs.iter().all(|pair| pair.amount.is_none()),
        Move::Fragment(fragment) => {
            fragment.pairs.iter().all(|pair| pair.amount.is_none())
                && fragment.not_amounts.is_empty()
        }
        _ => false,
    }
}

/// "tomorrow", "Friday then": a time that is no start date of an order and replaces the one asked for.
fn only_time(fragment: &Fragment, clause: &[Token]) -> bool {
    let times = Tags::DAY_WORD
        .union(Tags::WEEKDAY)
        .union(Tags::VAGUE_TIME)
        .union(Tags::MONTH);
    fragment.pairs.is_empty()
        && fragment.terms == crate::moves::Terms::default()
        && fragment.not_payees.is_empty()
        && clause
            .iter()
            .any(|token| token.has(times) && !token.has(Tags::FILLER) && token.kind == Kind::Word)
}
