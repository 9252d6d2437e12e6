//! What a clause does: asks, corrects, takes back, or nothing.

use crate::{
    Reason, amends, asides,
    blocks::{blocked, is_afterthought},
    clauses::clause_move,
    context::Context,
    inversions,
    moves::{Fragment, HowMuch, Move, Pair, Said, Strength, Who},
    other_sums, pieces,
    reference::{
        clause_follows_colon, is_bare, list_behind_colon, referred, referred_sentence, refers_to,
        sent_to, with_values,
    },
    sentences::{self, Sentence},
    signs::Signs,
    speech::{LIGHT, introduces, pure_cue, said_by_another},
    tags::Tags,
    tokens::{Kind, Token},
    topics::{denied_behind, join_topic, keep_to_topic, unbroken},
};

/// Reads one sentence into the moves of its clauses; piece by piece where the whole grounds nothing.
pub(crate) fn read(context: &Context, sentence: &Sentence) -> Vec<Said> {
    let said = read_whole(context, sentence);
    let settled = said.iter().any(|said| is_settled(&said.act));
    // Speaks against a request, for all that its words say together.
    let against = said.iter().any(|said| {
        matches!(
            said.act,
            Move::Forbid {
                reason: Reason::TakenBack,
                ..
            } | Move::Doubt {
                strength: Strength::Certain,
                ..
            }
        )
    });
    if settled && !against && !said.iter().any(|said| is_unread_correction(&said.act)) {
        return said;
    }
    if inversions::leads(context, &context.tokens[sentence.tokens.clone()]) {
        return said;
    }
    let amends = amends::read(context, sentence);
    let otherwise = if settled {
        // "15 to Sven, he paid the parking meter": piece by piece one asks and none speaks against it.
        let doubts = context
            .signs(&context.tokens[sentence.tokens.clone()])
            .has(Signs::HESITATE.union(Signs::MOCK));
        let asked = |said: &Vec<Said>| said.iter().any(|said| is_whole_request(&said.act));
        (against && !doubts && !asked(&said))
            .then(|| pieces::read(context, sentence))
            .flatten()
            .filter(asked)
            .unwrap_or(said)
    } else {
        pieces::read(context, sentence).unwrap_or(said)
    };
    let Some(Said { act, at }) = amends else {
        return otherwise;
    };
    let act = match act {
        // "My old one only cost 3000": beside a sum it is about another thing, later it can be about both.
        Move::Fragment(_) if other_sums::tells(context, sentence) => {
            if other_sums::follows_a_sum(context, sentence) {
                return otherwise;
            }
            Move::Reopen {
                payee: false,
                amount: true,
            }
        }
        act => act,
    };
    let act = Move::Amend {
        amends: Box::new(act),
        otherwise,
    };
    vec![Said { act, at }]
}

/// Whether a move is a request with all its parts, or speaks against one.
fn is_settled(act: &Move) -> bool {
    match act {
        Move::Ask { pairs, .. } => pairs.iter().all(|pair| {
            pair.payee.is_some()
                && pair
                    .amount
                    .is_some_and(|amount| matches!(amount.much, HowMuch::Sum(..)))
        }),
        Move::Fragment(fragment) => {
            let known = |pair: &Pair| {
                pair.payee
                    .as_ref()
                    .is_some_and(|payee| matches!(payee.who, Who::Target(_)))
                    && pair
                        .amount
                        .is_some_and(|amount| matches!(amount.much, HowMuch::Sum(..)))
            };
            let complete =
                fragment.can_ask && !fragment.pairs.is_empty() && fragment.pairs.iter().all(known);
            complete
                || fragment.repair
                || !fragment.not_payees.is_empty()
                || !fragment.not_amounts.is_empty()
        }
        Move::Doubt { strength, .. } => *strength == Strength::Certain,
        Move::Nothing | Move::Refuse(_) | Move::AskIt | Move::Oops | Move::Tells(_) => false,
        _ => true,
    }
}

/// Whether a move asks for a payment with all its parts.
pub(crate) fn is_whole_request(act: &Move) -> bool {
    let pairs = match act {
        Move::Ask { pairs, .. } => pairs,
        Move::Fragment(fragment) if fragment.can_ask => &fragment.pairs,
        _ => return false,
    };
    !pairs.is_empty()
        && pairs
            .iter()
            .all(|pair| pair.payee.is_some() && pair.amount.is_some())
}

