//! What a clause does: asks, corrects, takes back, or nothing.

use crate::{
    Reason, acts,
    arguments::{Arguments, Item},
    asides,
    context::Context,
    moves::{Fragment, HowMuch, Move, Pair, PayeeMention, Said, Strength, Who},
    pairing,
    reference::{
        clause_follows_colon, is_bare, list_behind_colon, referred, referred_sentence, refers_to,
        sent_to, with_values,
    },
    scan,
    sentences::{self, Sentence},
    signs::Signs,
    speech::{
        CUES, IN_A_FRAGMENT, LIGHT, blocked, introduces, is_afterthought, pure_cue, report_before,
        said_by_another, verb_of, wished_noun,
    },
    tags::Tags,
    tokens::{Kind, Token},
};

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
            let mut said = read(context, &free);
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
            if !((asked || owed) && introduces(&tokens[..range.start])) && asks_or_fills(&act) {
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

/// "For Bob, make it 30": the payee of one clause and the amount of the next are one correction.
fn join_topic(said: &mut [Said]) {
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

/// "Nothing for Bob, leave it": what follows without a name is about whom the sentence named.
fn keep_to_topic(said: &mut [Said], tokens: &[Token], ranges: &[std::ops::Range<usize>]) {
    let mut topic: Option<Vec<crate::Target>> = None;
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
                    said.act = Move::Doubt {
                        payees: topic.clone(),
                        strength: Strength::Certain,
                    };
                }
            }
            Move::Ask { .. } => topic = None,
            _ => {}
        }
    }
}

/// The clauses, none of which ends inside a turn of phrase ("Bob can | wait").
fn unbroken(
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
fn denied_behind(
    context: &Context,
    said: &mut [Said],
    tokens: &[Token],
    ranges: &[std::ops::Range<usize>],
) {
    if said.len() != ranges.len() {
        return;
    }
    for at in (1..said.len()).rev() {
        let parted = matches!(tokens[ranges[at].start - 1].kind, Kind::Mark(_));
        let denies = matches!(said[at].act, Move::TakeBack { .. });
        let payees = asides::named(context, &tokens[ranges[at - 1].clone()]);
        if parted || !denies || payees.is_empty() || !asides::leaves_open(&said[at - 1].act) {
            continue;
        }
        said[at].act = Move::Doubt {
            payees,
            strength: Strength::Certain,
        };
        said[at - 1].act = Move::Nothing;
    }
}

/// "Si pudieras pagar 20 a Bob, ¿cuánto queda?": what stands before the comma belongs to the question.
fn leads_to_question(context: &Context, sentence: &Sentence) -> bool {
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
fn led_by(context: &Context, sentence: &Sentence) -> Option<Reason> {
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

fn trimmed_span(context: &Context, clause: &[Token]) -> crate::MessageSpan {
    let is_value = |token: &&Token| !matches!(token.kind, Kind::Mark(_));
    let first = clause.iter().find(is_value).unwrap_or(&clause[0]);
    let last = clause.iter().rev().find(is_value).unwrap_or(first);
    context.span(first, last)
}

fn clause_move(context: &Context, base: usize, clause: &[Token]) -> Move {
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
    let Some(verb) = verb_of(clause).or_else(|| wished_noun(clause)) else {
        return without_verb(context, base, clause);
    };
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
        matches!(after.kind, Kind::Mark(_) | Kind::Name { .. })
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
        && clause.iter().any(|token| token.has(Tags::CURRENCY))
        || found.items.is_empty()
            && first.is_some_and(|first| first.kind == Kind::Word && first.has(Tags::INTO))
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
    fragment.restrict = context.signs(clause).has(Signs::RESTRICT);
    fragment.also |= first_word_is(clause, Tags::AND);
    // "and Bob 30"
    fragment.can_ask |= first_word_is(clause, Tags::AND);
    Move::Fragment(fragment)
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
