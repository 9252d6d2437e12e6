//! What a clause does: asks, corrects, takes back, or nothing.

use std::ops::Range;

use crate::{
    Reason, acts,
    arguments::{self, Arguments, Item},
    context::Context,
    moves::{Fragment, HowMuch, Move, Pair, Said, Who},
    pairing,
    sentences::{self, Sentence, VERBS},
    tags::Tags,
    tokens::{self, Kind, Token},
};

/// Words before a verb that leave the clause a request.
const BEFORE_A_VERB: Tags = Tags::FILLER
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
    .union(Tags::ME);

/// Words a clause without a verb may hold so that its values count.
const IN_A_FRAGMENT: Tags = BEFORE_A_VERB
    .without(Tags::FRAME_NEED)
    .without(Tags::FRAME_MINE)
    .union(Tags::FIX)
    .union(Tags::APPROX)
    .union(Tags::CENT)
    .union(Tags::TOTAL)
    .union(Tags::OR);

const CUES: Tags = Tags::REPAIR
    .union(Tags::NO)
    .union(Tags::TAKE_BACK)
    .union(Tags::TAKE_BACK_LAST);

const LIGHT: Tags = Tags::FILLER
    .union(Tags::POLITE)
    .union(Tags::AFFIRM)
    .union(Tags::AND)
    .union(Tags::CONTRAST)
    .union(Tags::ALSO);

