//! Corrections told in many words ("oh no 60, the cake cost more", "the one for Nerea was 54").
//!
//! A sentence corrects when one of its pieces holds values with a word of correction or a verb that states them,
//! and nothing else of it speaks against the request. A currency alone corrects the currency, and "the other way
//! round" exchanges the sums of two requests.

use crate::{
    Target,
    context::Context,
    currencies::{self, CurrencyName},
    moves::{AmountMention, Fragment, HowMuch, Move, Pair, PayeeMention, Said, Who},
    pieces,
    reading::trimmed_span,
    sentences::Sentence,
    signs::Signs,
    speech::{CUES, LIGHT},
    tags::Tags,
    telling::tells_of_named,
    tokens::{Kind, Token, is_negation, is_sum},
};

/// Words beside values that make them no correction.
const SAYS_ELSE: Tags = Tags::SAY
    .union(Tags::REVERSE)
    .union(Tags::REVERSE_NOUN)
    .union(Tags::CONDITION)
    .union(Tags::IF_YOU)
    .union(Tags::HYPOTHESIS)
    .union(Tags::ASK)
    .union(Tags::OR)
    .union(Tags::STOP)
    .union(Tags::TAKE_BACK)
    .union(Tags::TAKE_BACK_LAST)
    .union(Tags::REMIND)
    .union(Tags::TEXT_WORK)
    .union(Tags::ANNOUNCE)
    .union(Tags::COMPUTED)
    .union(Tags::APPROX)
    .union(Tags::ME)
    .union(Tags::PERSON)
    .union(Tags::LABEL)
    .union(Tags::DEBT)
    .union(Tags::CURRENCY)
    .union(Tags::VAGUE_TIME);

/// The most words without a section that may stand beside corrected values.
const UNKNOWN_MAX: usize = 2;

/// One value of a piece, in its order.
enum Value {
    Amount(AmountMention),
    Payee(PayeeMention),
    NotAmount(AmountMention),
    NotPayee(Target),
}

/// Reads a sentence that corrects what was asked before.
pub(crate) fn read(context: &Context, sentence: &Sentence) -> Option<Said> {
    if sentence.question {
        return None;
    }
    let tokens = &context.tokens[sentence.tokens.clone()];
    let signs = context.signs(tokens);
    if signs.has(Signs::HESITATE.union(Signs::SPARE).union(Signs::MOCK)) {
        return None;
    }
    let at = trimmed_span(context, tokens);
    if let Some(currency) = currency(context, tokens) {
        return Some(Said {
            act: Move::Recurrency(currency),
            at,
        });
    }
    let swaps = signs.has(Signs::SWAP);
    let cued = swaps
        || signs.has(Signs::WRONG_AMOUNT.union(Signs::WRONG_PAYEE))
        || tokens.iter().any(|token| {
            token.kind == Kind::Word && token.has(Tags::REPAIR.union(Tags::NO).union(Tags::INSTEAD))
        });
    // "I paid Bob 20": told of oneself, unless a word of correction makes it one or it stands behind the sum ("is 34.99
    // I see").
    let sums_up = tokens.windows(2).position(|pair| {
        pair[0].kind == Kind::Word
            && pair[0].has(Tags::AMOUNTS_TO)
            && matches!(pair[1].kind, Kind::Amount(_))
    });
    let of_oneself = match sums_up {
        Some(at) => context.signs(&tokens[..at]).has(Signs::FIRST_PERSON),
        None => signs.has(Signs::FIRST_PERSON),
    };
    if !cued && of_oneself {
        return None;
    }
    let mut values: Option<(Vec<Value>, Said)> = None;
    for range in pieces::cut(tokens) {
        let piece = &tokens[range];
        if denies_what_follows(piece) {
            return None;
        }
        let Some(found) = values_of(context, piece, cued)? else {
            continue;
        };
        match &mut values {
            None => {
                let at = trimmed_span(context, piece);
                let act = Move::Nothing;
                values = Some((found, Said { act, at }));
            }
            Some((known, _)) => known.extend(found),
        }
    }
    let Some((values, mut said)) = values else {
        return swaps.then_some(Said {
            act: Move::Swap,
            at,
        });
    };
    said.act = Move::Fragment(fragment(values)?);
    Some(said)
}

