//! Numbers that count, name or date something, as the words around them tell: codes, bills, lists, company.

use crate::{
    fold::Folded,
    sentences::VERBS,
    tags::Tags,
    tokens::{Amount, Kind, Token},
};

/// More known words in capitals than these, and the message is written in capitals.
const SHOUTED_WORDS_MAX: usize = 2;

/// "16 ao Tiago p/ o almoço": a preposition cut short by a stroke.
pub(crate) fn cut_preposition(tokens: &mut Vec<Token>, at: usize) {
    let short = tokens[at].kind == Kind::Word && tokens[at].value == Some(CUT_SHORT);
    if short
        && tokens
            .get(at + 1)
            .is_some_and(|mark| mark.glued && mark.is_mark("/"))
    {
        tokens.remove(at + 1);
    } else if short {
        tokens[at].tags = Tags::NONE;
    }
}

/// What a language file gives a letter that is a preposition before a stroke.
const CUT_SHORT: &str = "cut";

/// "FT 2024/318", "4482 KLM": digits beside capitals that are no word are a code, where not everything is in capitals.
pub(crate) fn mask_code(tokens: &mut [Token], folded: &Folded, at: usize) {
    let is_plain = |token: &Token| {
        matches!(
            token.kind,
            Kind::Amount(Amount { currency: None, .. }) | Kind::Masked
        ) && folded.text[token.start..token.end].starts_with(|c: char| c.is_ascii_digit())
    };
    let is_sigla = |token: &Token| {
        token.is_unknown()
            && (2..=5).contains(&(token.end - token.start))
            && (token.start..token.end).all(|byte| folded.capital(byte))
    };
    if !is_sigla(&tokens[at]) {
        return;
    }
    let mut digits = None;
    let hyphened = tokens
        .get(at + 1)
        .is_some_and(|mark| mark.glued && mark.is_mark("-/"))
        && tokens
            .get(at + 2)
            .is_some_and(|next| next.glued && is_plain(next));
    if tokens.get(at + 1).is_some_and(is_plain) {
        digits = Some(at + 1);
    } else if hyphened {
        digits = Some(at + 2);
    } else if at > 0 && is_plain(&tokens[at - 1]) {
        digits = Some(at - 1);
    }
    let Some(first) = digits else { return };
    // Words in capitals that are known: somebody writes everything so.
    let shouted = tokens.iter().filter(|token| {
        token.kind == Kind::Word
            && !token.tags.is_empty()
            && token.end - token.start > 1
            && (token.start..token.end).all(|byte| folded.capital(byte))
    });
    if shouted.take(SHOUTED_WORDS_MAX + 1).count() > SHOUTED_WORDS_MAX {
        return;
    }
    let mut code = first;
    loop {
        tokens[code].mask();
        // "2024/318"
        let joined = tokens
            .get(code + 1)
            .is_some_and(|mark| mark.glued && mark.is_mark("/-."))
            && tokens
                .get(code + 2)
                .is_some_and(|next| next.glued && is_plain(next));
        if !joined {
            break;
        }
        code += 2;
    }
    tokens[at].kind = Kind::Masked;
}

/// "eravamo in 4", "in 10 come sempre": how many there were, where nothing is paid.
pub(crate) fn count_company(tokens: &mut [Token], at: usize) {
    /// More than these go to no dinner.
    const COMPANY_MAX: u128 = 60;
    let is_word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    let few = tokens.get(at + 1).is_some_and(|next| {
        matches!(&next.kind, Kind::Amount(amount) if amount.currency.is_none()
            && amount.value.is_some_and(|value| value.scale == 0 && value.mantissa <= COMPANY_MAX))
    });
    if !few || !is_word(&tokens[at], Tags::INTO) || tokens[at].has(Tags::TO.union(Tags::ON)) {
        return;
    }
    let ends = |token: &&Token| !token.is_mark(".,!?;:\n");
    let speaks_of_paying = |token: &Token| {
        is_word(
            token,
            VERBS
                .union(Tags::FIX)
                .union(Tags::REPAIR)
                .union(Tags::FRAME)
                .union(Tags::CURRENCY)
                .union(Tags::NEG)
                .union(Tags::NO),
        ) || matches!(token.kind, Kind::Name { .. })
    };
    let pays = tokens[..at]
        .iter()
        .rev()
        .take_while(ends)
        .any(speaks_of_paying)
        || tokens[at + 2..]
            .iter()
            .take_while(ends)
            .any(speaks_of_paying);
    if !pays {
        tokens[at + 1].mask();
    }
}

/// "1. Alice 30" on a line of its own: the number and its mark say which line it is.
pub(crate) fn mark_list(tokens: &mut Vec<Token>) {
    /// Longer lists are no list of payments.
    const LINES_MAX: u128 = 20;
    let mut at = 0;
    while at + 2 < tokens.len() {
        let begins = at == 0 || tokens[at - 1].is_mark("\n");
        let number = matches!(&tokens[at].kind, Kind::Amount(amount) if amount.currency.is_none()
            && amount.value.is_some_and(|value| value.scale == 0 && value.mantissa <= LINES_MAX));
        let marked = tokens[at + 1].glued && tokens[at + 1].is_mark(".)");
        let goes_on = !matches!(tokens[at + 2].kind, Kind::Mark(_));
        if begins && number && marked && goes_on {
            tokens[at].kind = Kind::Mark(BULLET);
            tokens[at].tags = Tags::NONE;
            tokens.remove(at + 1);
        }
        at += 1;
    }
}

