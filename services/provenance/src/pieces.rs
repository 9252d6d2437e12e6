//! A sentence read piece by piece, where it says more than its request.
//!
//! People tell why, what for and what else happened in the sentence that asks. Read as a whole such a sentence is
//! no request; cut at its marks and joints, one piece is, and the others only tell. What blocks a request
//! blocks it here too: a condition or somebody else's words reach over the whole sentence.

use std::ops::Range;

use crate::{
    Reason, asides,
    blocks::blocked,
    clauses::clause_move,
    context::Context,
    moves::{Fragment, HowMuch, Move, Said, Strength, Terms},
    reading::{leads_to_question, led_by, trimmed_span},
    reference::is_bare,
    remarks,
    sentences::{Sentence, VERBS},
    signs::Signs,
    speech::{LIGHT, introduces},
    tags::Tags,
    tokens::{Kind, Token, is_negation},
};

/// The most pieces a sentence is read in.
const PIECES_MAX: usize = 24;

/// Reads a sentence whose whole grounds nothing; `None` where its pieces do not either.
pub(crate) fn read(context: &Context, sentence: &Sentence) -> Option<Vec<Said>> {
    let tokens = &context.tokens[sentence.tokens.clone()];
    // Without a value and without a verb no piece asks.
    let may_ask = tokens.iter().any(|token| match token.kind {
        Kind::Mark(_) => false,
        Kind::Word => token.has(VERBS.union(Tags::FRAME)),
        _ => true,
    });
    if !may_ask {
        return None;
    }
    let pieces = cut(tokens);
    let belongs_to_another =
        leads_to_question(context, sentence) || led_by(context, sentence).is_some();
    if pieces.len() > PIECES_MAX || belongs_to_another || is_foreign(tokens) {
        return None;
    }
    let several = pieces.len() > 1;
    let mut said: Vec<Said> = Vec::new();
    // Somebody else speaks or something is only thought of, up to a word that leads back to what is asked.
    let mut spoken = false;
    let mut denied = false;
    let mut doubted = false;
    // A price was named before, or the sums of a story.
    let mut priced = false;
    for piece in pieces {
        // "so 22 to her please": the word that leads over gives no reason.
        let led = leads_over(&tokens[piece.clone()]);
        let part = &tokens[piece.start + led..piece.end];
        let at = trimmed_span(context, part);
        let base = sentence.tokens.start + piece.start + led;
        let has = |tags: Tags| {
            part.iter()
                .any(|token| token.kind == Kind::Word && token.has(tags))
        };
        if led > 0 || has(Tags::SO) || asks_the_assistant(part) {
            spoken = false;
        }
        match blocked(part, sentence.question) {
            Some(Reason::Question) => {
                let asks = part
                    .iter()
                    .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)))
                    .is_some_and(|first| first.kind == Kind::Word && first.has(Tags::ASK));
                // "If you sent 20 to Bob, I'd be broke"
                let supposes = tokens
                    .iter()
                    .any(|token| token.kind == Kind::Word && token.has(Tags::IF_YOU));
                // "Send 20 to Bob - I'm still wondering"
                let wonders = has(Tags::HYPOTHESIS) && !said.is_empty();
                if asks && !has(Tags::TAIL) || supposes || wonders {
                    return None;
                }
                spoken = true;
                said.push(Said {
                    act: Move::Refuse(Reason::Question),
                    at,
                });
                continue;
            }
            Some(_) => return None,
            None => {}
        }
        if part
            .iter()
            .any(|token| token.kind == Kind::Quoted || token.pasted)
        {
            return None;
        }
        // "…, and then I'm off to bed": what the customer does himself, with nothing to pay in it.
        let of_myself = context.signs(part).has(Signs::FIRST_PERSON)
            && !part.iter().any(|token| match token.kind {
                Kind::Mark(_) | Kind::Masked | Kind::Date(_) => false,
                Kind::Word => token.has(
                    VERBS
                        .union(Tags::FRAME)
                        .union(Tags::FRAME_NEED)
                        .union(Tags::FRAME_MINE)
                        .union(Tags::REPAIR)
                        .union(Tags::FIX)
                        .union(Tags::NO)
                        .union(Tags::NEG)
                        .union(Tags::TAKE_BACK)
                        .union(Tags::STOP),
                ),
                _ => true,
            });
        let act = match of_myself {
            true => Move::Nothing,
            false => clause_move(context, base, part),
        };
        let act = match asides::weigh(context, part, act, sentence.question) {
            // "Send 20 to Bob - I'm still thinking"
            Move::Doubt { .. } if speaks_up(context, part) && !said.is_empty() => return None,
            Move::Doubt { strength, .. } if strength < Strength::Certain => {
                doubted = true;
                Move::Nothing
            }
            // "20 to Sven, he paid the parking meter": why, and not that he has his money.
            Move::TakeBack { of_what: true, .. }
                if !said.is_empty() && remarks::tells_of_another(context, part) =>
            {
                Move::Nothing
            }
            other => other,
        };
        match &act {
            Move::Ask { .. } | Move::AskIt | Move::Fragment(_) if spoken => return None,
            // "He wanted 340, then 315, send 315 to the garage": behind a price only a whole order counts.
            Move::AskIt if priced => return None,
            Move::Ask { .. } if priced && !is_whole(&act) => return None,
            Move::Fragment(_) if priced => {}
            // "I'm not going to let you down, Bob 20 to pay": an infinitive hangs on what stands before it.
            Move::Ask { .. } if denied && !has(Tags::PAY.union(Tags::MAKE).union(Tags::FRAME)) => {
                return None;
            }
            Move::Ask { .. } | Move::AskIt => said.push(Said { act, at }),
            Move::Fragment(fragment) if is_plain(fragment) => {
                let mut fragment = fragment.clone();
                fragment.only_fills = several && !is_complete(&fragment) && has_sum(&fragment);
                said.push(Said {
                    act: Move::Fragment(fragment),
                    at,
                });
            }
            Move::Nothing | Move::Tells(_) | Move::Refuse(Reason::NoRequest | Reason::Report) => {}
            // "20 to Alice, Bob has had his": about whom it names and nobody else.
            Move::Forbid { payees, .. }
            | Move::Doubt {
                payees,
                strength: Strength::Certain,
            } if !payees.is_empty() && !spoken && speaks_of_named(context, part) => {
                said.push(Said { act, at });
                continue;
            }
            Move::Fragment(fragment)
                if fragment.is_empty() && fragment.terms == Terms::default() => {}
            // "it said 389 but in the end it's 365": sums of a story, before any order.
            Move::Fragment(fragment) if said.is_empty() && tells_sums(fragment) => priced = true,
            _ => return None,
        }
        match has(Tags::SAY) {
            true if names_a_price(part) => priced = true,
            says => spoken |= says,
        }
        denied |= (0..part.len()).any(|at| is_negation(part, at));
    }
    // Sums of a story may correct what was asked before where nothing whole is asked behind them.
    if priced && !said.iter().any(|said| is_whole(&said.act)) {
        return None;
    }
    // "is 34.99 I see, do that": of what the order is about the words before it leave a doubt.
    if doubted && said.iter().all(|said| said.act == Move::AskIt) {
        return None;
    }
    settle(said)
}