/// "You must never, 1 to Bob": a negation with nothing behind it in its piece is about the next one.
fn denies_what_follows(piece: &[Token]) -> bool {
    let Some(last) = (0..piece.len()).rfind(|at| is_negation(piece, *at)) else {
        return false;
    };
    piece[last + 1..].iter().all(|token| {
        matches!(token.kind, Kind::Mark(_))
            || token.kind == Kind::Word && token.has(LIGHT.union(Tags::REPAIR))
    })
}

/// The values of a piece: none where it only tells something, and no reading at all (the outer `None`) where it holds
/// values with words that may mean anything else.
#[expect(
    clippy::option_option,
    reason = "nothing to read and not to be read are different answers"
)]
fn values_of(context: &Context, piece: &[Token], cued: bool) -> Option<Option<Vec<Value>>> {
    let is_money = |at: usize| is_sum(piece, at, Tags::UNIT);
    let is_payee = |token: &Token| context.names_payee(token);
    if !(0..piece.len()).any(|at| is_money(at) || is_payee(&piece[at])) {
        return Some(None);
    }
    if tells_of_named(piece) {
        return Some(None);
    }
    let mut values = Vec::new();
    let mut unknown = 0;
    // Values count with a word of correction anywhere, or right behind a verb that states them.
    let mut stated = cued
        || piece
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(Tags::FIX));
    let mut denied = false;
    // "Bob no": it denies what stands before it.
    let last_value = piece
        .iter()
        .rposition(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }));
    let denied_behind = last_value.is_some_and(|last| {
        piece[last + 1..]
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(Tags::NO.union(Tags::NEG)))
    });
    if denied_behind {
        return None;
    }
    for (at, token) in piece.iter().enumerate() {
        let span = context.span(token, token);
        match &token.kind {
            _ if token.pasted => return None,
            Kind::Amount(amount) if is_money(at) => {
                let led = piece[..at]
                    .iter()
                    .rev()
                    .find(|before| {
                        !(before.kind == Kind::Word && before.has(LIGHT.union(Tags::DET)))
                    })
                    .is_some_and(|before| {
                        before.kind == Kind::Word && before.has(Tags::AMOUNTS_TO.union(Tags::FIX))
                    });
                stated |= led;
                let much = context.sum(*amount);
                if !matches!(much, HowMuch::Sum(..)) {
                    return None;
                }
                let mention = AmountMention { much, at: span };
                values.push(if std::mem::take(&mut denied) {
                    Value::NotAmount(mention)
                } else {
                    Value::Amount(mention)
                });
            }
            Kind::Name { .. } => {
                let who = context.who(context.meaning(token)?);
                let Who::Target(target) = who else {
                    return None;
                };
                values.push(if std::mem::take(&mut denied) {
                    Value::NotPayee(target)
                } else {
                    Value::Payee(PayeeMention {
                        who,
                        at: span,
                        marked: true,
                    })
                });
            }
            // "Bob said: no" is no correction, though "said" also states.
            Kind::Word if token.has(Tags::SAY) => return None,
            Kind::Word if is_negation(piece, at) => denied = true,
            Kind::Word if token.has(Tags::NO) && !cued => return None,
            Kind::Word if token.is_unknown() => {
                unknown += 1;
                if token.capital
                    || context
                        .lexicon
                        .tells(&context.folded.text[token.start..token.end])
                {
                    return None;
                }
            }
            Kind::Word
                if token.has(SAYS_ELSE)
                    && !token.has(
                        LIGHT
                            .union(Tags::REPAIR)
                            .union(Tags::NO)
                            .union(Tags::FIX)
                            .union(Tags::DET)
                            .union(Tags::STATES)
                            .union(Tags::TO)
                            .union(Tags::FOR),
                    ) =>
            {
                return None;
            }
            Kind::Quoted | Kind::BadAccount | Kind::Account(_) => return None,
            _ => {}
        }
    }
    let fits = stated && unknown <= UNKNOWN_MAX && !denied;
    fits.then_some(Some(values))
}