/// Whether a move may be a correction that its words hid.
fn is_unread_correction(act: &Move) -> bool {
    match act {
        Move::TakeBack { of_what, .. } => !of_what,
        Move::Compute => true,
        Move::Fragment(Fragment {
            pairs,
            repair: true,
            ..
        })
        | Move::Ask {
            pairs,
            repair: true,
            ..
        } => pairs.iter().any(|pair| {
            pair.amount
                .is_some_and(|amount| matches!(amount.much, HowMuch::Open(_)))
                || pair
                    .payee
                    .as_ref()
                    .is_some_and(|payee| matches!(payee.who, Who::Open(_)))
        }),
        _ => false,
    }
}

fn read_whole(context: &Context, sentence: &Sentence) -> Vec<Said> {
    let tokens = &context.tokens[sentence.tokens.clone()];
    let whole = context.span(&tokens[0], &tokens[tokens.len() - 1]);
    let refuse = |reason| {
        vec![Said {
            act: Move::Refuse(reason),
            at: whole,
        }]
    };
    // "Just kidding", "don't?": takes back whatever else the sentence may be.
    if let Some(cue @ Move::TakeBack { .. }) = pure_cue(tokens) {
        return vec![Said {
            act: cue,
            at: whole,
        }];
    }
    if let Some(act) = slip(context, tokens) {
        return vec![Said { act, at: whole }];
    }
    if context.signs(tokens).has(Signs::SWAP) && !tokens.iter().any(is_value) {
        let act = Move::TakeBack {
            all: true,
            of_what: false,
            bare_no: false,
        };
        return vec![Said { act, at: whole }];
    }
    if let Some(reason) = blocked(tokens, sentence.question) {
        if let Some(at) = other_condition(tokens).filter(|_| !sentence.question) {
            let start = sentence.tokens.start;
            let free = Sentence {
                tokens: start..start + at,
                question: false,
            };
            let mut said = read_whole(context, &free);
            said.push(Said {
                act: Move::Refuse(reason),
                at: context.span(&tokens[at], &tokens[tokens.len() - 1]),
            });
            return said;
        }
        let harmless = tokens
            .iter()
            .any(|token| token.has(Tags::CONDITION) && context.belongs_to(token, Signs::HARMLESS));
        if reason == Reason::Conditional && is_afterthought(tokens) && !harmless {
            return vec![Said {
                act: Move::Condition,
                at: whole,
            }];
        }
        return refused(context, tokens, reason, sentence.question);
    }
    if inversions::leads(context, tokens) {
        return refused(context, tokens, Reason::Conditional, sentence.question);
    }
    if leads_to_question(context, sentence) {
        return refuse(Reason::Question);
    }
    if let Some(reason) = led_by(context, sentence) {
        return refused(context, tokens, reason, sentence.question);
    }
    let ranges = unbroken(context, tokens, sentences::clauses(tokens));
    // "If you could pay 20 to Bob, how much would be left?"
    let asks = |range: &std::ops::Range<usize>| {
        let first = tokens[range.clone()]
            .iter()
            .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)));
        first.is_some_and(|first| {
            first.kind == Kind::Word && first.has(Tags::ASK) && !first.has(Tags::TAIL)
        })
    };
    if sentence.question && ranges.iter().any(asks) {
        return refuse(Reason::Question);
    }
    let mut said: Vec<Said> = Vec::new();
    for (index, range) in ranges.iter().enumerate() {
        let clause = &tokens[range.clone()];
        let base = sentence.tokens.start + range.start;
        let at = trimmed_span(context, clause);
        if said_by_another(tokens, range) {
            said.extend(refused(context, tokens, Reason::Quoted, sentence.question));
            break;
        }
        if let Some(act) = slip(context, clause) {
            said.push(Said { act, at });
            continue;
        }
        let before = index.checked_sub(1).map(|before| ranges[before].clone());
        let behind_colon = clause_follows_colon(tokens, range);
        let mut act = clause_move(context, base, clause);
        if let Some(before) = before
            && let Move::Ask { pairs, .. } = &act
            && let Some(values) = referred(context, sentence, &tokens[before.clone()], before)
            && refers_to(pairs, &values)
        {
            act = with_values(act, values);
        }
        if act == Move::AskIt
            && let Some(before) = index.checked_sub(1).map(|before| ranges[before].clone())
            && let Some(values) = referred(context, sentence, &tokens[before.clone()], before)
        {
            act = Move::ask(values);
        }
        if let Some(values) = index.checked_sub(1).and_then(|before| {
            let before = ranges[before].clone();
            referred(context, sentence, &tokens[before.clone()], before)
        }) && let Some(ask) = sent_to(&act, &values)
        {
            act = ask;
        }
        // "I owe Bob 22, reimburse him": no payment that came in.
        if let Move::Act(asked) = &act
            && asked.act == crate::Act::Refund
            && asked.transaction.is_none()
            && let Some(before) = index.checked_sub(1).map(|before| ranges[before].clone())
            && tokens[before.clone()]
                .iter()
                .any(|token| token.has(Tags::DEBT))
            && let Some(values) = referred(context, sentence, &tokens[before.clone()], before)
        {
            act = Move::Ask {
                pairs: vec![values],
                terms: crate::moves::Terms::default(),
                repair: false,
                also: false,
            };
        }
        if behind_colon {
            list_behind_colon(&mut said, &mut act);
            let asked = matches!(
                said.last(),
                Some(Said {
                    act: Move::Ask { .. }
                        | Move::Nothing
                        | Move::Fragment(_)
                        | Move::TakeBack { .. },
                    ..
                })
            );
            let owed = tokens[..range.start]
                .iter()
                .any(|token| token.has(Tags::DEBT));
            // "The rent goes up: change the standing order …": a reason before an act that moves no money by itself.
            let reasoned = matches!(act, Move::Act(_))
                && matches!(
                    said.last(),
                    Some(Said {
                        act: Move::Doubt {
                            strength: Strength::Faint | Strength::Likely,
                            ..
                        },
                        ..
                    })
                );
            if !((asked || owed || reasoned) && introduces(&tokens[..range.start]))
                && asks_or_fills(&act)
            {
                act = Move::Refuse(Reason::Quoted);
            }
        }
        // "Under no circumstances: send 20 to Bob"
        let denied = index
            .checked_sub(1)
            .is_some_and(|before| only_denies(&tokens[ranges[before].clone()]));
        if denied && asks_or_fills(&act) {
            act = Move::Refuse(Reason::Negated);
        }
        let act = asides::weigh(context, clause, act, sentence.question);
        said.push(Said { act, at });
    }
    denied_behind(context, &mut said, tokens, &ranges);
    keep_to_topic(&mut said, tokens, &ranges);
    join_topic(&mut said);
    if let [
        Said {
            act: act @ Move::AskIt,
            ..
        },
    ] = said.as_mut_slice()
        && let Some(values) = referred_sentence(context, sentence)
    {
        *act = Move::ask(values);
    }
    if let [
        Said {
            act: Move::Ask { pairs, .. },
            ..
        },
    ] = said.as_mut_slice()
        && let Some(values) = referred_sentence(context, sentence)
        && (is_bare(pairs) && tokens.iter().any(|token| token.has(Tags::IT))
            || !is_bare(pairs) && refers_to(pairs, &values))
    {
        let act = std::mem::replace(&mut said[0].act, Move::Nothing);
        said[0].act = with_values(act, values);
    }
    said
}

