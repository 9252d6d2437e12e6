//! What one clause does by itself.

use crate::{
    Reason, acts,
    arguments::{Arguments, Item},
    asides,
    context::Context,
    loosely,
    moves::{Fragment, HowMuch, Move, Pair, PayeeMention, Strength, Who},
    pairing,
    reference::is_bare,
    scan, settled,
    signs::Signs,
    speech::{CUES, IN_A_FRAGMENT, LIGHT, pure_cue, report_before, verb_of, wished_noun},
    tags::Tags,
    telling::{tells_of_named, wished_by_another, writes_reference},
    tokens::{Kind, Token},
};

pub(crate) fn clause_move(context: &Context, base: usize, clause: &[Token]) -> Move {
    let words = || {
        clause
            .iter()
            .filter(|token| !matches!(token.kind, Kind::Mark(_)))
    };
    if let Some(act) = acts::complaint(context, base, clause) {
        return act;
    }
    if let Some(cue) = pure_cue(clause) {
        return cue;
    }
    if writes_reference(clause) {
        return Move::Nothing;
    }
    if settled::is_done(clause) {
        return refuse_if_of_payment(context, base, clause, Reason::Report);
    }
    let Some(verb) = verb_of(clause).or_else(|| wished_noun(clause)) else {
        return without_verb(context, base, clause);
    };
    // "Dan doe ik het zelf": what the customer does himself.
    let by_me = clause.get(verb + 1).is_some_and(|next| {
        next.kind == Kind::Word
            && next.has(Tags::SUBJECT)
            && !next.has(
                Tags::PRONOUN
                    .union(Tags::DET)
                    .union(Tags::IT)
                    .union(Tags::FRAME),
            )
            && context.belongs_to(next, Signs::FIRST_PERSON)
    });
    if by_me {
        return refuse_if_of_payment(context, base, clause, Reason::Report);
    }
    if let Some(reason) = report_before(context, clause, verb) {
        return refuse_if_of_payment(context, base, clause, reason);
    }
    let kind = clause[verb].tags;
    let mut found = scan::scan(context, base, clause, Some(verb));
    found.it |= kind.has(Tags::IT);
    // "Págale 46": the verb itself holds the pronoun, unless the one it means is named.
    if kind.has(Tags::PRONOUN) && found.payees() == 0 && found.not_payees.is_empty() {
        let mention = PayeeMention {
            who: context.antecedent(base + verb),
            at: context.span(&clause[verb], &clause[verb]),
            marked: true,
        };
        found.items.push(Item::Payee {
            mention,
            weak: false,
        });
    }
    if clause[verb].pasted {
        return Move::Refuse(Reason::Pasted);
    }
    let repair =
        words().any(|token| token.has(CUES.union(Tags::INSTEAD)) && token.kind == Kind::Word);
    if let Some(act) = acts::read(context, base, clause, verb, &found) {
        return act;
    }
    if kind.has(Tags::STOP) {
        return stop(&found);
    }
    let makes = kind.has(Tags::MAKE.union(Tags::MAKE_INFINITIVE));
    let names_what = found.pay_noun || found.order_noun || found.amounts() > 0 || found.it;
    // "fais-le stp": the verb holds what it is about, and nothing else stands with it.
    let text = &context.folded.text[clause[verb].start..clause[verb].end];
    let alone = clause.iter().enumerate().all(|(at, token)| {
        at == verb
            || matches!(token.kind, Kind::Mark(_))
            || token.kind == Kind::Word && token.has(LIGHT.union(Tags::DAY_WORD))
    });
    if makes && !names_what && alone && text.contains([' ', '-']) {
        return Move::AskIt;
    }
    if makes && !names_what && !means_it(clause, verb) {
        return Move::Nothing;
    }
    if found.me || found.reverse {
        return Move::Refuse(Reason::Reverse);
    }
    if found.negated {
        return forbid(&found);
    }
    if kind.has(Tags::CHANGE.union(Tags::CHANGE_INFINITIVE)) && !kind.has(Tags::PAY) {
        // "Raise my limit": nothing to pay.
        let names_nothing = found.items.iter().all(|item| {
            matches!(item, Item::Payee { mention, .. } if matches!(mention.who, Who::Open(_)))
        });
        if names_nothing && found.unknown_word {
            return Move::Nothing;
        }
        return change(context, found);
    }
    let mut pairs = pairing::pair(&found);
    if kind.has(Tags::SPLIT) {
        for amount in pairs.iter_mut().filter_map(|pair| pair.amount.as_mut()) {
            amount.much = HowMuch::Open(Reason::Computed);
        }
    }
    // "Give it to Carol": the money of the request before, whether a word of correction stands with it or not.
    let means_it = means_it(clause, verb);
    let given = means_it && found.payees() == 1;
    if found.amounts() == 0 && (found.it && repair || given) {
        let mut fragment = fragment(&found, pairs, true, false);
        fragment.sends = true;
        return Move::Fragment(fragment);
    }
    if means_it && is_bare(&pairs) {
        return Move::AskIt;
    }
    Move::Ask {
        pairs,
        terms: found.terms,
        repair,
        also: found.also,
    }
}

