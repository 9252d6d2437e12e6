//! Requests other than payments: cards, standing orders, refunds, disputes, payees, the profile.

use countersign_domain::{CardId, OrderId};

use crate::{
    Act, ActAsk, Grounded, Target,
    arguments::{Arguments, Item},
    context::Context,
    moves::{HowMuch, Move, Who},
    tags::Tags,
    tokens::{self, Kind, Token},
    transactions,
};

/// An act without any target.
pub(crate) fn bare(act: Act, clause: crate::MessageSpan) -> ActAsk {
    ActAsk {
        act,
        card: None,
        order: None,
        transaction: None,
        amount: None,
        frequency: None,
        start: None,
        dispute_reason: None,
        profile_field: None,
        clause,
    }
}

/// The act a clause with a verb asks for, or `None` when it is about a payment.
pub(crate) fn read(
    context: &Context,
    base: usize,
    clause: &[Token],
    verb: usize,
    found: &Arguments,
) -> Option<Move> {
    let kind = clause[verb].tags;
    let at = context.span(&clause[verb], &clause[clause.len() - 1]);
    let has = |tags: Tags| {
        clause
            .iter()
            .any(|token| token.has(tags) && token.kind == Kind::Word)
    };
    let order_named = found.order_noun || order(context, clause, found).is_some();
    let act = if kind.has(Tags::FREEZE.union(Tags::UNFREEZE)) {
        let denied = found.negated || (0..verb).any(|at| tokens::is_negation(clause, at));
        let named = has(Tags::CARD_NOUN) || card(context, base, clause).is_some();
        // "The card 4821 is back, please unblock": the verb alone, behind the one card of the message.
        let alone = bare_verb(clause, verb);
        let meant = (found.it || alone) && (denied || card_before(context, base).is_some());
        if !(named || meant) {
            if again(clause, verb) && !denied {
                let act = match kind.has(Tags::UNFREEZE) {
                    true => Act::CardUnfreeze,
                    false => Act::CardFreeze,
                };
                return Some(Move::CardAgain(Box::new(bare(act, at))));
            }
            return Some(if kind.has(Tags::STOP) {
                return None;
            } else {
                Move::Nothing
            });
        }
        if kind.has(Tags::UNFREEZE) {
            Act::CardUnfreeze
        } else {
            Act::CardFreeze
        }
    } else if kind.has(Tags::DISPUTE) {
        Act::Dispute
    } else if kind.has(Tags::STOP) && order_named && !found.negated {
        Act::OrderCancel
    } else if kind.has(Tags::CHANGE.union(Tags::CHANGE_INFINITIVE)) && has(Tags::PROFILE) {
        Act::ProfileChange
    } else if kind.has(Tags::CHANGE.union(Tags::CHANGE_INFINITIVE)) && order_named {
        Act::OrderChange
    } else if kind.has(Tags::ADD.union(Tags::MAKE)) && has(Tags::PAYEE_NOUN) {
        Act::PayeeAdd
    } else if kind.has(Tags::ADD) {
        return Some(Move::Nothing);
    } else if kind.has(Tags::REFUND.union(Tags::REFUND_INFINITIVE))
        && found.amounts().min(found.payees()) == 0
    {
        Act::Refund
    } else {
        return None;
    };
    if found.negated || (0..verb).any(|at| tokens::is_negation(clause, at)) {
        return Some(Move::ForbidAct(act));
    }
    let mut ask = bare(act, at);
    match act {
        Act::CardFreeze | Act::CardUnfreeze => {
            ask.card = card(context, base, clause).or_else(|| {
                (found.it || bare_verb(clause, verb))
                    .then(|| card_before(context, base))
                    .flatten()
            });
        }
        Act::OrderCancel | Act::OrderChange => {
            ask.order = order(context, clause, found);
            if act == Act::OrderChange {
                ask.amount = new_amount(found);
                ask.frequency = found.terms.frequency;
                ask.start = found.terms.start;
            }
        }
        Act::Dispute | Act::Refund => {
            ask.transaction = transactions::find(context, clause, act == Act::Refund, found);
            ask.dispute_reason = (act == Act::Dispute)
                .then(|| reason(context, base, clause))
                .flatten();
        }
        Act::ProfileChange => {
            let named = clause
                .iter()
                .filter(|token| token.has(Tags::PROFILE) && !token.pasted);
            let fields: Vec<_> = named
                .filter_map(|token| {
                    Some(Grounded {
                        value: token.value?.parse().ok()?,
                        at: context.span(token, token),
                    })
                })
                .collect();
            if let [field] = fields.as_slice() {
                ask.profile_field = Some(*field);
            }
        }
        Act::PayeeAdd => {}
    }
    Some(Move::Act(Box::new(ask)))
}

