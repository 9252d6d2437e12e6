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
    sentences::VERBS,
    signs::Signs,
    speech::{CUES, LIGHT},
    tags::Tags,
    telling::writes_reference,
    tokens::{Kind, Token, is_negation},
};

/// The move of a clause with regard to what was asked before it.
pub(crate) fn weigh(context: &Context, clause: &[Token], act: Move, question: bool) -> Move {
    let signs = context.signs(clause);
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
            .any(|token| token.has(times) && token.kind == Kind::Word)
}

/// Whether a negation stands in words that are not known to be harmless.
fn denies(context: &Context, clause: &[Token]) -> bool {
    (0..clause.len())
        .any(|at| is_negation(clause, at) && !context.belongs_to(&clause[at], Signs::HARMLESS))
}

/// What a remark is made of, as far as it tells whether it is about the request before it.
struct Remark {
    /// Words that carry something.
    words: usize,
    /// It names the payment: "it", the act, an amount of money, a payee, somebody by a pronoun.
    of_request: bool,
    /// It speaks of somebody or something else ("the plumber fixed my roof").
    of_another: bool,
    /// It says what something is ("that's the MOT and 2 tyres").
    identifies: bool,
    /// It tells how something is or was.
    states: bool,
    /// It is done to the customer ("my wife will kill me").
    to_me: bool,
}

impl Remark {
    fn of(context: &Context, clause: &[Token]) -> Self {
        let has = |tags: Tags| {
            clause
                .iter()
                .any(|token| token.has(tags) && token.kind == Kind::Word)
        };
        let plain: Vec<&Token> = clause
            .iter()
            .filter(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)))
            .collect();
        let money = clause.iter().enumerate().any(|(at, token)| {
            let counts = clause
                .get(at + 1)
                .is_some_and(|next| next.is_unknown() || next.has(Tags::PERSON));
            matches!(&token.kind, Kind::Amount(amount) if amount.currency.is_some() || !counts)
        });
        let payee = clause.iter().any(|token| {
            context
                .meaning(token)
                .is_some_and(|meaning| !meaning.payees.is_empty())
        });
        let act = Tags::IT
            .union(Tags::PAY_NOUN)
            .union(Tags::PRONOUN)
            .union(VERBS);
        let subject = plain
            .iter()
            .find(|token| !token.has(Tags::DET) || token.has(Tags::SUBJECT));
        let of_another = subject.is_some_and(|first| {
            matches!(first.kind, Kind::Name { .. })
                || first.kind == Kind::Word
                    && first.has(Tags::SUBJECT.union(Tags::PERSON))
                    && !first.has(Tags::IT)
        });
        let copula = plain
            .iter()
            .take(2)
            .rposition(|token| token.kind == Kind::Word && token.has(Tags::STATES));
        let identifies = copula.is_some_and(|at| {
            let it = at == 0 || plain[0].has(Tags::IT.union(Tags::DET).union(Tags::SUBJECT));
            let noun = plain.get(at + 1).is_some_and(|next| {
                next.has(Tags::DET.union(Tags::FOR).union(Tags::TAIL)) && next.kind == Kind::Word
            });
            it && noun
        });
        Self {
            words: plain.len(),
            of_request: money || payee || has(act),
            of_another,
            identifies,
            states: has(Tags::STATES),
            to_me: has(Tags::ME),
        }
    }
}

/// Whether a piece tells what somebody else did with a thing of its own ("he paid the parking meter").
pub(crate) fn tells_of_another(context: &Context, piece: &[Token]) -> bool {
    let thing = piece
        .windows(2)
        .any(|pair| pair[0].kind == Kind::Word && pair[0].has(Tags::DET) && pair[1].is_unknown());
    let by_me = context.signs(piece).has(Signs::FIRST_PERSON);
    let remark = Remark::of(context, piece);
    let third = piece
        .iter()
        .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)))
        .is_some_and(|first| first.kind == Kind::Word && first.has(Tags::SUBJECT.union(Tags::DET)));
    thing && third && !by_me && named(context, piece).is_empty() && !remark.identifies
}

/// The most words of a turn that may be a saying ("my wife will kill me"). A longer one tells something.
const SAYING_WORDS_MAX: usize = 6;

