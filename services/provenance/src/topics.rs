//! What the clauses of one sentence are about: the one named before them, and which of them a denial is about.

use crate::{
    Reason, asides,
    context::Context,
    moves::{Fragment, Move, Pair, Said, Who},
    reading::is_whole_request,
    reference::is_bare,
    signs::Signs,
    tags::Tags,
    tokens::{Kind, Token},
};

/// "For Bob, make it 30": the payee of one clause and the amount of the next are one correction.
pub(crate) fn join_topic(said: &mut [Said]) {
    for at in 1..said.len() {
        let payee = match &said[at - 1].act {
            Move::Fragment(Fragment {
                pairs, not_payees, ..
            }) if not_payees.is_empty() => match pairs.as_slice() {
                [
                    Pair {
                        payee: Some(payee),
                        amount: None,
                    },
                ] => payee.clone(),
                _ => continue,
            },
            _ => continue,
        };
        // A verb alone may stand between them ("mettez | plutôt 130").
        let bare = matches!(&said[at].act, Move::Ask { pairs, .. } if is_bare(pairs));
        let to = at + usize::from(bare && at + 1 < said.len());
        let (pairs, terms) = match &mut said[to].act {
            Move::Ask { pairs, terms, .. } => (pairs, terms),
            Move::Fragment(Fragment { pairs, terms, .. }) => (pairs, terms),
            _ => continue,
        };
        if let [
            Pair {
                payee: none @ None,
                amount: Some(_),
            },
        ] = pairs.as_mut_slice()
        {
            *none = Some(payee);
            let (pairs, terms) = (std::mem::take(pairs), std::mem::take(terms));
            said[to].act = Move::Ask {
                pairs,
                terms,
                repair: true,
                also: false,
            };
            for before in &mut said[at - 1..to] {
                before.act = Move::Nothing;
            }
        }
    }
}

/// The one payee that a clause names and says nothing else of.
fn only_names(act: &Move) -> Option<crate::Target> {
    let Move::Fragment(fragment) = act else {
        return None;
    };
    match fragment.pairs.as_slice() {
        [
            Pair {
                payee: Some(payee),
                amount: None,
            },
        ] if fragment.not_payees.is_empty() && fragment.not_amounts.is_empty() => match payee.who {
            Who::Target(target) => Some(target),
            _ => None,
        },
        _ => None,
    }
}

/// "Nothing for Bob, leave it": what follows without a name is about whom the sentence named.
pub(crate) fn keep_to_topic(
    said: &mut [Said],
    tokens: &[Token],
    ranges: &[std::ops::Range<usize>],
) {
    let mut topic: Option<Vec<crate::Target>> = None;
    for at in 1..said.len() {
        let Some(named) = only_names(&said[at - 1].act) else {
            continue;
        };
        // "To Hélder don't send his 31": the sum that is denied is his.
        if let Move::Forbid {
            payees, amounts, ..
        } = &mut said[at].act
            && payees.is_empty()
            && !amounts.is_empty()
        {
            payees.push(named);
            amounts.clear();
            said[at - 1].act = Move::Nothing;
        }
    }
    for (at, said) in said.iter_mut().enumerate() {
        let everything = ranges.get(at).is_none_or(|range| {
            tokens[range.clone()]
                .iter()
                .any(|token| matches!(token.kind, Kind::Amount(_)) || token.has(Tags::EACH))
        });
        match &mut said.act {
            Move::Forbid { payees, .. } | Move::Doubt { payees, .. } if !payees.is_empty() => {
                topic = Some(payees.clone());
            }
            Move::Doubt { payees, .. } if !everything => {
                if let Some(topic) = &topic {
                    payees.clone_from(topic);
                }
            }
            Move::TakeBack { .. } if !everything => {
                if let Some(topic) = &topic {
                    said.act = Move::Forbid {
                        payees: topic.clone(),
                        amounts: Vec::new(),
                        reason: Reason::Negated,
                    };
                }
            }
            Move::Ask { .. } => topic = None,
            _ => {}
        }
    }
}

/// The clauses, none of which ends inside a turn of phrase ("Bob can | wait").
pub(crate) fn unbroken(
    context: &Context,
    tokens: &[Token],
    clauses: Vec<std::ops::Range<usize>>,
) -> Vec<std::ops::Range<usize>> {
    let whole = Signs::SPARE.union(Signs::HARMLESS);
    let mut joined: Vec<std::ops::Range<usize>> = Vec::new();
    for clause in clauses {
        match joined.last_mut() {
            Some(before)
                if context.is_inside(tokens[clause.start].start, whole)
                    || names_speaker(&tokens[before.clone()], &tokens[clause.clone()]) =>
            {
                before.end = clause.end;
            }
            _ => joined.push(clause),
        }
    }
    joined
}

/// "Carol | says she is fine"
fn names_speaker(before: &[Token], clause: &[Token]) -> bool {
    let only_names = before.iter().all(|token| {
        matches!(token.kind, Kind::Name { .. }) || token.kind == Kind::Word && token.has(Tags::DET)
    });
    only_names && clause[0].kind == Kind::Word && clause[0].has(Tags::SAY)
}

/// "Bob doch nicht", "a Bob no": the word behind a name denies that name and nothing else.
pub(crate) fn denied_behind(
    context: &Context,
    said: &mut [Said],
    tokens: &[Token],
    ranges: &[std::ops::Range<usize>],
) {
    for at in (1..said.len().min(ranges.len())).rev() {
        let parted = matches!(tokens[ranges[at].start - 1].kind, Kind::Mark(_));
        let denies = matches!(said[at].act, Move::TakeBack { .. });
        let payees = asides::named(context, &tokens[ranges[at - 1].clone()]);
        // "And the 60 for Joost not yet": a whole pair is denied by nothing less than a denial.
        let clause = &tokens[ranges[at].clone()];
        let whole = is_whole_request(&said[at - 1].act)
            && matches!(said[at - 1].act, Move::Fragment(_))
            && payees.len() == 1
            && matches!(said[at].act, Move::TakeBack { bare_no: false, .. })
            && clause
                .iter()
                .find(|token| token.kind == Kind::Word)
                .is_some_and(|first| first.has(Tags::NEG) && !first.has(Tags::NO));
        let open = asides::leaves_open(&said[at - 1].act);
        if parted || !denies || payees.is_empty() || !(open || whole) {
            continue;
        }
        said[at].act = Move::Forbid {
            payees,
            amounts: Vec::new(),
            reason: Reason::Negated,
        };
        // What is asked and denied in one breath is asked of somebody first, so that nothing else is denied.
        if !whole {
            said[at - 1].act = Move::Nothing;
        }
    }
}