/// Whether nothing stands with a verb but small words that can mean the card before ("unfreeze it", "entsperre sie").
fn again(clause: &[Token], verb: usize) -> bool {
    let small = Tags::FILLER
        .union(Tags::POLITE)
        .union(Tags::AFFIRM)
        .union(Tags::ALSO)
        .union(Tags::FRAME)
        .union(Tags::FRAME_NEED)
        .union(Tags::IT)
        .union(Tags::PRONOUN)
        .union(Tags::DET)
        .union(Tags::SUBJECT)
        .union(Tags::AND)
        .union(Tags::CONTRAST);
    let meant = Tags::IT
        .union(Tags::PRONOUN)
        .union(Tags::DET)
        .union(Tags::SUBJECT);
    let only_small = clause.iter().enumerate().all(|(at, token)| {
        at == verb
            || matches!(token.kind, Kind::Mark(_))
            || token.kind == Kind::Word && token.has(small)
    });
    let means_one = clause[verb].has(Tags::IT)
        || clause[verb + 1..]
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(meant));
    only_small && means_one
}

/// Whether nothing but courtesies stands with a verb ("please unblock").
fn bare_verb(clause: &[Token], verb: usize) -> bool {
    let small = Tags::FILLER
        .union(Tags::POLITE)
        .union(Tags::AFFIRM)
        .union(Tags::ALSO);
    clause.iter().enumerate().all(|(at, token)| {
        at == verb
            || matches!(token.kind, Kind::Mark(_))
            || token.kind == Kind::Word && token.has(small)
    })
}

/// "I don't recognise the 64.10 at Nordwind": said of one transaction, it asks to look into it.
pub(crate) fn complaint(context: &Context, base: usize, clause: &[Token]) -> Option<Move> {
    let complains = clause
        .iter()
        .any(|token| token.has(Tags::DISPUTE_REASON) && !token.pasted);
    if !complains || context.input.transactions.is_empty() {
        return None;
    }
    let found = crate::scan::scan(context, base, clause, None);
    let transaction = transactions::find(context, clause, false, &found)?;
    let mut ask = bare(
        Act::Dispute,
        context.span(&clause[0], &clause[clause.len() - 1]),
    );
    ask.transaction = Some(transaction);
    ask.dispute_reason = reason(context, base, clause);
    Some(Move::Act(Box::new(ask)))
}

/// "New payee", without a verb.
pub(crate) fn new_payee(context: &Context, clause: &[Token]) -> Option<Move> {
    let plain = Tags::FILLER
        .union(Tags::POLITE)
        .union(Tags::AFFIRM)
        .union(Tags::DET)
        .union(Tags::COMMON)
        .union(Tags::PAYEE_NOUN)
        .union(Tags::ALSO);
    let words: Vec<&Token> = clause
        .iter()
        .filter(|token| !matches!(token.kind, Kind::Mark(_)))
        .collect();
    let fits = words
        .iter()
        .all(|token| token.kind == Kind::Word && token.has(plain));
    let payee = words.iter().find(|token| token.has(Tags::PAYEE_NOUN))?;
    let text = &context.folded.text[payee.start..payee.end];
    let is_new = words.iter().any(|token| token.has(Tags::COMMON)) || text.contains(' ');
    (fits && is_new).then(|| {
        let at = context.span(&clause[0], &clause[clause.len() - 1]);
        Move::Act(Box::new(bare(Act::PayeeAdd, at)))
    })
}

/// Words without a verb that fill the open target of an act before ("the debit one").
pub(crate) fn fragment(context: &Context, base: usize, clause: &[Token]) -> Option<Move> {
    let allowed = Tags::FILLER
        .union(Tags::POLITE)
        .union(Tags::AFFIRM)
        .union(Tags::DET)
        .union(Tags::ONE)
        .union(Tags::CARD_NOUN)
        .union(Tags::ENDING)
        .union(Tags::IT)
        .union(Tags::ORDER_NOUN)
        .union(Tags::REPAIR)
        .union(Tags::NO)
        .union(Tags::INSTEAD)
        .union(Tags::FOR)
        .union(Tags::TO)
        .union(Tags::OF);
    let plain = clause.iter().all(|token| match token.kind {
        Kind::Word => token.has(allowed),
        Kind::Name { .. } | Kind::Masked | Kind::Amount(_) | Kind::Mark(_) => true,
        _ => false,
    });
    let found = plain.then(|| card(context, base, clause)).flatten()?;
    let mut ask = bare(Act::CardFreeze, found.at);
    ask.card = Some(found);
    Some(Move::FillCard(Box::new(ask)))
}