/// How surely words that ask for nothing are about the request before them, if they can be.
fn bearing(context: &Context, clause: &[Token], signs: Signs) -> Option<Strength> {
    let has = |tags: Tags| {
        clause
            .iter()
            .any(|token| token.has(tags) && token.kind == Kind::Word)
    };
    let remark = Remark::of(context, clause);
    let tells = remark.words > SAYING_WORDS_MAX && remark.states && !remark.of_request;
    if writes_reference(clause) {
        return None;
    }
    if denies(context, clause) {
        // "the other guy had no cash on him": told of somebody else, and of nothing that is to be paid.
        return (!(tells && remark.of_another)).then_some(Strength::Likely);
    }
    let head = clause
        .iter()
        .find(|token| token.kind == Kind::Word && !token.has(LIGHT.union(Tags::REPAIR)));
    // "Actually that is nonsense": behind a word of correction a verb asks nothing.
    let asks = if has(Tags::REPAIR) {
        Tags::OTHER_VERB
    } else {
        Tags::OTHER_VERB.union(Tags::ASK_HEAD)
    };
    let speaks_of = clause
        .iter()
        .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)))
        .is_some_and(|first| matches!(first.kind, Kind::Name { .. } | Kind::Amount(_)));
    // "is 34.99, as I see": another sum.
    let sums_up = clause.windows(2).any(|pair| {
        pair[0].kind == Kind::Word
            && pair[0].has(Tags::AMOUNTS_TO)
            && matches!(pair[1].kind, Kind::Amount(_))
    });
    let asks_for_else = !speaks_of && !sums_up && head.is_some_and(|head| head.has(asks));
    if signs.has(Signs::HARMLESS) || asks_for_else || has(Tags::DEBT) {
        return None;
    }
    let named = clause
        .iter()
        .any(|token| matches!(token.kind, Kind::Name { .. }));
    let weighs_up = Tags::FRAME
        .union(Tags::FRAME_NEED)
        .union(Tags::FRAME_MINE)
        .union(Tags::HYPOTHESIS)
        .union(Tags::VAGUE_TIME);
    if signs.has(Signs::FIRST_PERSON) && (!tells || has(weighs_up)) || named && has(Tags::SAY) {
        return Some(Strength::Likely);
    }
    if remark.identifies && !remark.of_request {
        return None;
    }
    // "it's for the pizza", "because he asked"
    if has(Tags::FOR) || head.is_some_and(|head| head.has(Tags::TAIL.union(Tags::BECAUSE))) {
        return None;
    }
    let doubts = Tags::HYPOTHESIS
        .union(Tags::CONDITION)
        .union(Tags::REMIND)
        .union(Tags::STOP)
        .union(Tags::TAKE_BACK)
        .union(Tags::TAKE_BACK_LAST)
        .union(Tags::PAY_NOUN)
        .union(Tags::ACCOUNT_NOUN)
        .union(Tags::VAGUE_TIME)
        .union(VERBS);
    // "To Zoe": perhaps another payee.
    let to_somebody = clause
        .windows(2)
        .any(|pair| pair[0].kind == Kind::Word && pair[0].has(Tags::TO) && pair[1].is_unknown());
    let money = clause.iter().enumerate().any(|(at, token)| {
        let counts = clause.get(at + 1).is_some_and(Token::is_unknown);
        matches!(&token.kind, Kind::Amount(amount) if amount.currency.is_some() || !counts)
    });
    let doubted = clause
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(doubts) && !token.has(Tags::AFFIRM));
    if to_somebody || money || doubted {
        return Some(Strength::Likely);
    }
    // "my number is 07700 900142", "ref 20317"
    let contact = clause
        .iter()
        .any(|token| matches!(token.kind, Kind::Masked | Kind::Date(_)))
        && !remark.of_request;
    let harmless = has(Tags::AFFIRM)
        || contact
        || remark.identifies
        || remark.of_another && !(remark.to_me && remark.words <= SAYING_WORDS_MAX)
        || tells;
    if harmless {
        return None;
    }
    let says_something = clause.iter().any(|token| {
        token.is_unknown() || token.kind == Kind::Word && token.has(Tags::IT.union(Tags::STATES))
    });
    says_something.then_some(Strength::Faint)
}