/// Whether what a verb takes is "it": the verb holds it ("dáselos"), it follows, or a word that is nothing else.
fn means_it(clause: &[Token], verb: usize) -> bool {
    let word = |at: usize, tags: Tags| {
        clause
            .get(at)
            .is_some_and(|token| token.kind == Kind::Word && token.has(tags))
    };
    let next = verb + 1 + usize::from(clause.get(verb + 1).is_some_and(|next| next.is_mark("-")));
    let ends = clause.get(next + 1).is_none_or(|after| {
        // "pagar la Academia": an article before a name.
        let named = matches!(after.kind, Kind::Name { .. }) && !clause[next].has(Tags::DET);
        matches!(after.kind, Kind::Mark(_))
            || named
            || after.kind == Kind::Word
                && after.has(Tags::TO.union(Tags::INTO).union(Tags::PRONOUN).union(LIGHT))
    });
    let plain = clause
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(Tags::IT) && !token.has(Tags::DET));
    clause[verb].has(Tags::IT) || word(next, Tags::IT) && ends || plain
}

fn refuse_if_of_payment(context: &Context, base: usize, clause: &[Token], reason: Reason) -> Move {
    let found = scan::scan(context, base, clause, None);
    if found.items.is_empty() && reason == Reason::Report {
        Move::Nothing
    } else {
        Move::Refuse(reason)
    }
}

