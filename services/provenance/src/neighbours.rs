//! What a word is beside its neighbours: a preposition that is also a cue, whom a name behind a person's word means,
//! codes that look like amounts.

use crate::{
    Reason, counts,
    fold::Folded,
    tags::Tags,
    tokens::{Amount, Kind, Token},
};

/// Longest description of somebody before a name ("my little sister's new flatmate").
const DESCRIPTION_WORDS_MAX: usize = 5;

/// Settles the words of a message that are more than one thing.
///
/// `without_cases`: names stand in no cases here, so that a name behind a person's word is that person's.
pub(crate) fn settle(tokens: &mut Vec<Token>, folded: &Folded, without_cases: bool) {
    counts::mark_list(tokens);
    let mut at = 0;
    while at < tokens.len() {
        counts::cut_preposition(tokens, at);
        at += 1;
    }
    for at in 0..tokens.len() {
        prefer_preposition(tokens, at);
        prefer_second_verb(tokens, at);
        affirm_alone(tokens, at);
        pay_for_me(tokens, at);
        give_pronoun_to_verb(tokens, at);
        begin_reason(tokens, at);
        tell_a_state(tokens, at);
        close_list(tokens, at);
        open_sums_with_more(tokens, at);
        join_listed(tokens, at);
        counts::mask_code(tokens, folded, at);
        counts::number_document(tokens, at);
        counts::end_of_a_time(tokens, at);
        counts::count_company(tokens, at);
        counts::mask_count(tokens, at);
    }
    if without_cases {
        let mut at = 0;
        while at < tokens.len() {
            join_apposition(tokens, at);
            at += 1;
        }
    }
}

/// "20 para Bob" against "para!": before a value or an article a word that is both leads to it, unless the article
/// is that of a payment.
fn prefer_preposition(tokens: &mut [Token], at: usize) {
    let cues = Tags::STOP
        .union(Tags::STOP_ALONE)
        .union(Tags::TAKE_BACK)
        .union(Tags::NEG);
    let token = &tokens[at];
    if token.kind != Kind::Word || !token.has(Tags::FOR.union(Tags::TO)) || !token.has(cues) {
        return;
    }
    let leads = tokens.get(at + 1).is_some_and(|next| match next.kind {
        Kind::Name { .. } | Kind::Account(_) => true,
        Kind::Word => {
            next.is_unknown()
                || next.has(
                    Tags::DET
                        .union(Tags::PERSON)
                        .union(Tags::PRONOUN)
                        .union(Tags::ME),
                )
        }
        _ => false,
    });
    // What would be for somebody stands before it; a cue begins its sentence.
    let value_before = tokens[..at]
        .iter()
        .rev()
        .take_while(|before| !before.is_mark(".!?;\n"))
        .any(|before| matches!(before.kind, Kind::Amount(_)));
    if leads && (value_before || matches!(tokens[at + 1].kind, Kind::Name { .. })) {
        tokens[at].tags = tokens[at].tags.without(cues);
    }
}

/// "vale, dale": with nothing to give, a word that also affirms does only that.
fn affirm_alone(tokens: &mut [Token], at: usize) {
    let token = &tokens[at];
    let both = token.kind == Kind::Word && token.has(Tags::PAY) && token.has(Tags::AFFIRM);
    let alone = both
        && tokens[at + 1..]
            .iter()
            .take_while(|next| !next.is_mark(".!?;\n"))
            .all(|next| {
                matches!(next.kind, Kind::Mark(_))
                    || next.kind == Kind::Word
                        && next.has(Tags::FILLER.union(Tags::AFFIRM).union(Tags::POLITE))
            });
    if alone {
        tokens[at].tags = Tags::AFFIRM.union(Tags::FILLER);
    }
}

/// What a language file gives a verb that means "for me" where a thing follows ("págame el alquiler").
const FOR_ME: &str = "bill";

/// What a language file gives a pronoun that stands before its verb ("le mandas 20").
const BEFORE_ITS_VERB: &str = "him";

/// "págame el alquiler": nobody asks the bank for money so; a bill is to be paid for the customer.
fn pay_for_me(tokens: &mut [Token], at: usize) {
    let is_word = |at: usize, tags: Tags| {
        tokens
            .get(at)
            .is_some_and(|token| token.kind == Kind::Word && token.has(tags))
    };
    let article = is_word(at + 1, Tags::DET);
    let thing = tokens.get(at + 2).is_some_and(|thing| {
        thing.is_unknown()
            || thing.kind == Kind::Word && thing.has(Tags::COMMON.union(Tags::LABEL))
            || matches!(thing.kind, Kind::Name { .. })
    });
    if is_word(at, Tags::REVERSE) && tokens[at].value == Some(FOR_ME) && article && thing {
        tokens[at].tags = Tags::PAY;
    }
}