/// Heads a line of a list.
const BULLET: char = '\u{2022}';

/// What a language file gives a word that ends a time ("till the 14th").
const UNTIL: &str = "until";

/// "…, she's on holiday till the 14th": behind a mark and somebody spoken of, a day ends what is told and conditions
/// nothing.
pub(crate) fn end_of_a_time(tokens: &mut [Token], at: usize) {
    let is_word = |token: &Token, tags: Tags| token.kind == Kind::Word && token.has(tags);
    if tokens[at].kind != Kind::Word
        || tokens[at].value != Some(UNTIL)
        || !tokens[at].has(Tags::CONDITION)
    {
        return;
    }
    let day = tokens[at + 1..]
        .iter()
        .find(|next| !is_word(next, Tags::DET.union(Tags::ON)))
        .is_some_and(|next| {
            matches!(next.kind, Kind::Masked | Kind::Date(_))
                || is_word(next, Tags::WEEKDAY.union(Tags::MONTH).union(Tags::DAY_WORD))
        });
    let told = tokens[..at]
        .iter()
        .rposition(|token| token.is_mark(",.!?;:\n"))
        .is_some_and(|mark| {
            let clause = &tokens[mark + 1..at];
            let somebody = clause
                .first()
                .is_some_and(|first| is_word(first, Tags::SUBJECT.union(Tags::PRONOUN)));
            somebody
                && !clause
                    .iter()
                    .any(|token| is_word(token, VERBS.union(Tags::STOP).union(Tags::NEG)))
        });
    if day && told {
        tokens[at].tags = Tags::ON;
    }
}

/// "invoice 88012 from the vet": with its number a bill is a thing that lies there, and demands nothing of anybody.
pub(crate) fn number_document(tokens: &mut [Token], at: usize) {
    let numbered = tokens[at + 1..]
        .iter()
        .take(3)
        .take_while(|next| {
            matches!(next.kind, Kind::Masked | Kind::Mark('.' | '#' | ':'))
                || next.kind == Kind::Word && next.has(Tags::LABEL)
        })
        .any(|next| next.kind == Kind::Masked);
    let labels = Tags::LABEL.union(Tags::REVERSE_NOUN);
    let token = &mut tokens[at];
    if token.kind == Kind::Word
        && token.has(Tags::REVERSE.union(Tags::REVERSE_NOUN))
        && token.has(labels)
        && numbered
    {
        token.tags = token
            .tags
            .without(Tags::REVERSE.union(Tags::REVERSE_NOUN))
            .union(Tags::LABEL);
    }
}

/// "80 euros … for the 6 jars": behind a sum in a currency a bare number before a thing says how many there are.
pub(crate) fn mask_count(tokens: &mut [Token], at: usize) {
    let is_word = |at: Option<usize>, tags: Tags| {
        at.and_then(|at| tokens.get(at))
            .is_some_and(|token| token.kind == Kind::Word && token.has(tags))
    };
    let counts = matches!(&tokens[at].kind, Kind::Amount(amount) if amount.currency.is_none())
        && is_word(at.checked_sub(1), Tags::DET)
        && is_word(at.checked_sub(2), Tags::FOR)
        && tokens
            .get(at + 1)
            .is_some_and(|next| next.is_unknown() && !next.glued);
    let summed = || {
        tokens[..at]
            .iter()
            .rev()
            .take_while(|token| !token.is_mark(".;:\n!?"))
            .any(|token| matches!(&token.kind, Kind::Amount(amount) if amount.currency.is_some()))
    };
    if counts && summed() {
        tokens[at].mask();
    }
}

/// "need 2 send 20 2 Bob": digits that are typed for what they sound like, before a verb or a name.
pub(crate) fn sound_out(tokens: &mut [Token], text: &str) {
    let sums = tokens
        .iter()
        .filter(|token| matches!(token.kind, Kind::Amount(_)))
        .count();
    for at in 0..tokens.len() {
        let sound = match &text[tokens[at].start..tokens[at].end] {
            "2" => Tags::TO,
            "4" => Tags::FOR,
            _ => continue,
        };
        if !matches!(&tokens[at].kind, Kind::Amount(amount) if amount.currency.is_none()) {
            continue;
        }
        let next = tokens.get(at + 1);
        let verb = next.is_some_and(|next| {
            next.kind == Kind::Word && next.has(Tags::PAY) && sound.has(Tags::TO)
        });
        let name = sums > 1 && next.is_some_and(|next| matches!(next.kind, Kind::Name { .. }));
        if !(verb || name) {
            continue;
        }
        tokens[at].kind = Kind::Word;
        tokens[at].tags = sound;
        if verb && at > 0 && tokens[at - 1].kind == Kind::Word {
            let wants = ["need", "want", "have", "got", "like", "gotta"]
                .contains(&&text[tokens[at - 1].start..tokens[at - 1].end]);
            if wants {
                tokens[at - 1].tags = Tags::FRAME_NEED;
            }
        }
    }
}