/// How many tokens at a piece's head only lead over to what follows from the piece before.
fn leads_over(piece: &[Token]) -> usize {
    let head = piece
        .iter()
        .position(|token| {
            !matches!(token.kind, Kind::Mark(_)) && !token.has(LIGHT.without(Tags::SO))
        })
        .unwrap_or(0);
    let leads = piece[head].kind == Kind::Word && piece[head].has(Tags::SO);
    // "12 a month for a year, so 144": a sum alone is worked out.
    let goes_on = piece[head + 1..].iter().any(|token| match token.kind {
        Kind::Name { .. } | Kind::Account(_) => true,
        Kind::Word => token.has(VERBS.union(Tags::PRONOUN).union(Tags::FRAME)),
        _ => false,
    });
    if leads && goes_on { head + 1 } else { 0 }
}

/// Whether what somebody says is a sum and nothing else ("the quote said 389").
fn names_a_price(piece: &[Token]) -> bool {
    let says = piece
        .iter()
        .rposition(|token| token.kind == Kind::Word && token.has(Tags::SAY));
    let sum = says.is_some_and(|at| {
        piece
            .get(at + 1)
            .is_some_and(|next| matches!(next.kind, Kind::Amount(_)))
    });
    let orders = piece
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(VERBS.union(Tags::FRAME)));
    let named = piece
        .iter()
        .any(|token| matches!(token.kind, Kind::Name { .. } | Kind::Account(_)));
    sum && !orders && !named
}

/// Whether a correction holds sums and names nobody.
fn tells_sums(fragment: &Fragment) -> bool {
    fragment.repair
        && !fragment.pairs.is_empty()
        && fragment.pairs.iter().all(|pair| pair.payee.is_none())
        && fragment.not_payees.is_empty()
        && fragment.not_amounts.is_empty()
}

/// Whether a request says how much and to whom.
fn is_whole(act: &Move) -> bool {
    matches!(act, Move::Ask { pairs, .. }
        if pairs.iter().all(|pair| pair.payee.is_some() && pair.amount.is_some()))
}

