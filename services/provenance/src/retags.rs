//! What a turn of phrase makes of the tokens it stands on.

use crate::{
    sentences::VERBS,
    signs::{Sign, Signs},
    tags::Tags,
    tokens::{Kind, Token},
};

/// Gives tokens the class that a turn of phrase puts them in.
pub(crate) fn retag(tokens: &mut [Token], signs: &[Sign]) {
    let in_a_letter = signs.iter().any(|sign| sign.signs.has(Signs::LETTER));
    for sign in signs {
        let from = tokens.partition_point(|token| token.start < sign.start);
        let Some(first) = tokens.get_mut(from) else {
            continue;
        };
        if sign.signs.has(Signs::DEBT) {
            owe(&mut tokens[from..], sign.end);
            continue;
        }
        if sign.signs.has(Signs::AGE) {
            let behind = tokens.partition_point(|token| token.start < sign.end);
            if let Some(years) = tokens.get_mut(behind).filter(
                |next| matches!(&next.kind, Kind::Amount(amount) if amount.currency.is_none()),
            ) {
                years.mask();
            }
            continue;
        }
        if sign.signs.has(Signs::WISHES) {
            wish(tokens, from, sign.end);
            continue;
        }
        if sign.signs.has(Signs::APOLOGY.union(Signs::TAG)) {
            close_talk(tokens, from, sign.end);
            continue;
        }
        if sign.signs.has(Signs::REFUNDS) && first.kind == Kind::Word {
            first.tags = first.tags.union(Tags::REFUND);
        }
        if sign.signs.has(Signs::MAKES) && first.kind == Kind::Word {
            first.tags = Tags::MAKE;
        }
        if sign.signs.has(Signs::PAYS) && first.kind == Kind::Word {
            let kept = Tags::FRAME.union(Tags::IT).union(Tags::PRONOUN);
            first.tags = first.tags.only(kept).union(Tags::PAY);
        }
        if sign.signs.has(Signs::SIGN_OFF) {
            sign_off(tokens, sign.end);
        }
        let whole = if sign.signs.has(Signs::LETTER) {
            Some(Tags::FILLER)
        } else if sign.signs.has(Signs::I_ASK) && in_a_letter {
            Some(Tags::FRAME)
        } else {
            None
        };
        if let Some(tags) = whole {
            tag_words(&mut tokens[from..], sign.end, tags);
            continue;
        }
        if sign.signs.has(Signs::COURTESY) {
            // "Si pudieras mandarle 31 a Diego": a polite request with a verb of its own.
            let behind = tokens.partition_point(|token| token.start < sign.end);
            let led = tokens[from..behind]
                .iter()
                .any(|token| token.has(Tags::IF_YOU.union(Tags::FRAME)))
                && tokens
                    .get(behind)
                    .is_some_and(|next| next.kind == Kind::Word && next.has(VERBS));
            if led {
                continue;
            }
            tag_words(&mut tokens[from..], sign.end, Tags::FILLER);
            continue;
        }
        if sign.signs.has(Signs::OWES_AMOUNT)
            && tokens
                .get(from + 1)
                .is_some_and(|next| matches!(next.kind, Kind::Amount(_)))
        {
            tokens[from].tags = tokens[from].tags.union(Tags::DEBT).without(Tags::ASK_HEAD);
        }
        if sign.signs.has(Signs::THANKS) {
            for token in tokens[from..]
                .iter_mut()
                .take_while(|token| token.start < sign.end)
                .filter(|token| !matches!(token.kind, Kind::Name { .. } | Kind::Mark(_)))
            {
                token.kind = Kind::Word;
                token.tags = Tags::FILLER.union(Tags::AFFIRM);
            }
            continue;
        }
        if sign.signs.has(Signs::MEMO) {
            let behind = tokens.partition_point(|token| token.start < sign.end);
            if tokens.get(behind).is_some_and(|mark| mark.is_mark(":"))
                && let Some(first) = tokens
                    .get_mut(from)
                    .filter(|first| first.kind == Kind::Word)
            {
                first.tags = Tags::REMIND;
            }
            continue;
        }
        let reminds = |token: &&Token| token.start < sign.end && token.has(Tags::REMIND);
        if sign.signs.has(Signs::ASKS)
            && !tokens[from..].iter().take(16).any(|token| reminds(&token))
        {
            tag_words(&mut tokens[from..], sign.end, Tags::FRAME);
        }
    }
}