/// One correction of a request, or of several with a sum each.
fn fragment(values: Vec<Value>) -> Option<Fragment> {
    let mut fragment = Fragment {
        repair: true,
        ..Fragment::default()
    };
    for value in values {
        match value {
            Value::NotPayee(target) => fragment.not_payees.push(target),
            Value::NotAmount(AmountMention {
                much: HowMuch::Sum(units, _),
                ..
            }) => fragment.not_amounts.push(units),
            Value::NotAmount(_) => {}
            Value::Amount(mention) => match fragment.pairs.last_mut() {
                Some(pair) if pair.amount.is_none() => pair.amount = Some(mention),
                _ => fragment.pairs.push(Pair {
                    payee: None,
                    amount: Some(mention),
                }),
            },
            // "Lukas had paid, so to Lukas"
            Value::Payee(mention)
                if fragment.pairs.iter().any(|pair| {
                    pair.payee
                        .as_ref()
                        .is_some_and(|payee| payee.who == mention.who)
                }) => {}
            Value::Payee(mention) => match fragment.pairs.last_mut() {
                Some(pair) if pair.payee.is_none() => pair.payee = Some(mention),
                _ => fragment.pairs.push(Pair {
                    payee: Some(mention),
                    amount: None,
                }),
            },
        }
    }
    let several = fragment.pairs.len() > 1;
    let complete = fragment
        .pairs
        .iter()
        .all(|pair| pair.payee.is_some() && pair.amount.is_some());
    let payee_first = fragment
        .pairs
        .iter()
        .all(|pair| match (&pair.payee, pair.amount) {
            (Some(payee), Some(amount)) => payee.at.span.start < amount.at.span.start,
            _ => true,
        });
    let amount_first = fragment
        .pairs
        .iter()
        .all(|pair| match (&pair.payee, pair.amount) {
            (Some(payee), Some(amount)) => payee.at.span.start > amount.at.span.start,
            _ => true,
        });
    let ordered = payee_first || amount_first;
    (!fragment.pairs.is_empty() && (!several || complete && ordered)).then_some(fragment)
}

/// The one currency of a sentence that says nothing else ("dollars of course, not euros").
fn currency(context: &Context, tokens: &[Token]) -> Option<countersign_domain::Currency> {
    let mut named = None;
    let mut unknown = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Mark(_) => {}
            Kind::Word if token.has(Tags::CURRENCY) => {
                let denied = (at.saturating_sub(2)..at).any(|before| {
                    is_negation(tokens, before)
                        || tokens[before].has(Tags::NEG.union(Tags::NO))
                            && tokens[before].kind == Kind::Word
                });
                if denied {
                    continue;
                }
                let text = &context.folded.text[token.start..token.end];
                let account = context.input.account_currency;
                let word = context
                    .lexicon
                    .phrases(text)
                    .iter()
                    .find(|phrase| phrase.rest.is_empty() && phrase.tags.has(Tags::CURRENCY))
                    .and_then(|phrase| phrase.value.as_deref());
                let name = word
                    .and_then(|value| currencies::of_word(value, account))
                    .or_else(|| currencies::read(text, account))?;
                let CurrencyName::Known(currency) = name else {
                    return None;
                };
                if named.is_some_and(|known| known != currency) {
                    return None;
                }
                named = Some(currency);
            }
            Kind::Word
                if token.has(SAYS_ELSE) && !token.has(LIGHT.union(CUES).union(Tags::NEG)) =>
            {
                return None;
            }
            Kind::Word => unknown += usize::from(token.is_unknown()),
            _ => return None,
        }
    }
    named.filter(|_| unknown <= UNKNOWN_MAX + 1)
}
