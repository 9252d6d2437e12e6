//! Speech acts: whether the words around a verb make a request, a question, a report or something else.

use std::ops::Range;

use crate::{
    Reason,
    context::Context,
    moves::Move,
    sentences::VERBS,
    tags::Tags,
    tokens::{self, Kind, Token},
};

/// Words before a verb that leave the clause a request.
pub(crate) const BEFORE_A_VERB: Tags = Tags::FILLER
    .union(Tags::ORDINAL)
    .union(Tags::PROFILE)
    .union(Tags::PAYEE_NOUN)
    .union(Tags::POLITE)
    .union(Tags::ALSO)
    .union(Tags::AFFIRM)
    .union(Tags::FRAME)
    .union(Tags::FRAME_MINE)
    .union(Tags::FRAME_NEED)
    .union(Tags::REPAIR)
    .union(Tags::INSTEAD)
    .union(Tags::NO)
    .union(Tags::AND)
    .union(Tags::CONTRAST)
    .union(Tags::DAY_WORD)
    .union(Tags::ON)
    .union(Tags::START)
    .union(Tags::RHYTHM)
    .union(Tags::EVERY)
    .union(Tags::TIME_UNIT)
    .union(Tags::WEEKDAY)
    .union(Tags::MONTH)
    .union(Tags::TO)
    .union(Tags::INTO)
    .union(Tags::FOR)
    .union(Tags::FROM)
    .union(Tags::OF)
    .union(Tags::DET)
    .union(Tags::NEG)
    .union(Tags::PRONOUN)
    .union(Tags::IT)
    .union(Tags::SAME)
    .union(Tags::EACH)
    .union(Tags::RESPECTIVELY)
    .union(Tags::PAY_NOUN)
    .union(Tags::ORDER_NOUN)
    .union(Tags::ACCOUNT_NOUN)
    .union(Tags::CARD_NOUN)
    .union(Tags::CURRENCY)
    .union(Tags::TAKE_BACK)
    .union(Tags::TAKE_BACK_LAST)
    .union(Tags::TITLE)
    .union(Tags::UNIT)
    .union(Tags::IF_YOU)
    .union(Tags::YOU_COULD)
    .union(Tags::ME);

/// Words a clause without a verb may hold so that its values count.
pub(crate) const IN_A_FRAGMENT: Tags = BEFORE_A_VERB
    .without(Tags::FRAME_NEED)
    .without(Tags::FRAME_MINE)
    .union(Tags::FIX)
    .union(Tags::APPROX)
    .union(Tags::CENT)
    .union(Tags::TOTAL)
    .union(Tags::OR);

pub(crate) const CUES: Tags = Tags::REPAIR
    .union(Tags::NO)
    .union(Tags::TAKE_BACK)
    .union(Tags::TAKE_BACK_LAST);

pub(crate) const LIGHT: Tags = Tags::FILLER
    .union(Tags::POLITE)
    .union(Tags::AFFIRM)
    .union(Tags::AND)
    .union(Tags::CONTRAST)
    .union(Tags::ALSO);

/// Somebody else is said to speak, and the clause is what they say.
pub(crate) fn said_by_another(tokens: &[Token], clause: &Range<usize>) -> bool {
    let before = &tokens[..clause.start];
    let said = before
        .iter()
        .rposition(|token| token.has(Tags::SAY) && token.kind == Kind::Word);
    if let Some(said) = said {
        // "Bob wrote "send 200", send him 50": what was said is closed by its marks.
        let closed = before[said..]
            .iter()
            .rposition(|token| token.kind == Kind::Quoted)
            .is_some_and(|quoted| {
                let rest = &before[said + quoted + 1..];
                rest.iter().any(|token| token.is_mark(",;-\u{2013}"))
                    && rest
                        .iter()
                        .all(|token| token.has(LIGHT) || matches!(token.kind, Kind::Mark(_)))
            });
        let asks = tokens[clause.clone()]
            .iter()
            .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)))
            .is_some_and(|first| first.kind == Kind::Word && first.has(Tags::PAY));
        return !(closed && asks || concludes(tokens, said, clause));
    }
    // "Bob: send 20 to Alice"
    let Some(colon) = before.iter().rposition(|token| token.is_mark(":")) else {
        return false;
    };
    if colon + 1 != clause.start
        && !tokens[colon + 1..clause.start]
            .iter()
            .all(|token| token.has(LIGHT))
    {
        return false;
    }
    let speaker = before[..colon]
        .iter()
        .filter(|token| !token.has(Tags::DET.union(LIGHT)));
    let mut speakers = 0;
    for token in speaker {
        if matches!(token.kind, Kind::Mark(_) | Kind::Masked) {
            continue;
        }
        let is_speaker = matches!(token.kind, Kind::Name { .. })
            || token.has(Tags::PERSON)
            || (token.is_unknown() && token.capital);
        if !is_speaker {
            return false;
        }
        speakers += 1;
    }
    let asks = tokens[clause.clone()]
        .iter()
        .any(|token| token.has(VERBS) && token.kind == Kind::Word);
    speakers > 0 && asks
}