/// The one card a clause names, by a name or its last digits.
fn card(context: &Context, _base: usize, clause: &[Token]) -> Option<Grounded<CardId>> {
    let mut cards: Vec<Grounded<CardId>> = Vec::new();
    for (at, token) in clause.iter().enumerate() {
        if token.pasted {
            continue;
        }
        let span = context.span(token, token);
        if let Some(meaning) = context
            .meaning(token)
            .filter(|meaning| !meaning.cards.is_empty())
        {
            match meaning.cards.as_slice() {
                [card] => cards.push(Grounded {
                    value: context.input.cards[*card].id,
                    at: span,
                }),
                _ => return None,
            }
        }
        let digits = matches!(token.kind, Kind::Masked | Kind::Amount(_))
            .then(|| &context.folded.text[token.start..token.end]);
        let behind_card = clause[..at].iter().any(|token| {
            // "Unblock 4821": no other number stands behind that verb.
            token.has(
                Tags::CARD_NOUN
                    .union(Tags::ENDING)
                    .union(Tags::FREEZE)
                    .union(Tags::UNFREEZE),
            ) || context.meaning(token).is_some_and(|m| !m.cards.is_empty())
        });
        if let Some(digits) = digits.filter(|digits| digits.len() == 4 && behind_card) {
            let mut ending = context
                .input
                .cards
                .iter()
                .filter(|card| card.last_four == digits);
            match (ending.next(), ending.next()) {
                (Some(card), None) => cards.push(Grounded {
                    value: card.id,
                    at: span,
                }),
                _ => return None,
            }
        }
    }
    let first = *cards.first()?;
    cards
        .iter()
        .all(|card| card.value == first.value)
        .then_some(first)
}

/// The one card named earlier in the message ("my debit card was stolen, freeze it").
fn card_before(context: &Context, base: usize) -> Option<Grounded<CardId>> {
    card(context, 0, &context.tokens[..base])
}

/// The one standing order a clause names: by its name, or as the only one to a payee it names.
fn order(context: &Context, clause: &[Token], found: &Arguments) -> Option<Grounded<OrderId>> {
    let named: Vec<_> = clause
        .iter()
        .filter(|token| !token.pasted)
        .filter_map(|token| {
            Some((
                token,
                context
                    .meaning(token)
                    .filter(|meaning| !meaning.orders.is_empty())?,
            ))
        })
        .collect();
    match named.as_slice() {
        [(token, meaning)] => {
            let [order] = meaning.orders.as_slice() else {
                return None;
            };
            return Some(Grounded {
                value: context.input.orders[*order].id,
                at: context.span(token, token),
            });
        }
        [] => {}
        _ => return None,
    }
    if !found.order_noun {
        return None;
    }
    let payees: Vec<_> = found
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Payee { mention, .. } => Some(mention),
            Item::Amount { .. } => None,
        })
        .collect();
    let [mention] = payees.as_slice() else {
        return None;
    };
    let Who::Target(Target::Payee(payee)) = mention.who else {
        return None;
    };
    let mut orders = context
        .input
        .orders
        .iter()
        .filter(|order| order.payee == payee);
    match (orders.next(), orders.next()) {
        (Some(order), None) => Some(Grounded {
            value: order.id,
            at: mention.at,
        }),
        _ => None,
    }
}

/// The one new amount of a change.
fn new_amount(found: &Arguments) -> Option<Grounded<countersign_domain::MinorUnits>> {
    let amounts: Vec<_> = found
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Amount {
                mention,
                after_to,
                after_from,
                after_on,
                ..
            } => Some((mention, *after_to, *after_from, *after_on)),
            Item::Payee { .. } => None,
        })
        .collect();
    let mention = match amounts.as_slice() {
        [(mention, true, false, false)] | [(_, false, _, false), (mention, true, false, false)] => {
            mention
        }
        _ => return None,
    };
    match mention.much {
        HowMuch::Sum(units, _) => Some(Grounded {
            value: units,
            at: mention.at,
        }),
        _ => None,
    }
}

/// Why a dispute, in this clause or elsewhere in the message.
fn reason(
    context: &Context,
    base: usize,
    clause: &[Token],
) -> Option<Grounded<countersign_domain::DisputeReason>> {
    let in_clause = base..base + clause.len();
    let mut reasons: Vec<Grounded<countersign_domain::DisputeReason>> = Vec::new();
    for (at, token) in context.tokens.iter().enumerate() {
        if token.has(Tags::DISPUTE_REASON)
            && !token.pasted
            && (in_clause.contains(&at) || token.kind == Kind::Word)
            && let Some(value) = token.value.and_then(|value| value.parse().ok())
        {
            reasons.push(Grounded {
                value,
                at: context.span(token, token),
            });
        }
    }
    let first = *reasons.first()?;
    reasons
        .iter()
        .all(|reason| reason.value == first.value)
        .then_some(first)
}