/// "quisiera que le mandaran 50": the verb holds the pronoun that stands before it.
fn give_pronoun_to_verb(tokens: &mut [Token], at: usize) {
    let verbs = Tags::PAY
        .union(Tags::PAY_INFINITIVE)
        .union(Tags::MAKE)
        .union(Tags::MAKE_INFINITIVE);
    let is_pronoun = tokens[at].kind == Kind::Word && tokens[at].value == Some(BEFORE_ITS_VERB);
    if let Some(verb) = tokens.get_mut(at + 1)
        && is_pronoun
        && verb.kind == Kind::Word
        && verb.has(verbs)
        && !verb.has(Tags::PAY_NOUN)
    {
        verb.tags = verb.tags.union(Tags::PRONOUN);
    }
}

/// What a language file gives a word that asks at the head of a sentence and gives a reason behind a value ("20 a Bob
/// que es su cumple").
const BEHIND_A_VALUE: &str = "that";

fn begin_reason(tokens: &mut [Token], at: usize) {
    let behind_value = at.checked_sub(1).is_some_and(|before| {
        matches!(
            tokens[before].kind,
            Kind::Amount(_)
                | Kind::Name {
                    possessive: false,
                    ..
                }
        ) || tokens[before].kind == Kind::Word && tokens[before].has(Tags::POLITE)
    });
    let goes_on = tokens
        .get(at + 1)
        .is_some_and(|next| !matches!(next.kind, Kind::Mark(_) | Kind::Amount(_)));
    // "no, que son 33": it leads to a correction.
    let corrects = tokens
        .get(at + 1)
        .is_some_and(|next| next.kind == Kind::Word && next.has(Tags::FIX))
        && tokens
            .get(at + 2)
            .is_some_and(|value| matches!(value.kind, Kind::Amount(_)));
    if corrects && tokens[at].kind == Kind::Word && tokens[at].value == Some(BEHIND_A_VALUE) {
        tokens[at].tags = Tags::FILLER;
    } else if behind_value
        && goes_on
        && tokens[at].kind == Kind::Word
        && tokens[at].value == Some(BEHIND_A_VALUE)
    {
        tokens[at].tags = Tags::TAIL;
    }
}

/// "bin noch nicht ganz wach": between a verb that states and an unknown word, "not yet" takes nothing back.
fn tell_a_state(tokens: &mut [Token], at: usize) {
    let is_word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let denial = is_word(&tokens[at], Tags::TAKE_BACK) && tokens[at].has(Tags::NEG);
    if !denial || tokens[at].has(Tags::STOP.union(Tags::STOP_ALONE)) {
        return;
    }
    let ends = |token: &&Token| !token.is_mark(",.!?;:\n");
    let before = tokens[..at].iter().rev().take_while(ends);
    let behind = tokens[at + 1..].iter().take_while(ends);
    let values = Tags::IT
        .union(Tags::PRONOUN)
        .union(Tags::PAY)
        .union(Tags::PAY_INFINITIVE)
        .union(Tags::FRAME)
        .union(Tags::FRAME_NEED)
        .union(Tags::PAY_NOUN);
    let about_it = |token: &Token| {
        is_word(token, values)
            || matches!(
                token.kind,
                Kind::Amount(_) | Kind::Name { .. } | Kind::Account(_)
            )
    };
    let states = before.clone().any(|token| is_word(token, Tags::STATES));
    let tells = behind.clone().any(Token::is_unknown);
    if states && tells && !before.chain(behind).any(about_it) {
        tokens[at].tags = Tags::NEG;
    }
}

/// What a language file gives words that say there is nothing more ("that's all").
const ALL: &str = "all";

/// "No, that's all": the "no" answers whether there is more.
fn close_list(tokens: &mut [Token], at: usize) {
    let begins = at == 0 || tokens[at - 1].is_mark(".!?;\n");
    let more = tokens[at + 1..]
        .iter()
        .find(|next| !next.is_mark(",-"))
        .is_some_and(|next| next.kind == Kind::Word && next.value == Some(ALL));
    if begins && more && tokens[at].kind == Kind::Word && tokens[at].has(Tags::NO) {
        tokens[at].tags = Tags::FILLER;
    }
}

/// What a language file gives a word that adds something ("con 5 de propina").
const WITH: &str = "with";

/// "20 a Dani con 5 de propina": which of the sums is to be paid is not said.
fn open_sums_with_more(tokens: &mut [Token], at: usize) {
    let adds = tokens[at].kind == Kind::Word
        && tokens[at].value == Some(WITH)
        && tokens
            .get(at + 1)
            .is_some_and(|next| matches!(next.kind, Kind::Amount(_)));
    if !adds {
        return;
    }
    let ends = |token: &&mut Token| !token.is_mark(".!?;\n");
    let (before, behind) = tokens.split_at_mut(at);
    let sentence = before
        .iter_mut()
        .rev()
        .take_while(ends)
        .chain(behind.iter_mut().take_while(ends));
    for token in sentence {
        if matches!(token.kind, Kind::Amount(_)) {
            token.kind = Kind::Amount(Amount::open(Reason::Computed));
        }
    }
}