fn without_verb(context: &Context, base: usize, clause: &[Token]) -> Move {
    if let Some(act) = acts::new_payee(context, clause) {
        return act;
    }
    let found = scan::scan(context, base, clause, None);
    if wished_by_another(clause) && !found.items.is_empty() {
        return Move::Refuse(Reason::Report);
    }
    let slips = Signs::WRONG_PAYEE
        .union(Signs::WRONG_AMOUNT)
        .union(Signs::HESITATE);
    if tells_of_named(clause) && !context.signs(clause).has(slips) {
        return Move::Tells(asides::named(context, clause));
    }
    let has = |tags: Tags| {
        clause
            .iter()
            .any(|token| token.has(tags) && token.kind == Kind::Word)
    };
    let first = clause
        .iter()
        .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)));
    let computes = first
        .is_some_and(|first| matches!(first.kind, Kind::Amount(_)) && first.has(Tags::COMPUTED));
    let mut tail = false;
    let fits = clause.iter().all(|token| match token.kind {
        Kind::Word if token.has(Tags::DEBT) => false,
        Kind::Word if tail => true,
        Kind::Word if token.has(Tags::TAIL) => {
            tail = true;
            true
        }
        Kind::Word => token.has(IN_A_FRAGMENT),
        Kind::Quoted => false,
        _ => true,
    });
    // "all for the minibus": what it is for, and no sum.
    let all_for = computes
        && found.items.len() == 1
        && clause.windows(2).any(|pair| {
            matches!(pair[0].kind, Kind::Amount(_))
                && (pair[1].has(Tags::FOR)
                    || context.folded.text[pair[1].start..].starts_with("for "))
        });
    if all_for {
        return Move::Nothing;
    }
    // "I mean dollars": the number stays, the currency is another.
    let only_currency = found.items.is_empty()
        && has(CUES.union(Tags::FIX).union(Tags::INSTEAD).union(Tags::NEG))
        && clause.iter().any(|token| token.has(Tags::CURRENCY))
        || found.items.is_empty()
            && first.is_some_and(|first| first.kind == Kind::Word && first.has(Tags::INTO))
            && clause.iter().any(|token| token.has(Tags::CURRENCY));
    if only_currency {
        return Move::Compute;
    }
    let for_tail = !fits && purpose_at_the_end(clause);
    if !fits && !for_tail {
        if let Some(ask) = loosely::ask(context, base, clause) {
            return ask;
        }
        // "twice already she asked": how often, and no sum.
        if computes && !context.signs(clause).has(Signs::ASKED) {
            return Move::Compute;
        }
        // "wrong person, Carol": what follows cannot be read, but something is taken back.
        // So does denying "that" in other words.
        let denies_it = found.negated && found.it && found.items.is_empty();
        if denies_it
            || first
                .is_some_and(|first| first.has(CUES.without(Tags::REPAIR)) || has(Tags::TAKE_BACK))
        {
            return Move::TakeBack {
                all: true,
                of_what: false,
                bare_no: false,
            };
        }
        if let Some(act) = acts::fragment(context, base, clause) {
            return act;
        }
        // A correction that cannot be read: whatever it corrects is not known any more.
        if has(Tags::REPAIR.union(Tags::FIX).union(Tags::INSTEAD)) && !found.items.is_empty() {
            let pairs = pairing::pair(&found).into_iter().map(doubtful).collect();
            return Move::Fragment(fragment(&found, pairs, true, false));
        }
        let reason = if has(Tags::REVERSE) {
            Reason::Reverse
        } else {
            Reason::NoRequest
        };
        return if found.items.is_empty() {
            Move::Nothing
        } else {
            Move::Refuse(reason)
        };
    }
    if found.reverse || found.me && !found.items.is_empty() {
        return Move::Refuse(Reason::Reverse);
    }
    if found.negated {
        return forbid(&found);
    }
    // "I've changed my mind about Bob"
    if found.items.is_empty() && has(Tags::TAKE_BACK) {
        return Move::TakeBack {
            all: true,
            of_what: false,
            bare_no: false,
        };
    }
    // "c'était lui": who it was, and nobody else.
    let only_tells = first.is_some_and(|first| first.has(Tags::FIX.union(Tags::STATES)))
        && found.amounts() == 0
        && !has(CUES
            .union(Tags::INSTEAD)
            .union(Tags::CONTRAST)
            .union(Tags::NEG))
        && !clause
            .iter()
            .any(|token| matches!(token.kind, Kind::Name { .. } | Kind::Account(_)))
        && has(Tags::PRONOUN)
        && has(Tags::STATES);
    if only_tells {
        return Move::Doubt {
            payees: Vec::new(),
            strength: Strength::Faint,
        };
    }
    let repair = has(CUES
        .union(Tags::INSTEAD)
        .union(Tags::FIX)
        .union(Tags::CONTRAST))
        || !found.not_amounts.is_empty()
        || !found.not_payees.is_empty()
        || is_starred(clause);
    let pairs = pairing::pair(&found);
    // "Tom 15": an amount and a payee and nothing else ask.
    let mut fragment = fragment(&found, pairs, repair, true);
    fragment.sends = has(Tags::FIX);
    fragment.restrict =
        context.signs(clause).has(Signs::RESTRICT) && !restricts_amount(context, clause);
    fragment.also |= first_word_is(clause, Tags::AND);
    Move::Fragment(fragment)
}

/// "*50": a star before or behind a value alone corrects what was typed.
fn is_starred(clause: &[Token]) -> bool {
    let values = clause
        .iter()
        .filter(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }))
        .count();
    let stars = clause.first().is_some_and(|first| first.is_mark("*"))
        || clause.last().is_some_and(|last| last.is_mark("*"));
    stars && values > 0
}

/// "à Beatriz só 45": behind the one it is for, the word is about the amount.
fn restricts_amount(context: &Context, clause: &[Token]) -> bool {
    let named = |before: &[Token]| {
        before
            .iter()
            .any(|token| matches!(token.kind, Kind::Name { .. }))
    };
    clause.windows(2).enumerate().any(|(at, pair)| {
        context.belongs_to(&pair[0], Signs::RESTRICT)
            && matches!(pair[1].kind, Kind::Amount(_))
            && named(&clause[..at])
    })
}

