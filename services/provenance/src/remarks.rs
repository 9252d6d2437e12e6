//! Remarks: clauses that ask for nothing, and whether they are about the request before them.
//!
//! A remark bears on a request where it carries a signal (a denial, a doubt, a condition, money, a word of paying or
//! of taking back) or refers to the request ("it", a pronoun) in words that are not known to be pleased with it. Small
//! talk, reasons, thanks, times, feelings and what is about something else leave the request, known words or not.

use crate::{
    asides::named,
    context::Context,
    moves::Strength,
    sentences::VERBS,
    signs::Signs,
    speech::LIGHT,
    tags::Tags,
    telling::writes_reference,
    tokens::{Kind, Token, is_negation, is_sum},
};

/// Whether a negation stands in words that are not known to be harmless.
pub(crate) fn denies(context: &Context, clause: &[Token]) -> bool {
    (0..clause.len())
        .any(|at| is_negation(clause, at) && !context.belongs_to(&clause[at], Signs::HARMLESS))
}

/// What a remark is made of, as far as it tells whether it is about the request before it.
struct Remark {
    /// Words that carry something.
    words: usize,
    /// It names the payment: "it", the act, an amount of money, a payee, somebody by a pronoun.
    of_request: bool,
    /// It says "it", "him" or the like.
    refers: bool,
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
        let money = (0..clause.len()).any(|at| is_sum(clause, at, Tags::PERSON));
        let payee = clause.iter().any(|token| context.names_payee(token));
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
            refers: clause.iter().any(|token| {
                token.kind == Kind::Word
                    && token.has(Tags::IT.union(Tags::PRONOUN))
                    && !token.has(Tags::DET)
            }),
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
pub(crate) fn bearing(context: &Context, clause: &[Token], signs: Signs) -> Option<Strength> {
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
    // "it was meant for somebody else": a correction that cannot be read.
    let corrects = clause.iter().any(|token| {
        token.kind == Kind::Word
            && token.has(Tags::FIX.union(Tags::INSTEAD))
            && !token.has(Tags::STATES.union(LIGHT))
    });
    if signs.has(Signs::SLIP) || corrects {
        return Some(Strength::Likely);
    }
    if denies(context, clause) {
        // "the other guy had no cash on him": told of somebody else, and of nothing that is to be paid.
        let another = tells && remark.of_another;
        // "I'm not quite awake yet": what is not so in the world or with the speaker.
        let state = !signs.has(Signs::HESITATE.union(Signs::POSTPONE).union(Signs::SPARE))
            && denies_a_state(context, clause, &remark);
        return (!(another || state)).then_some(Strength::Likely);
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
    // "he asked me twice already": he wants it, and is glad of it.
    let pays = has(VERBS.union(Tags::PAY_NOUN));
    if signs.has(Signs::PLEASED) && !pays && !signs.has(Signs::FIRST_PERSON) {
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
    if signs.has(Signs::FIRST_PERSON) && has(weighs_up) || named && has(Tags::SAY) {
        return Some(Strength::Likely);
    }
    if remark.identifies && !remark.of_request {
        return None;
    }
    // "Dad has sorted that for me", "I need that money for the car": about what is paid, whatever it is for.
    let about_it = remark.refers && (remark.of_another || of_us(context, clause, signs))
        || has(Tags::PAY_NOUN.union(Tags::ACCOUNT_NOUN)) && signs.has(Signs::FIRST_PERSON)
        || competes(context, clause);
    // "it's for the pizza", "because he asked"
    if !about_it && has(Tags::FOR)
        || head.is_some_and(|head| head.has(Tags::TAIL.union(Tags::BECAUSE)))
    {
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
    let money = (0..clause.len()).any(|at| is_sum(clause, at, Tags::NONE));
    let doubted = clause
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(doubts) && !token.has(Tags::AFFIRM));
    if to_somebody || money || sums_up || doubted {
        return Some(Strength::Likely);
    }
    // "my number is 07700 900142", "ref 20317"
    let contact = clause
        .iter()
        .any(|token| matches!(token.kind, Kind::Masked | Kind::Date(_)))
        && !remark.of_request;
    if has(Tags::AFFIRM) || contact || remark.identifies || tells {
        return None;
    }
    let pleased = signs.has(Signs::PLEASED);
    // What neither speaks against a request nor refers to one leaves it, whatever else it says.
    let refers = remark.refers || of_us(context, clause, signs) || competes(context, clause);
    if has(Tags::ALREADY) && !pleased && (refers || remark.words <= SAYING_WORDS_MAX) {
        return Some(Strength::Likely);
    }
    (!pleased && (refers || remark.to_me && has(Tags::PERSON) && remark.words <= SAYING_WORDS_MAX))
        .then_some(Strength::Faint)
}

/// Whether a denial is about something that is neither asked, wanted nor paid: it says something in words that are no
/// such verbs, and refers to nothing that was asked.
fn denies_a_state(context: &Context, clause: &[Token], remark: &Remark) -> bool {
    let wants = Tags::FRAME
        .union(Tags::FRAME_NEED)
        .union(Tags::FRAME_MINE)
        .union(Tags::DEBT)
        .union(Tags::REVERSE)
        .union(Tags::ACCOUNT_NOUN)
        .union(Tags::TAKE_BACK)
        .union(Tags::TAKE_BACK_LAST)
        .union(Tags::STOP)
        .union(Tags::REPAIR)
        .union(Tags::FIX)
        .union(Tags::INSTEAD)
        .union(Tags::HYPOTHESIS)
        .union(Tags::CONDITION)
        .union(Tags::ALREADY);
    let refers = remark.refers;
    let bears = clause
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(wants));
    let says = clause
        .iter()
        .filter(|token| token.is_unknown() && !is_weak(context, token))
        .count();
    says > 0 && !remark.of_request && !refers && !bears
}

/// Whether a word is too short to say what is denied.
fn is_weak(context: &Context, token: &Token) -> bool {
    const LETTERS_MIN: usize = 4;
    context.folded.text[token.start..token.end].chars().count() < LETTERS_MIN
}

/// "We have fallen out": a few words about the customer and somebody else, who may be whoever is to be paid.
fn of_us(context: &Context, clause: &[Token], signs: Signs) -> bool {
    /// More words tell of something else that happened.
    const WORDS_MAX: usize = 1;
    let together = signs.has(Signs::WE)
        || clause.iter().any(|token| {
            let word = &context.folded.text[token.start..token.end];
            token.is_unknown() && context.lexicon.speaks_of_us(word)
        });
    let things = clause
        .iter()
        .filter(|token| match token.kind {
            Kind::Word => {
                token.is_unknown()
                    || token.has(Tags::COMMON.union(Tags::UNIT)) && !token.has(Tags::STATES)
            }
            Kind::Mark(_) => false,
            _ => true,
        })
        .count();
    together && things <= WORDS_MAX
}

/// Whether a remark names a sum beside somebody to pay: it competes with what was asked.
fn competes(context: &Context, clause: &[Token]) -> bool {
    (0..clause.len()).any(|at| is_sum(clause, at, Tags::UNIT))
        && clause.iter().any(|token| context.names_payee(token))
}