/// "She said 72 with the discount, make it 72", "he told me about the tip, so make it 72": behind what somebody said
/// the customer sets the sum himself, where "so" leads over or the sum is the one that was told.
fn concludes(tokens: &[Token], said: usize, clause: &Range<usize>) -> bool {
    let head = tokens[clause.clone()]
        .iter()
        .find(|token| !(token.has(LIGHT) || matches!(token.kind, Kind::Mark(_))));
    let sets = head.is_some_and(|head| head.kind == Kind::Word && head.has(Tags::FIX));
    let sum_of = |part: &[Token]| {
        part.iter().find_map(|token| match token.kind {
            Kind::Amount(amount) => Some(amount.value),
            _ => None,
        })
    };
    let between = &tokens[said..clause.start];
    let leads = between
        .iter()
        .rev()
        .find(|token| !matches!(token.kind, Kind::Mark(_)))
        .is_some_and(|last| last.kind == Kind::Word && last.has(Tags::SO));
    let told = sum_of(between);
    let sum = sum_of(&tokens[clause.clone()]);
    sets && sum.flatten().is_some() && (leads || told == sum)
}

/// Whether the words before a colon introduce a request: they ask themselves, name whom or what it is for or
/// a debt, or hold nothing but small words ("New request:"). "Yesterday:" and "In German:" do not.
pub(crate) fn introduces(before: &[Token]) -> bool {
    let is_debt = before.iter().any(|token| token.has(Tags::DEBT));
    // "Rechnung Nr. 20318 von Elektro Kunz:"
    let refers = before.iter().any(|token| token.has(Tags::LABEL))
        && before.iter().any(|token| token.kind == Kind::Masked)
        && !before.iter().any(|token| {
            token.kind == Kind::Word
                && token.has(Tags::SAY.union(Tags::ANNOUNCE).union(Tags::TEXT_WORK))
        });
    let has_verb = verb_of(before).is_some();
    let small = Tags::COMMON
        .union(Tags::ORDINAL)
        .union(Tags::ONE)
        .union(LIGHT)
        .union(IN_A_FRAGMENT);
    let only_small = before.iter().all(|token| match token.kind {
        Kind::Word => token.has(small) && !token.has(Tags::INTO),
        Kind::Quoted => false,
        _ => true,
    });
    let purpose = before
        .iter()
        .find(|token| !token.has(LIGHT))
        .is_some_and(|first| first.has(Tags::FOR));
    let corrects = before
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(CUES));
    is_debt || refers || has_verb || only_small || purpose || corrects
}

/// A noun of paying that is wished for ("I'd like a transfer of 20 to Bob"), in a clause without a verb.
pub(crate) fn wished_noun(clause: &[Token]) -> Option<usize> {
    let wish = clause
        .iter()
        .position(|token| token.kind == Kind::Word && token.has(Tags::FRAME))?;
    (wish + 1..clause.len()).find(|at| {
        clause[*at].kind == Kind::Word && clause[*at].has(Tags::PAY_NOUN.union(Tags::ORDER_NOUN))
    })
}

/// The verb of a clause. A noun of paying behind an article is none.
pub(crate) fn verb_of(clause: &[Token]) -> Option<usize> {
    (0..clause.len()).find(|at| {
        let token = &clause[*at];
        if token.kind != Kind::Word || !token.has(VERBS) || token.has(Tags::FIX) {
            return false;
        }
        if !token.has(
            Tags::PAY_NOUN
                .union(Tags::ORDER_NOUN)
                .union(Tags::CARD_NOUN),
        ) {
            return true;
        }
        at.checked_sub(1)
            .map(|before| &clause[before])
            .is_none_or(|before| {
                let noun_before = before.has(
                    Tags::DET
                        .union(Tags::OF)
                        .union(Tags::COMMON)
                        .union(Tags::ORDINAL)
                        .union(Tags::PAY_NOUN),
                ) && !before.has(Tags::PRONOUN.union(Tags::FRAME))
                    || (before.has(VERBS) && before.kind == Kind::Word)
                    || matches!(
                        before.kind,
                        Kind::Amount(_)
                            | Kind::Name {
                                possessive: true,
                                ..
                            }
                    );
                !noun_before
            })
    })
}