/// A pair of which only the slots are known.
fn doubtful(mut pair: Pair) -> Pair {
    if let Some(amount) = &mut pair.amount {
        amount.much = HowMuch::Open(Reason::AmbiguousAmount);
    }
    if let Some(payee) = &mut pair.payee {
        payee.who = Who::Open(Reason::AmbiguousPayee);
    }
    pair
}

/// Whether all that does not fit in a fragment says what the money is for ("20 to Bob for the pizza").
fn purpose_at_the_end(clause: &[Token]) -> bool {
    let mut tail = false;
    let mut sum = false;
    clause.iter().enumerate().all(|(at, token)| {
        let next = clause.get(at + 1);
        sum |= matches!(token.kind, Kind::Amount(_));
        // "I owe him 58" asks for nothing; "20 to Bob I owe him from Friday" says what it is for.
        if token.kind == Kind::Word && token.has(Tags::DEBT) && !sum {
            return false;
        }
        if token.kind == Kind::Word
            && token.has(Tags::FOR.union(Tags::TAIL))
            && !next.is_some_and(|next| matches!(next.kind, Kind::Name { .. } | Kind::Amount(_)))
        {
            tail = true;
        }
        match token.kind {
            Kind::Word => tail || token.has(IN_A_FRAGMENT),
            Kind::Quoted => tail,
            _ => true,
        }
    })
}

fn first_word_is(clause: &[Token], tags: Tags) -> bool {
    let first = clause.iter().find(|token| token.kind == Kind::Word);
    first.is_some_and(|first| first.has(tags))
}

fn fragment(found: &Arguments, mut pairs: Vec<Pair>, repair: bool, can_ask: bool) -> Fragment {
    pairs.retain(|pair| *pair != Pair::default());
    Fragment {
        pairs,
        not_payees: found.not_payees.clone(),
        not_amounts: found.not_amounts.clone(),
        terms: found.terms.clone(),
        repair,
        can_ask,
        also: found.also,
        sends: false,
        only_fills: false,
        restrict: false,
    }
}

fn forbid(found: &Arguments) -> Move {
    let (payees, amounts) = (found.every_payee(), found.every_amount());
    if payees.is_empty() && amounts.is_empty() {
        // "I don't want to send that": the words name nothing else that it could be about.
        return if found.unknown_word && !found.it {
            Move::Nothing
        } else {
            Move::TakeBack {
                all: true,
                of_what: false,
                bare_no: false,
            }
        };
    }
    Move::Forbid {
        payees,
        amounts,
        reason: Reason::Negated,
    }
}

fn stop(found: &Arguments) -> Move {
    if found.negated {
        return Move::Nothing;
    }
    // "cancel both of them"
    if found.each {
        return Move::TakeBack {
            all: true,
            of_what: true,
            bare_no: false,
        };
    }
    let (payees, amounts) = (found.every_payee(), found.every_amount());
    if payees.is_empty() && amounts.is_empty() {
        return if found.unknown_word && !found.each {
            Move::Nothing
        } else {
            Move::TakeBack {
                all: true,
                of_what: true,
                bare_no: false,
            }
        };
    }
    Move::Forbid {
        payees,
        amounts,
        reason: Reason::TakenBack,
    }
}

/// "Increase Bob's transfer from 20 to 25", "change 40 to 45 for Carol".
fn change(context: &Context, mut found: Arguments) -> Move {
    let amounts: Vec<(bool, bool, bool)> = found
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Amount {
                after_to,
                after_from,
                after_on,
                ..
            } => Some((*after_to, *after_from, *after_on)),
            Item::Payee { .. } => None,
        })
        .collect();
    let new_is_last = matches!(
        amounts.as_slice(),
        [(true, false, false)] | [(false, _, false), (true, false, false)]
    );
    let last = amounts.len();
    let mut seen = 0;
    found.items.retain_mut(|item| {
        let Item::Amount { mention, .. } = item else {
            return true;
        };
        seen += 1;
        if !new_is_last {
            // "by 10" must be added up; anything else does not say which is the new value.
            mention.much = HowMuch::Open(Reason::Computed);
        }
        seen == last
    });
    let _ = context;
    let pairs = pairing::pair(&found);
    if found.payees() > 0 {
        return Move::Ask {
            pairs,
            terms: found.terms,
            repair: true,
            also: false,
        };
    }
    Move::Fragment(fragment(&found, pairs, true, false))
}