/// A sentence that grounds nothing, and what it does to what was asked before.
fn refused(context: &Context, sentence: &[Token], reason: Reason, question: bool) -> Vec<Said> {
    let at = context.span(&sentence[0], &sentence[sentence.len() - 1]);
    let refusal = Said {
        act: Move::Refuse(reason),
        at,
    };
    let against = asides::weigh_refused(context, sentence, reason, question);
    std::iter::once(refusal)
        .chain(against.map(|act| Said { act, at }))
        .collect()
}

/// "Oops, wrong person": which slot of the request before is open again, where nothing else is said.
fn slip(context: &Context, tokens: &[Token]) -> Option<Move> {
    let signs = context.signs(tokens);
    let has_values = tokens
        .iter()
        .any(|token| is_value(token) || token.kind == Kind::Word && token.has(Tags::PAY));
    let (payee, amount) = (
        signs.has(Signs::WRONG_PAYEE),
        signs.has(Signs::WRONG_AMOUNT),
    );
    ((payee || amount) && !has_values).then_some(Move::Reopen { payee, amount })
}

/// Whether a token names an amount or somebody.
fn is_value(token: &Token) -> bool {
    matches!(
        token.kind,
        Kind::Amount(_) | Kind::Name { .. } | Kind::Account(_) | Kind::BadAccount
    )
}