/// Why the words before a verb make the clause no request.
pub(crate) fn report_before(context: &Context, clause: &[Token], verb: usize) -> Option<Reason> {
    let mut purpose = false;
    let before = &clause[..verb];
    let frame = before
        .iter()
        .rposition(|token| token.kind == Kind::Word && token.has(Tags::FRAME.union(Tags::POLITE)));
    for (at, token) in before.iter().enumerate() {
        // "42 Euro Essensgeld": what the money is for.
        let names_purpose = context.lexicon.infinitive_asks
            && token.is_unknown()
            && at > 0
            && matches!(&before[at - 1].kind, Kind::Amount(amount) if amount.currency.is_some());
        // "Bro, send …"
        let next = clause.get(at + 1);
        let calls = at == 0
            && token.kind == Kind::Word
            && (token.has(Tags::VOCATIVE)
                || token.is_unknown() && next.is_some_and(|next| next.is_mark(",!")));
        match token.kind {
            // "alle 8 e mezza"
            _ if token.has(Tags::HALF) && at > 1 && before[at - 2].kind == Kind::Masked => {}
            _ if names_purpose || calls => {}
            Kind::Word
                if is_plain(token)
                    && frame.is_some_and(|frame| bears(context, clause, verb, frame, at)) => {}
            // "ik wil wat overmaken": between what it needs and a verb at the end it is "something".
            Kind::Word
                if token.has(Tags::ASK)
                    && context.lexicon.verb_last
                    && clause[verb].has(Tags::PAY_INFINITIVE)
                    && frame.is_some_and(|frame| frame < at) => {}
            Kind::Word if token.has(Tags::SAY) => return Some(Reason::Quoted),
            Kind::Word if token.has(Tags::REVERSE) => return Some(Reason::Reverse),
            Kind::Mark(',') => purpose = false,
            Kind::Word if token.has(Tags::LABEL) && !token.has(Tags::SUBJECT) => {}
            Kind::Word if purpose && !token.has(Tags::SUBJECT.union(VERBS).union(Tags::ASK)) => {}
            Kind::Word if token.has(Tags::FOR) => purpose = true,
            Kind::Word
                if !token.has(BEFORE_A_VERB)
                    || token.has(Tags::SUBJECT) && !token.has(BEFORE_A_VERB) =>
            {
                return Some(Reason::Report);
            }
            Kind::Quoted => return Some(Reason::Quoted),
            _ => {}
        }
    }
    // "Bob must send 50": the one who acts is another.
    let asked_before = |at: usize| {
        before[..at]
            .iter()
            .any(|token| token.kind == Kind::Word && token.has(Tags::FRAME))
    };
    let acts_himself = before.windows(2).enumerate().any(|(at, pair)| {
        matches!(pair[0].kind, Kind::Name { .. })
            && !asked_before(at)
            && pair[1].has(Tags::FRAME.union(Tags::FRAME_NEED).union(Tags::FRAME_MINE))
            && pair[1].kind == Kind::Word
    });
    if acts_himself {
        return Some(Reason::Report);
    }
    let framed = before.iter().any(|token| {
        token.has(
            Tags::FRAME
                .union(Tags::FRAME_NEED)
                .union(Tags::FRAME_MINE)
                .union(Tags::IF_YOU)
                .union(Tags::POLITE),
        )
    });
    let needs_frame = !clause[verb].has(
        Tags::PAY
            .union(Tags::REFUND)
            .union(Tags::CHANGE)
            .union(Tags::STOP)
            .union(Tags::FREEZE)
            .union(Tags::UNFREEZE)
            .union(Tags::DISPUTE)
            .union(Tags::MAKE)
            .union(Tags::ADD)
            .union(Tags::SPLIT),
    );
    let polite = clause.iter().any(|token| token.has(Tags::POLITE));
    let denied = (0..verb).any(|at| tokens::is_negation(clause, at));
    let infinitive = clause[verb].has(Tags::PAY_INFINITIVE)
        && before
            .iter()
            .any(|token| matches!(token.kind, Kind::Amount(_) | Kind::Name { .. }));
    // "nicht nötig, Bob 20 zu überweisen"
    let denied_ahead = before
        .iter()
        .any(|token| token.has(Tags::TAKE_BACK) && token.has(Tags::NEG));
    if needs_frame && !framed && denied_ahead {
        return Some(Reason::Negated);
    }
    // "To pay: Alice 20, Bob 30"
    let heads_a_list = clause[verb].has(Tags::PAY_INFINITIVE)
        && clause[verb + 1..]
            .iter()
            .all(|token| matches!(token.kind, Kind::Mark(_)))
        && clause.last().is_some_and(|last| last.is_mark(":"));
    let asks_alone = infinitive && context.lexicon.infinitive_asks || heads_a_list;
    let spoken_to = before
        .iter()
        .any(|token| token.has(Tags::FRAME) && token.kind == Kind::Word);
    if clause[verb].has(Tags::PAY_FRAMED) && !spoken_to {
        return Some(Reason::Report);
    }
    if needs_frame && !(framed || polite || denied || asks_alone) {
        return Some(Reason::Report);
    }
    let needed = before.iter().any(|token| token.has(Tags::FRAME_NEED));
    let vague = clause.iter().any(|token| token.has(Tags::VAGUE_TIME));
    (needed && vague).then_some(Reason::Report)
}