/// "It would be great if you …": a request, where nobody else is to act and nothing is denied.
fn wish(tokens: &mut [Token], from: usize, to: usize) {
    let behind = tokens.partition_point(|token| token.start < to);
    let veto = Tags::NEG.union(Tags::NO).union(Tags::SAY);
    let denied = tokens[from..]
        .iter()
        .take_while(|token| !token.is_mark(".!?;\n"))
        .any(|token| token.kind == Kind::Word && token.has(veto));
    let another = tokens.get(behind).is_none_or(|next| match next.kind {
        Kind::Name { .. } | Kind::Mark(_) | Kind::Quoted => true,
        Kind::Word => {
            next.has(Tags::SUBJECT.union(Tags::PERSON).union(Tags::FRAME_NEED))
                && !next.has(Tags::PRONOUN)
        }
        _ => false,
    });
    if denied || another {
        return;
    }
    for token in tokens[from..behind]
        .iter_mut()
        .filter(|token| token.kind == Kind::Word)
    {
        token.tags = Tags::FRAME;
        token.value = Some(WISH);
    }
    // "if 25 went over", "wenn du … überweisen könntest": how the wish is put tells nothing.
    let tenses = Tags::STATES.union(Tags::YOU_COULD).union(Tags::HYPOTHESIS);
    for token in tokens[behind..]
        .iter_mut()
        .take_while(|token| !token.is_mark(",.!?;:\n"))
        .filter(|token| token.kind == Kind::Word && token.has(tenses) && !token.has(VERBS))
    {
        token.tags = Tags::FILLER;
    }
}

/// What a wish gives its words.
pub(crate) const WISH: &str = "wish";

/// Takes words out of a message that close talk without values, where something was said before them.
fn close_talk(tokens: &mut [Token], from: usize, to: usize) {
    /// Fewer words before them, and they are about more than those.
    const WORDS_MIN: usize = 2;
    let behind = tokens.partition_point(|token| token.start < to);
    let is_value = |token: &Token| {
        matches!(
            token.kind,
            Kind::Amount(_) | Kind::Name { .. } | Kind::Account(_) | Kind::Quoted
        )
    };
    let words = tokens[..from]
        .iter()
        .filter(|token| token.kind == Kind::Word && !token.has(Tags::FILLER.union(Tags::AFFIRM)))
        .count();
    let against = Tags::NEG
        .union(Tags::NO)
        .union(Tags::REPAIR)
        .union(Tags::TAKE_BACK)
        .union(Tags::STOP);
    // "the second one, no" asks for assent; "the second one no" denies.
    let denies = tokens[from..behind]
        .iter()
        .any(|token| token.kind == Kind::Word && token.has(Tags::NEG.union(Tags::NO)));
    let parted = from > 0 && matches!(tokens[from - 1].kind, Kind::Mark(_));
    let closes = tokens[behind..].iter().all(|token| {
        matches!(token.kind, Kind::Mark(_)) || token.kind == Kind::Word && token.has(Tags::FILLER)
    });
    let talk = tokens[..from].iter().all(|token| {
        !(is_value(token) || token.kind == Kind::Word && token.has(against.union(VERBS)))
    });
    if words < WORDS_MIN || !closes || !talk || denies && !parted && behind - from < WORDS_MIN {
        return;
    }
    tag_words(&mut tokens[from..], to, Tags::FILLER);
}

/// Puts the words that begin before a place into one class.
fn tag_words(tokens: &mut [Token], to: usize, tags: Tags) {
    for token in tokens
        .iter_mut()
        .take_while(|token| token.start < to)
        .filter(|token| token.kind == Kind::Word)
    {
        token.tags = tags;
    }
}

/// "Ann is to receive 20 from me": the customer owes, so that "receive" and "me" in it turn nothing round.
fn owe(tokens: &mut [Token], to: usize) {
    let turned = Tags::REVERSE.union(Tags::ME).union(Tags::SAY);
    for token in tokens
        .iter_mut()
        .take_while(|token| token.start < to)
        .filter(|token| token.kind == Kind::Word)
    {
        token.tags = token.tags.without(turned);
        if token.tags.is_empty() {
            token.tags = Tags::COMMON;
        }
    }
    if let Some(first) = tokens.first_mut().filter(|first| first.kind == Kind::Word) {
        first.tags = first.tags.union(Tags::DEBT);
    }
}

/// Takes the writer's name out of a message that ends with it behind a mark.
fn sign_off(tokens: &mut [Token], from: usize) {
    let behind = tokens.partition_point(|token| token.start < from);
    let parted = tokens
        .get(behind)
        .is_some_and(|mark| mark.is_mark(",.!-\n\u{2013}\u{2014}"));
    let mut names = tokens[behind..]
        .iter_mut()
        .filter(|token| !token.is_mark(",.!-\n\u{2013}\u{2014}"));
    let (Some(name), None) = (names.next(), names.next()) else {
        return;
    };
    if parted && matches!(name.kind, Kind::Name { .. }) {
        name.kind = Kind::Masked;
    }
}