/// Whether a piece begins with somebody it names, so that what it denies is about him.
fn speaks_of_named(context: &Context, piece: &[Token]) -> bool {
    piece
        .iter()
        .find(|token| {
            !(matches!(token.kind, Kind::Mark(_))
                || token.kind == Kind::Word
                    && token.has(LIGHT.union(Tags::DET).union(Tags::TO).union(Tags::FOR)))
        })
        .is_some_and(|first| context.names_payee(first))
}

/// Whether the customer says a few words of himself.
fn speaks_up(context: &Context, piece: &[Token]) -> bool {
    /// More words tell something.
    const WORDS_MAX: usize = 4;
    let words = piece
        .iter()
        .filter(|token| token.kind == Kind::Word && !token.has(LIGHT))
        .count();
    words <= WORDS_MAX
        && context.signs(piece).has(Signs::FIRST_PERSON)
        && !piece
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(Tags::BECAUSE.union(Tags::TAIL)))
}

/// Keeps what pieces say when it amounts to a request, or completes one with a single value.
fn settle(mut said: Vec<Said>) -> Option<Vec<Said>> {
    let complete = |act: &Move| match act {
        Move::Ask { pairs, .. } => pairs
            .iter()
            .all(|pair| pair.payee.is_some() && pair.amount.is_some()),
        Move::Fragment(fragment) => is_complete(fragment),
        _ => false,
    };
    // "Alice 20, Bob 30, send it": the order is about the values before it.
    let listed = said.iter().any(|said| complete(&said.act));
    if listed {
        said.retain(|said| {
            !matches!(&said.act, Move::Ask { pairs, .. } if is_bare(pairs))
                && said.act != Move::AskIt
        });
    }
    let values = said
        .iter()
        .filter(|said| matches!(said.act, Move::Ask { .. } | Move::Fragment(_)))
        .count();
    let open = said.iter().any(|said| {
        matches!(said.act, Move::Ask { .. } | Move::Fragment(_)) && !complete(&said.act)
    });
    let fits = match (listed, open) {
        (true, false) => true,
        (true, true) => false,
        // One open request and the values that complete it, or values alone.
        (false, _) => values >= 1 || said.iter().any(|said| said.act == Move::AskIt),
    };
    fits.then_some(said)
}

fn is_complete(fragment: &Fragment) -> bool {
    !fragment.is_empty()
        && fragment
            .pairs
            .iter()
            .all(|pair| pair.payee.is_some() && pair.amount.is_some())
}

/// Whether an amount is among values that could be what there is to pay.
fn has_sum(fragment: &Fragment) -> bool {
    fragment.pairs.iter().any(|pair| {
        pair.amount
            .is_some_and(|amount| matches!(amount.much, HowMuch::Sum(..)))
    })
}

/// Values that ask or complete, without a word of correction.
fn is_plain(fragment: &Fragment) -> bool {
    !fragment.is_empty()
        && !fragment.repair
        && !fragment.restrict
        && fragment.not_payees.is_empty()
        && fragment.not_amounts.is_empty()
}

/// Whether marks or a heading make a sentence somebody else's.
fn is_foreign(tokens: &[Token]) -> bool {
    let heading = (0..tokens.len()).any(|at| tokens[at].is_mark(":") && !introduces(&tokens[..at]));
    heading || tokens.iter().any(|token| token.is_mark("<>[]{}|\\"))
}

/// Whether a piece turns to the assistant with a request.
fn asks_the_assistant(piece: &[Token]) -> bool {
    let first = piece
        .iter()
        .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)));
    first.is_some_and(|first| first.kind == Kind::Word && first.has(Tags::FRAME))
}

/// Where a sentence may be cut: at its marks, before a word that gives a reason or leads over, before a turn to
/// the assistant, and at an "and" that no value follows.
pub(crate) fn cut(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in 0..tokens.len() {
        if at > start && begins(tokens, start, at) {
            pieces.push(start..at);
            start = at;
        }
    }
    pieces.push(start..tokens.len());
    pieces.retain(|piece| {
        tokens[piece.clone()]
            .iter()
            .any(|token| !matches!(token.kind, Kind::Mark(_)))
    });
    pieces
}

/// "les 48 que je dois à Inès vas-y règle-les": behind a whole debt an order begins.
fn orders_what_is_owed(tokens: &[Token], start: usize, at: usize) -> bool {
    let is_word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let leads = Tags::SUBJECT
        .union(Tags::TO)
        .union(Tags::DEBT)
        .union(LIGHT.without(Tags::FILLER.union(Tags::POLITE)));
    // The words before are asked for last: for each token they would cost the square of a clause's length.
    let orders = is_word(&tokens[at], Tags::PAY.union(Tags::FRAME))
        && !tokens[at].has(Tags::PAY_NOUN.union(Tags::TO).union(Tags::DEBT))
        && !is_word(&tokens[at - 1], leads);
    let before = &tokens[start..at];
    orders
        && before.iter().any(|token| is_word(token, Tags::DEBT))
        && before
            .iter()
            .any(|token| matches!(token.kind, Kind::Amount(_)))
        && before
            .iter()
            .any(|token| matches!(token.kind, Kind::Name { .. }))
}