/// "Marta: 20, Rui: 30": in a list of several the colon parts nothing.
fn join_listed(tokens: &mut [Token], at: usize) {
    let pair = |colon: usize| {
        let named = colon.checked_sub(1).is_some_and(|before| {
            matches!(
                tokens[before].kind,
                Kind::Name {
                    possessive: false,
                    ..
                }
            ) && before
                .checked_sub(1)
                .is_none_or(|first| matches!(tokens[first].kind, Kind::Mark(_)))
        });
        let ends = tokens
            .get(colon + 2)
            .is_none_or(|next| matches!(next.kind, Kind::Mark(_)));
        named
            && ends
            && tokens[colon].is_mark(":")
            && tokens
                .get(colon + 1)
                .is_some_and(|next| matches!(next.kind, Kind::Amount(_)))
    };
    if !tokens[at].is_mark(":") || !pair(at) {
        return;
    }
    let pairs: Vec<usize> = (at..tokens.len()).filter(|colon| pair(*colon)).collect();
    if pairs.len() > 1 {
        for colon in pairs {
            tokens[colon].kind = Kind::Word;
            tokens[colon].tags = Tags::FILLER;
        }
    }
}

/// "dai bonifica 20": before another verb of paying a word that also encourages does only that.
fn prefer_second_verb(tokens: &mut [Token], at: usize) {
    let pays = |token: &Token| {
        token.kind == Kind::Word && token.has(Tags::PAY) && !token.has(Tags::PAY_NOUN)
    };
    if pays(&tokens[at]) && tokens[at].has(Tags::FILLER) && tokens.get(at + 1).is_some_and(pays) {
        tokens[at].tags = Tags::FILLER;
    }
}

/// "my sister Lola", "the nanny (Lola)", "the landlord, Lola": the words before the name say who that is, and go
/// where a title goes.
fn join_apposition(tokens: &mut Vec<Token>, at: usize) {
    if !matches!(
        tokens[at].kind,
        Kind::Name {
            possessive: false,
            ..
        }
    ) || tokens[at].pasted
    {
        return;
    }
    let Some(before) = at.checked_sub(1) else {
        return;
    };
    let opened = tokens[before].is_mark("(");
    let parted = tokens[before].is_mark(",") && names_one(tokens, at);
    let closed = opened && tokens.get(at + 1).is_some_and(|mark| mark.is_mark(")"));
    if opened != closed {
        return;
    }
    let end = if opened || parted { before } else { at };
    let Some(start) = description_before(tokens, end, opened || parted) else {
        return;
    };
    for token in &mut tokens[start..end] {
        token.tags = Tags::TITLE;
    }
    if closed {
        tokens.remove(at + 1);
    }
    if opened || parted {
        tokens.remove(before);
    }
}

/// Whether the name behind a comma ends what is listed, so that it is no further payee.
fn names_one(tokens: &[Token], at: usize) -> bool {
    let Some(next) = tokens.get(at + 1) else {
        return true;
    };
    let goes_on = tokens.get(at + 2).is_some_and(|after| {
        matches!(after.kind, Kind::Name { .. }) || after.kind == Kind::Word && after.has(Tags::AND)
    });
    match next.kind {
        Kind::Mark(_) => next.is_mark(",.!?;:\n") && !goes_on,
        Kind::Word => next.has(Tags::POLITE.union(Tags::TAIL).union(Tags::FILLER)),
        _ => false,
    }
}

/// Where the words that describe somebody begin, article included: a person's word, or, where a mark parts them
/// from the name, any word behind an article.
fn description_before(tokens: &[Token], end: usize, parted: bool) -> Option<usize> {
    let describes = |token: &Token| {
        token.kind == Kind::Word
            && (token.is_unknown()
                || token.has(Tags::PERSON.union(Tags::COMMON))
                    && !token.has(Tags::NEG.union(Tags::OR).union(Tags::AND)))
    };
    let mut start = end;
    while start > 0 && end - start < DESCRIPTION_WORDS_MAX && describes(&tokens[start - 1]) {
        start -= 1;
    }
    if start == end {
        return None;
    }
    let person = tokens[start..end]
        .iter()
        .any(|token| token.has(Tags::PERSON));
    let article = start.checked_sub(1).is_some_and(|before| {
        tokens[before].kind == Kind::Word
            && tokens[before].has(Tags::DET.union(Tags::TO).union(Tags::FOR))
    });
    let fits = if parted {
        article
    } else {
        // "ma sœur Inès"; without a mark only a person's word right before the name.
        start = end - 1;
        let person = person && tokens[start].has(Tags::PERSON) && !tokens[start].capital;
        // "ma petite sœur Inès"
        let small =
            |token: &Token| token.kind == Kind::Word && token.has(Tags::COMMON) && !token.capital;
        let described = start
            - tokens[..start]
                .iter()
                .rev()
                .take_while(|token| small(token))
                .count();
        let owned = described.checked_sub(1).is_some_and(|before| {
            tokens[before].has(Tags::DET) && tokens[before].kind == Kind::Word
        });
        if owned {
            start = described;
        }
        person
    };
    fits.then_some(start)
}