/// "Pay 84 to the garage, and if anything is left send 50 to Mum": where the part with the condition begins, when
/// both parts are requests with amounts of their own.
fn other_condition(tokens: &[Token]) -> Option<usize> {
    let is_word = |at: usize, tags: Tags| {
        tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Word && token.has(tags))
    };
    let opens = Tags::CONDITION.union(Tags::HYPOTHESIS);
    let first = (0..tokens.len()).find(|at| is_word(*at, opens))?;
    let starts_with_and = is_word(first, Tags::HYPOTHESIS) && is_word(first, Tags::CONDITION);
    let at = match first.checked_sub(1) {
        Some(before) if is_word(before, Tags::AND) => before,
        Some(_) if starts_with_and => first,
        _ => return None,
    };
    let asks = |part: &[Token]| {
        let amounts = part
            .iter()
            .filter(|token| matches!(&token.kind, Kind::Amount(amount) if amount.value.is_some()));
        amounts.count() == 1
            && part
                .iter()
                .any(|token| token.kind == Kind::Word && token.has(Tags::PAY))
    };
    let denies = (at..tokens.len()).any(|at| crate::tokens::is_negation(tokens, at));
    (asks(&tokens[..at]) && asks(&tokens[at..]) && !denies).then_some(at)
}

/// "Si pudieras pagar 20 a Bob, ¿cuánto queda?": what stands before the comma belongs to the question.
pub(crate) fn leads_to_question(context: &Context, sentence: &Sentence) -> bool {
    let end = sentence.tokens.end;
    let open = context.tokens[end - 1].is_mark(",")
        && context
            .tokens
            .get(end)
            .is_some_and(|mark| mark.is_mark("\u{bf}"));
    let asks = context
        .tokens
        .get(end + 1)
        .is_some_and(|first| first.has(Tags::ASK) && first.kind == Kind::Word);
    open && asks
}

/// "Si me pagan, ¿puedes …?": the mark that opens a question does not part it from its condition.
pub(crate) fn led_by(context: &Context, sentence: &Sentence) -> Option<Reason> {
    let start = sentence.tokens.start;
    let opens = start >= 2
        && context.tokens[start - 1].is_mark("\u{bf}\u{a1}")
        && context.tokens[start - 2].is_mark(",:");
    if !opens {
        return None;
    }
    let before = sentences::split(&context.tokens[..start - 1]);
    let before = &context.tokens[before.last()?.tokens.clone()];
    if only_denies(before) {
        return Some(Reason::Negated);
    }
    blocked(before, false)
}

/// Whether words deny and say nothing else, so that they deny what follows them.
fn only_denies(clause: &[Token]) -> bool {
    let denies = (0..clause.len()).any(|at| crate::tokens::is_negation(clause, at));
    denies
        && clause.iter().enumerate().all(|(at, token)| {
            matches!(token.kind, Kind::Mark(_))
                || crate::tokens::is_negation(clause, at)
                || token.kind == Kind::Word && token.has(LIGHT)
        })
}

fn asks_or_fills(act: &Move) -> bool {
    matches!(
        act,
        Move::Ask { .. } | Move::AskIt | Move::Fragment(_) | Move::Act(_)
    )
}

pub(crate) fn trimmed_span(context: &Context, clause: &[Token]) -> crate::MessageSpan {
    let is_value = |token: &&Token| !matches!(token.kind, Kind::Mark(_));
    let first = clause.iter().find(is_value).unwrap_or(&clause[0]);
    let last = clause.iter().rev().find(is_value).unwrap_or(first);
    context.span(first, last)
}