/// Reads one sentence into the moves of its clauses.
pub(crate) fn read(context: &Context, sentence: &Sentence) -> Vec<Said> {
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
    if let Some(reason) = blocked(tokens, sentence.question) {
        if reason == Reason::Conditional && is_afterthought(tokens) {
            return vec![Said {
                act: Move::Condition,
                at: whole,
            }];
        }
        return refuse(reason);
    }
    let ranges = sentences::clauses(tokens);
    let mut said: Vec<Said> = Vec::new();
    for (index, range) in ranges.iter().enumerate() {
        let clause = &tokens[range.clone()];
        let base = sentence.tokens.start + range.start;
        let at = trimmed_span(context, clause);
        if said_by_another(tokens, range) {
            said.push(Said {
                act: Move::Refuse(Reason::Quoted),
                at: whole,
            });
            break;
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
        if let Some(values) = index.checked_sub(1).and_then(|before| {
            let before = ranges[before].clone();
            referred(context, sentence, &tokens[before.clone()], before)
        }) && let Some(ask) = sent_to(&act, &values)
        {
            act = ask;
        }
        if behind_colon {
            list_behind_colon(&mut said, &mut act);
            let asked = matches!(
                said.last(),
                Some(Said {
                    act: Move::Ask { .. } | Move::Nothing | Move::Fragment(_),
                    ..
                })
            );
            let owed = tokens[..range.start]
                .iter()
                .any(|token| token.has(Tags::DEBT));
            if !((asked || owed) && introduces(&tokens[..range.start])) && asks_or_fills(&act) {
                act = Move::Refuse(Reason::Quoted);
            }
        }
        said.push(Said { act, at });
    }
    if let [
        Said {
            act: Move::Ask { pairs, .. },
            ..
        },
    ] = said.as_mut_slice()
        && is_bare(pairs)
        && tokens.iter().any(|token| token.has(Tags::IT))
        && let Some(values) = referred_sentence(context, sentence)
    {
        let act = std::mem::replace(&mut said[0].act, Move::Nothing);
        said[0].act = with_values(act, values);
    }
    said
}

fn asks_or_fills(act: &Move) -> bool {
    matches!(act, Move::Ask { .. } | Move::Fragment(_) | Move::Act(_))
}

/// Whether the words before a colon introduce a request: they ask themselves, name whom or what it is for or
/// a debt, or hold nothing but small words ("New request:"). "Yesterday:" and "In German:" do not.
fn introduces(before: &[Token]) -> bool {
    let is_debt = before.iter().any(|token| token.has(Tags::DEBT));
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
    is_debt || has_verb || only_small || purpose
}

/// Why no clause of a sentence can ground anything.
fn blocked(tokens: &[Token], question: bool) -> Option<Reason> {
    let words = || tokens.iter().filter(|token| token.kind == Kind::Word);
    if words().any(|token| token.has(Tags::CONDITION)) {
        return Some(Reason::Conditional);
    }
    if words().any(|token| token.has(Tags::HYPOTHESIS)) {
        return Some(Reason::Question);
    }
    if words().any(|token| token.has(Tags::REMIND)) {
        return Some(Reason::Reminder);
    }
    if words().any(|token| token.has(Tags::TEXT_WORK.union(Tags::ANNOUNCE))) {
        return Some(Reason::Quoted);
    }
    let head = tokens.iter().find(|token| {
        token.kind == Kind::Word && !token.has(LIGHT.union(Tags::REPAIR).union(Tags::NO))
    });
    let framed = words().any(|token| token.has(Tags::FRAME.union(Tags::POLITE)));
    if head.is_some_and(|head| head.has(Tags::ASK.union(Tags::ASK_HEAD))) {
        return Some(Reason::Question);
    }
    if words().any(|token| token.has(Tags::FRAME_MINE))
        && !words().any(|token| token.has(Tags::POLITE))
    {
        return Some(Reason::Question);
    }
    let tagged = tokens.last().is_some_and(|last| last.has(Tags::ASK_TAG));
    (question && !framed && !tagged).then_some(Reason::Question)
}

/// A condition behind a request, without a request of its own ("but only if my salary arrives").
fn is_afterthought(tokens: &[Token]) -> bool {
    let first = tokens
        .iter()
        .find(|token| !token.has(LIGHT) && !matches!(token.kind, Kind::Mark(_)));
    let asks_else = tokens
        .iter()
        .any(|token| token.has(Tags::ASK.union(Tags::PAY)) && token.kind == Kind::Word);
    first.is_some_and(|first| first.has(Tags::CONDITION)) && !asks_else
}

/// Somebody else is said to speak, and the clause is what they say.
fn said_by_another(tokens: &[Token], clause: &Range<usize>) -> bool {
    let before = &tokens[..clause.start];
    if before
        .iter()
        .any(|token| token.has(Tags::SAY) && token.kind == Kind::Word)
    {
        return true;
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

fn clause_follows_colon(tokens: &[Token], clause: &Range<usize>) -> bool {
    let first = tokens[clause.clone()]
        .iter()
        .position(|token| !matches!(token.kind, Kind::Mark(_)))
        .unwrap_or(0);
    tokens[..clause.start + first]
        .iter()
        .rev()
        .take_while(|token| matches!(token.kind, Kind::Mark(_)))
        .any(|token| token.is_mark(":"))
}

fn trimmed_span(context: &Context, clause: &[Token]) -> crate::MessageSpan {
    let is_value = |token: &&Token| !matches!(token.kind, Kind::Mark(_));
    let first = clause.iter().find(is_value).unwrap_or(&clause[0]);
    let last = clause.iter().rev().find(is_value).unwrap_or(first);
    context.span(first, last)
}

/// Whether a request without values, or for the same payee without an amount, can mean a pair.
fn refers_to(pairs: &[Pair], values: &Pair) -> bool {
    let [
        Pair {
            amount: None,
            payee,
        },
    ] = pairs
    else {
        return false;
    };
    match (payee, &values.payee) {
        (None, _) => true,
        (Some(named), Some(meant)) => matches!(named.who, Who::Target(_)) && named.who == meant.who,
        _ => false,
    }
}

/// "Bob needs 20, send it to him": the amount of the clause before goes to the one it named.
fn sent_to(act: &Move, values: &Pair) -> Option<Move> {
    let Move::Fragment(fragment) = act else {
        return None;
    };
    let [
        Pair {
            payee: Some(payee),
            amount: None,
        },
    ] = fragment.pairs.as_slice()
    else {
        return None;
    };
    let same = values
        .payee
        .as_ref()
        .is_some_and(|meant| meant.who == payee.who && matches!(meant.who, Who::Target(_)));
    (fragment.sends && same).then(|| Move::Ask {
        pairs: vec![values.clone()],
        terms: fragment.terms.clone(),
        repair: false,
        also: fragment.also,
    })
}

fn is_bare(pairs: &[Pair]) -> bool {
    matches!(
        pairs,
        [Pair {
            amount: None,
            payee: None
        }]
    )
}

/// "Please pay: Alice 30, Bob 45": the list is what is asked.
fn list_behind_colon(said: &mut [Said], act: &mut Move) {
    let Some(Said {
        act: before @ Move::Ask { .. },
        ..
    }) = said.last_mut()
    else {
        return;
    };
    let Move::Ask {
        pairs,
        terms,
        repair,
        also,
    } = before
    else {
        return;
    };
    if let Move::Fragment(fragment) = act
        && pairs.iter().all(|pair| pair.payee.is_none())
        && fragment
            .pairs
            .iter()
            .all(|pair| pair.payee.is_some() && pair.amount.is_some())
    {
        let (terms, repair, also) = (std::mem::take(terms), *repair, *also);
        *act = Move::Ask {
            pairs: std::mem::take(&mut fragment.pairs),
            terms,
            repair,
            also,
        };
        *before = Move::Nothing;
    }
}

/// The one amount and payee of a clause that a bare "pay it" behind it means.
fn referred(
    context: &Context,
    sentence: &Sentence,
    clause: &[Token],
    range: Range<usize>,
) -> Option<Pair> {
    let plain = clause.iter().all(|token| {
        !token.is_unknown()
            && !token.has(
                Tags::NEG
                    .union(Tags::SAY)
                    .union(Tags::REVERSE)
                    .union(Tags::NO)
                    .union(Tags::OR),
            )
            && !matches!(token.kind, Kind::Quoted)
    });
    if !plain {
        return None;
    }
    let found = arguments::scan(context, sentence.tokens.start + range.start, clause, None);
    match pairing::pair(&found).as_slice() {
        [
            pair @ Pair {
                payee: Some(_),
                amount: Some(_),
            },
        ] if found.amounts() == 1 && !found.negated && !found.reverse => Some(pair.clone()),
        _ => None,
    }
}

/// The same in the sentence before.
fn referred_sentence(context: &Context, sentence: &Sentence) -> Option<Pair> {
    let all = sentences::split(&context.tokens[..sentence.tokens.start]);
    let before = all.last()?;
    let tokens = &context.tokens[before.tokens.clone()];
    if blocked(tokens, before.question).is_some()
        || tokens
            .iter()
            .any(|token| token.has(VERBS) && !token.has(Tags::PAY_NOUN))
    {
        return None;
    }
    referred(context, before, tokens, 0..tokens.len())
}

fn with_values(act: Move, values: Pair) -> Move {
    match act {
        Move::Ask {
            terms,
            repair,
            also,
            ..
        } => Move::Ask {
            pairs: vec![values],
            terms,
            repair,
            also,
        },
        other => other,
    }
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

fn clause_move(context: &Context, base: usize, clause: &[Token]) -> Move {
    let words = || {
        clause
            .iter()
            .filter(|token| !matches!(token.kind, Kind::Mark(_)))
    };
    if let Some(cue) = pure_cue(clause) {
        return cue;
    }
    let Some(verb) = verb_of(clause) else {
        return without_verb(context, base, clause);
    };
    if let Some(reason) = report_before(context, clause, verb) {
        return refuse_if_of_payment(context, base, clause, reason);
    }
    let kind = clause[verb].tags;
    let mut found = arguments::scan(context, base, clause, Some(verb));
    found.it |= kind.has(Tags::IT);
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
    if makes && !(found.pay_noun || found.order_noun || found.amounts() > 0 || found.it) {
        return Move::Nothing;
    }
    if found.me || found.reverse {
        return Move::Refuse(Reason::Reverse);
    }
    if found.negated {
        return forbid(&found);
    }
    if kind.has(Tags::CHANGE.union(Tags::CHANGE_INFINITIVE)) && !kind.has(Tags::PAY) {
        return change(context, found);
    }
    let mut pairs = pairing::pair(&found);
    if kind.has(Tags::SPLIT) {
        for amount in pairs.iter_mut().filter_map(|pair| pair.amount.as_mut()) {
            amount.much = HowMuch::Open(Reason::Computed);
        }
    }
    if found.it && found.amounts() == 0 && repair {
        return Move::Fragment(fragment(&found, pairs, true, false));
    }
    Move::Ask {
        pairs,
        terms: found.terms,
        repair,
        also: found.also,
    }
}

/// Why the words before a verb make the clause no request.
fn report_before(context: &Context, clause: &[Token], verb: usize) -> Option<Reason> {
    let mut purpose = false;
    let before = &clause[..verb];
    for token in before {
        match token.kind {
            Kind::Word if token.has(Tags::SAY) => return Some(Reason::Quoted),
            Kind::Word if token.has(Tags::REVERSE) => return Some(Reason::Reverse),
            Kind::Mark(',') => purpose = false,
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
    let framed = before.iter().any(|token| {
        token.has(
            Tags::FRAME
                .union(Tags::FRAME_NEED)
                .union(Tags::FRAME_MINE)
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
    let asks_alone = infinitive && context.lexicon.infinitive_asks;
    if needs_frame && !(framed || polite || denied || asks_alone) {
        return Some(Reason::Report);
    }
    let needed = before.iter().any(|token| token.has(Tags::FRAME_NEED));
    let vague = clause.iter().any(|token| token.has(Tags::VAGUE_TIME));
    (needed && vague).then_some(Reason::Report)
}

fn refuse_if_of_payment(context: &Context, base: usize, clause: &[Token], reason: Reason) -> Move {
    let found = arguments::scan(context, base, clause, None);
    if found.items.is_empty() && reason == Reason::Report {
        Move::Nothing
    } else {
        Move::Refuse(reason)
    }
}

/// A clause that is nothing but a cue: "no", "wait", "scratch that", "don't".
fn pure_cue(clause: &[Token]) -> Option<Move> {
    let harmless = LIGHT
        .union(Tags::IT)
        .union(Tags::PAY_NOUN)
        .union(Tags::DET)
        .union(Tags::DAY_WORD)
        .union(Tags::ME)
        .union(Tags::FRAME)
        .union(Tags::FRAME_NEED);
    let mut tags = Tags::NONE;
    for token in clause {
        match token.kind {
            Kind::Mark(_) => {}
            Kind::Word
                if token.has(
                    harmless
                        .union(CUES)
                        .union(Tags::NEG)
                        .union(Tags::STOP)
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
        return Some(Move::TakeBack { all: false });
    }
    let negated_verb = tags.has(Tags::NEG) && !tags.has(Tags::STOP);
    if tags.has(Tags::TAKE_BACK.union(Tags::NO)) || negated_verb {
        return Some(Move::TakeBack { all: true });
    }
    if tags.has(Tags::STOP) && !tags.has(Tags::NEG.union(Tags::PAY)) {
        return Some(Move::TakeBack { all: true });
    }
    tags.has(Tags::REPAIR)
        .then_some(Move::Nothing)
        .filter(|_| !tags.has(Tags::PAY))
}

fn without_verb(context: &Context, base: usize, clause: &[Token]) -> Move {
    let found = arguments::scan(context, base, clause, None);
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
    // "I mean dollars": the number stays, the currency is another.
    let only_currency = found.items.is_empty()
        && has(CUES.union(Tags::FIX).union(Tags::INSTEAD).union(Tags::NEG))
        && clause.iter().any(|token| token.has(Tags::CURRENCY));
    if only_currency {
        return Move::Compute;
    }
    let for_tail = !fits && purpose_at_the_end(clause);
    if !fits && !for_tail {
        if computes {
            return Move::Compute;
        }
        // "wrong person, Carol": what follows cannot be read, but something is taken back.
        if first.is_some_and(|first| first.has(CUES.without(Tags::REPAIR)) || has(Tags::TAKE_BACK))
        {
            return Move::TakeBack { all: true };
        }
        if let Some(act) = acts::fragment(context, base, clause) {
            return act;
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
    let repair = has(CUES
        .union(Tags::INSTEAD)
        .union(Tags::FIX)
        .union(Tags::CONTRAST))
        || !found.not_amounts.is_empty()
        || !found.not_payees.is_empty();
    let polite = found.polite || found.marked || found.also;
    let pairs = pairing::pair(&found);
    let mut fragment = fragment(&found, pairs, repair, polite);
    fragment.sends = has(Tags::FIX);
    fragment.also |= first_word_is(clause, Tags::AND);
    Move::Fragment(fragment)
}

/// Whether all that does not fit in a fragment says what the money is for ("20 to Bob for the pizza").
fn purpose_at_the_end(clause: &[Token]) -> bool {
    let mut tail = false;
    clause.iter().enumerate().all(|(at, token)| {
        let next = clause.get(at + 1);
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
    }
}

fn forbid(found: &Arguments) -> Move {
    let (payees, amounts) = (found.every_payee(), found.every_amount());
    if payees.is_empty() && amounts.is_empty() {
        // "I don't want to send that": the words name nothing else that it could be about.
        return if found.unknown_word {
            Move::Nothing
        } else {
            Move::TakeBack { all: true }
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
    let (payees, amounts) = (found.every_payee(), found.every_amount());
    if payees.is_empty() && amounts.is_empty() {
        return if found.unknown_word {
            Move::Nothing
        } else {
            Move::TakeBack { all: true }
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