/// "15 each to Ann, Bob and Carol": nothing but names up to the next mark go on with the list before the comma.
fn lists_on(tokens: &[Token], start: usize, at: usize) -> bool {
    let is_name = |token: &Token| {
        matches!(
            token.kind,
            Kind::Name {
                possessive: false,
                ..
            }
        )
    };
    let joint = Tags::AND
        .union(Tags::TO)
        .union(Tags::FOR)
        .union(Tags::DET)
        .union(Tags::TITLE);
    let each = tokens[start..at]
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(Tags::EACH.union(Tags::EVERY)));
    let behind_name = at
        .checked_sub(2)
        .is_some_and(|before| before >= start && is_name(&tokens[before]));
    let mut names = 0;
    let only_names = tokens[at..]
        .iter()
        .take_while(|token| !matches!(token.kind, Kind::Mark(_)))
        .all(|token| {
            names += usize::from(is_name(token));
            is_name(token) || token.kind == Kind::Word && token.has(joint)
        });
    each && (behind_name || tokens[at - 1].is_mark(":")) && only_names && names > 0
}

fn begins(tokens: &[Token], start: usize, at: usize) -> bool {
    let token = &tokens[at];
    if tokens[at - 1].is_mark(",:") && lists_on(tokens, start, at) {
        return false;
    }
    if let Kind::Mark(mark) = tokens[at - 1].kind {
        let glued = tokens[at - 1].glued && token.glued;
        return match mark {
            '-' | '/' | '\'' | '&' | '+' => !glued && mark == '-',
            // A full stop may only cut a word short.
            '.' => at < 2 || !tokens[at - 2].has(Tags::SHORT.union(Tags::TITLE).union(Tags::LABEL)),
            '#' | '@' | '%' | '*' | '_' | '=' => false,
            _ => true,
        };
    }
    if token.kind != Kind::Word {
        return false;
    }
    let led = tokens[start..at]
        .iter()
        .all(|token| token.kind == Kind::Word && token.has(LIGHT.union(Tags::SO)));
    if token.has(Tags::SO.union(Tags::BECAUSE)) {
        return !led;
    }
    if orders_what_is_owed(tokens, start, at) {
        return true;
    }
    // "20 to Bob please he paid for me"
    let behind_value = matches!(tokens[at - 1].kind, Kind::Amount(_) | Kind::Name { .. })
        || tokens[at - 1].kind == Kind::Word && tokens[at - 1].has(Tags::POLITE);
    let has_amount = tokens[start..at]
        .iter()
        .any(|token| matches!(token.kind, Kind::Amount(_)));
    let states = tokens
        .get(at + 1)
        .is_some_and(|next| next.kind == Kind::Word && next.has(Tags::STATES));
    if token.has(Tags::SUBJECT.union(Tags::PRONOUN)) && states && behind_value && has_amount {
        return true;
    }
    // "40 euros a Marta es por las flores"
    let is_for = token.has(Tags::STATES)
        && !token.has(Tags::NEG.union(Tags::FRAME))
        && tokens
            .get(at + 1)
            .is_some_and(|next| next.kind == Kind::Word && next.has(Tags::FOR));
    if is_for && behind_value && has_amount {
        return true;
    }
    if token.has(Tags::SUBJECT)
        && !token.has(
            Tags::PRONOUN
                .union(Tags::DET)
                .union(Tags::ME)
                .union(Tags::FRAME),
        )
        && behind_value
        && has_amount
    {
        return tokens
            .get(at + 1)
            .is_some_and(|next| next.kind == Kind::Word);
    }
    if token.has(Tags::AND.union(Tags::CONTRAST)) {
        let next = tokens[at + 1..].iter().find(|next| {
            !(next.kind == Kind::Word
                && next.has(
                    LIGHT
                        .union(Tags::DET)
                        .union(Tags::TO)
                        .union(Tags::FOR)
                        .union(Tags::TITLE),
                ))
        });
        return next.is_some_and(|next| match next.kind {
            Kind::Word if next.is_unknown() && next.capital => false,
            Kind::Word => !next.has(
                Tags::EACH
                    .union(Tags::CENT)
                    .union(Tags::CURRENCY)
                    .union(VERBS),
            ),
            _ => false,
        });
    }
    false
}