/// Whether a word says nothing about who acts, when or whether: an unknown one or the name of a thing.
fn is_plain(token: &Token) -> bool {
    let things = Tags::COMMON
        .union(Tags::UNIT)
        .union(Tags::SHORT)
        .union(Tags::ALREADY);
    token.kind == Kind::Word && token.tags.without(things).is_empty()
}

/// Whether an unknown word leaves a request one that turns to the assistant: before the turn, where nobody is
/// spoken of, or between it and the verb, where nobody stands who could be told to act.
fn bears(context: &Context, clause: &[Token], verb: usize, frame: usize, at: usize) -> bool {
    let somebody = |part: &[Token]| {
        part.iter().any(|token| {
            matches!(token.kind, Kind::Name { .. } | Kind::Quoted)
                || token.kind == Kind::Word
                    && token.has(Tags::PERSON.union(Tags::SUBJECT).union(Tags::PRONOUN))
        })
    };
    if at < frame {
        return !somebody(&clause[..frame]);
    }
    // "Would you consider sending": the word before the verb governs it.
    if clause[verb].has(Tags::PAY_FRAMED) {
        return false;
    }
    // "kannst du etwas an Bob überweisen": the verb stands at the end, and what it takes before it.
    let last = clause[verb].has(Tags::PAY_INFINITIVE) && context.lexicon.verb_last;
    last || !somebody(&clause[frame + 1..verb])
}

/// A clause that is nothing but a cue: "no", "wait", "scratch that", "don't".
pub(crate) fn pure_cue(clause: &[Token]) -> Option<Move> {
    let harmless = LIGHT
        .union(Tags::IT)
        .union(Tags::PAY_NOUN)
        .union(Tags::DET)
        .union(Tags::DAY_WORD)
        .union(Tags::ME)
        .union(Tags::FRAME)
        .union(Tags::FRAME_NEED);
    let mut tags = Tags::NONE;
    for (at, token) in clause.iter().enumerate() {
        // "brauch mal ne Überweisung": an article.
        let article = token.has(Tags::DET)
            && token.has(Tags::NO)
            && clause.get(at + 1).is_some_and(|next| {
                next.kind == Kind::Word && next.has(Tags::PAY_NOUN.union(Tags::ORDER_NOUN))
            });
        if article {
            continue;
        }
        match token.kind {
            Kind::Mark(_) => {}
            Kind::Word
                if token.has(
                    harmless
                        .union(CUES)
                        .union(Tags::NEG)
                        .union(Tags::STOP)
                        .union(Tags::STOP_ALONE)
                        .union(Tags::PAY)
                        .union(Tags::PAY_INFINITIVE),
                ) =>
            {
                tags = tags.union(token.tags)
            }
            _ => return None,
        }
    }
    if tags.has(Tags::TAKE_BACK_LAST) && !tags.has(Tags::TAKE_BACK.union(Tags::STOP)) {
        return Some(Move::TakeBack {
            all: false,
            of_what: false,
            bare_no: false,
        });
    }
    let negated_verb = tags.has(Tags::NEG) && !tags.has(Tags::STOP);
    if tags.has(Tags::TAKE_BACK.union(Tags::NO)) || negated_verb {
        return Some(Move::TakeBack {
            all: true,
            of_what: false,
            bare_no: !tags.has(
                Tags::TAKE_BACK
                    .union(Tags::STOP)
                    .union(Tags::PAY)
                    .union(Tags::PAY_INFINITIVE),
            ),
        });
    }
    if tags.has(Tags::STOP_ALONE) && !tags.has(Tags::NEG.union(Tags::PAY)) {
        return Some(Move::TakeBack {
            all: true,
            of_what: false,
            bare_no: false,
        });
    }
    if tags.has(Tags::STOP) && !tags.has(Tags::NEG.union(Tags::PAY)) {
        return Some(Move::TakeBack {
            all: true,
            of_what: true,
            bare_no: false,
        });
    }
    // "Oops": something is about to be corrected.
    tags.has(Tags::REPAIR)
        .then_some(Move::Oops)
        .filter(|_| !tags.has(Tags::PAY))
}
