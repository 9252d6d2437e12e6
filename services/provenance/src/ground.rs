//! From a conversation to what is live in it.

use crate::{
    Grounding, Input, Message, MessageSpan, Reason, Span, Target,
    context::Context,
    dialogue::Dialogue,
    fold::Folded,
    lexemes, lexicon,
    life::{consume, finish},
    masks::DateStyle,
    moves::{Move, Said, Strength},
    names::Names,
    numerals::Words,
    quotes, reading, replaced, retags, sentences,
    signs::Signs,
    tags::Tags,
    tokens::{self, Kind, Reading, Token},
    told::Told,
    unsettled,
};

/// Longest message that is read; anything longer grounds nothing. The chat takes far less.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// Pictures that say no.
const REFUSING_PICTURES: &str =
    "\u{1f6d1}\u{1f44e}\u{270b}\u{274c}\u{1f6ab}\u{26d4}\u{2716}\u{1f645}\u{1f590}";

/// A picture that takes back the words before it.
const EYE_ROLLING: &str = "\u{1f644}";

/// The tokens of one message, whatever they do; none where no language is known.
pub(crate) fn tokens_of(input: &Input, names: &Names, message: &Message) -> Vec<Token> {
    let folded = Folded::new(&message.text);
    let quoted = quotes::find(&folded.text);
    let lexemes = lexemes::read(&folded, &quoted, names, date_style(&input.locale.0));
    let locale = lexicon::of_locale(&input.locale.0);
    let Some(words) = Words::of(&folded.text, &lexemes, locale) else {
        return Vec::new();
    };
    let reading = Reading {
        separators: lexicon::separators(&input.locale.0),
        account_currency: input.account_currency,
    };
    tokens::read(&folded, words, reading, &message.pasted)
}

/// Decides what the customer's words ground at this moment.
///
/// Deterministic, and linear in the length of the conversation.
pub fn ground(input: &Input) -> Grounding {
    let language = lexicon::of_locale(&input.locale.0);
    let names = Names::new(input, language.map(|index| &lexicon::all()[index]));
    let mut dialogue = Dialogue::new(input.account_currency);
    let mut earlier = Earlier::default();
    for message in &input.messages {
        consume(&mut dialogue, input, Some(message.sequence));
        let said = read_message(input, &names, language, message, &mut earlier);
        dialogue.message(said);
    }
    consume(&mut dialogue, input, None);
    finish(input, dialogue)
}

/// What each message says, message by message.
pub(crate) fn moves_of(input: &Input) -> Vec<Vec<Said>> {
    let language = lexicon::of_locale(&input.locale.0);
    let names = Names::new(input, language.map(|index| &lexicon::all()[index]));
    let mut earlier = Earlier::default();
    input
        .messages
        .iter()
        .map(|message| read_message(input, &names, language, message, &mut earlier))
        .collect()
}

fn read_message(
    input: &Input,
    names: &Names,
    language: Option<usize>,
    message: &Message,
    earlier: &mut Earlier,
) -> Vec<Said> {
    let whole = MessageSpan {
        sequence: message.sequence,
        span: Span {
            start: 0,
            end: message.text.len(),
        },
    };
    if message.text.len() > MESSAGE_BYTES_MAX {
        return unread(Reason::NoRequest, whole);
    }
    let folded = Folded::new(&message.text);
    let quoted = quotes::find(&folded.text);
    let style = date_style(&input.locale.0);
    let lexemes = lexemes::read(&folded, &quoted, names, style);
    let Some(words) = Words::of(&folded.text, &lexemes, language) else {
        let has_text = lexemes
            .iter()
            .any(|lexeme| matches!(lexeme.shape, lexemes::Shape::Word | lexemes::Shape::Garbage));
        return if has_text {
            unread(Reason::UnknownLanguage, whole)
        } else {
            Vec::new()
        };
    };
    let reading = Reading {
        separators: lexicon::separators(&input.locale.0),
        account_currency: input.account_currency,
    };
    let lexicon = words.lexicon;
    let signs = lexicon.signs.find(&folded.text, &lexemes);
    let mut tokens = tokens::read(&folded, words, reading, &message.pasted);
    retags::retag(&mut tokens, &signs);
    if tokens.is_empty() {
        return Vec::new();
    }
    let context = Context {
        input,
        names,
        lexicon,
        folded: &folded,
        typed: &message.text,
        sequence: message.sequence,
        sent_at_unix_seconds: message.sent_at_unix_seconds,
        tokens: &tokens,
        signs: &signs,
        earlier: &earlier.payees.clone(),
        told_before: &earlier.told.clone(),
    };
    let (said, told) = complete(&context, read_sentences(&context, whole));
    remember(&context, &mut earlier.payees);
    // Talk between leaves what was told as it was; what takes back or doubts leaves nothing to go ahead with.
    let fresh = told.has_values();
    let against = said.iter().any(|said| match &said.act {
        Move::TakeBack { .. } | Move::Forbid { .. } | Move::Reopen { .. } => true,
        Move::Doubt { strength, .. } => *strength == Strength::Certain || !fresh,
        _ => false,
    });
    if against {
        earlier.told = Told::default();
    } else if fresh {
        earlier.told = told;
    }
    said
}

/// What earlier messages leave for the next one.
#[derive(Debug, Default)]
struct Earlier {
    /// Whom a pronoun can mean.
    payees: Vec<Target>,
    /// What the message before told.
    told: Told,
}

/// Completes the orders of a message by what was told before them.
fn complete(context: &Context, mut said: Vec<Said>) -> (Vec<Said>, Told) {
    let told = Told::of(context, &sentences::split(context.tokens));
    for said in &mut said {
        told.complete(context, context.told_before, said);
        if let Move::Amend { otherwise, .. } = &mut said.act {
            for said in otherwise {
                told.complete(context, context.told_before, said);
            }
        }
    }
    unsettled::open_told(context, &mut said);
    (said, told)
}

/// What cannot be read grounds nothing, and may speak against what was asked before.
fn unread(reason: Reason, at: MessageSpan) -> Vec<Said> {
    let doubt = Move::Doubt {
        payees: Vec::new(),
        strength: Strength::Likely,
    };
    [Move::Refuse(reason), doubt]
        .into_iter()
        .map(|act| Said { act, at })
        .collect()
}

fn read_sentences(context: &Context, whole: MessageSpan) -> Vec<Said> {
    let tokens = context.tokens;
    if tokens
        .iter()
        .any(|token| token.has(Tags::SUSPECT) && token.kind == Kind::Word)
    {
        return unread(Reason::Quoted, whole);
    }
    let signs = context.signs(tokens);
    let asks = tokens
        .iter()
        .any(|token| token.has(Tags::FRAME) && token.kind == Kind::Word);
    if signs.has(Signs::LETTER) && !signs.has(Signs::I_ASK) && !asks {
        return unread(Reason::Quoted, whole);
    }
    let rolls_eyes = {
        let last = tokens
            .iter()
            .rposition(|token| !token.is_mark(".!\u{2026}\n"));
        last.is_some_and(|last| tokens[last].is_mark(EYE_ROLLING))
            && tokens
                .iter()
                .any(|token| matches!(token.kind, Kind::Amount(_)))
    };
    if signs.has(Signs::MOCK) || rolls_eyes {
        let doubt = Move::Doubt {
            payees: Vec::new(),
            strength: Strength::Certain,
        };
        return [Move::Refuse(Reason::NoRequest), doubt]
            .into_iter()
            .map(|act| Said { act, at: whole })
            .collect();
    }
    if tokens.iter().any(|token| token.is_mark(REFUSING_PICTURES)) {
        let mut unread = unread(Reason::NoRequest, whole);
        if let Some(Said {
            act: Move::Doubt { strength, .. },
            ..
        }) = unread.last_mut()
        {
            *strength = Strength::Certain;
        }
        return unread;
    }
    let mut sentences = sentences::split(tokens);
    // "Yours faithfully, M. Price": who signs is nobody to pay.
    if let Some(signed) = signature(context) {
        sentences.retain(|sentence| sentence.tokens.start < signed);
        if let Some(last) = sentences.last_mut() {
            last.tokens.end = last.tokens.end.min(signed);
        }
    }
    let works_on_text = |token: &Token| token.has(Tags::TEXT_WORK) && token.kind == Kind::Word;
    let mut said = Vec::new();
    for sentence in &sentences {
        let part = &tokens[sentence.tokens.clone()];
        let at = context.span(&part[0], &part[part.len() - 1]);
        let (start, end) = (part[0].start, part[part.len() - 1].end);
        let previous_end = sentence
            .tokens
            .start
            .checked_sub(1)
            .map_or(0, |before| tokens[before].end);
        let next_start = tokens
            .get(sentence.tokens.end)
            .map_or(context.folded.text.len(), |next| next.end);
        let hidden = context.folded.hidden.iter().any(|hidden| {
            (start..end).contains(hidden)
                || (previous_end..start).contains(hidden)
                || (end..next_start).contains(hidden)
        });
        if is_denied_in_another_language(context, part) {
            let mut unread = unread(Reason::UnknownLanguage, at);
            let asks = part
                .iter()
                .any(|token| token.kind == Kind::Word && token.has(Tags::PAY));
            if let (
                Some(Said {
                    act: Move::Doubt { strength, .. },
                    ..
                }),
                false,
            ) = (unread.last_mut(), asks)
            {
                *strength = Strength::Certain;
            }
            said.extend(unread);
            continue;
        }
        if hidden {
            said.extend(unread(Reason::HiddenCharacter, at));
            continue;
        }
        if part.iter().any(works_on_text) {
            // The text to work on may stand before or behind.
            let about_text = part.iter().any(|token| {
                token.has(Tags::IT) || token.is_mark(":") || token.kind == Kind::Quoted
            });
            if about_text || sentences.len() > 1 {
                return vec![Said {
                    act: Move::Refuse(Reason::Quoted),
                    at: whole,
                }];
            }
        }
        let announces = part
            .iter()
            .any(|token| token.has(Tags::ANNOUNCE) && token.kind == Kind::Word)
            || (part
                .iter()
                .any(|token| token.has(Tags::SAY) && token.kind == Kind::Word)
                && part.last().is_some_and(|last| last.is_mark(":")));
        let mut read = reading::read(context, sentence);
        unsettled::open(context, sentence, &mut read);
        replaced::end(context, sentence, &mut read);
        said.extend(read);
        if announces {
            // Everything behind it is somebody else's.
            let rest = MessageSpan {
                sequence: context.sequence,
                span: Span {
                    start: at.span.start,
                    end: whole.span.end,
                },
            };
            said.push(Said {
                act: Move::Refuse(Reason::Quoted),
                at: rest,
            });
            break;
        }
    }
    unsettled::open_choice(context, &mut said);
    said
}

/// Where a letter's closing words begin, when little follows them.
fn signature(context: &Context) -> Option<usize> {
    /// A name, its initials and marks.
    const TOKENS_MAX: usize = 8;
    let closing = context
        .signs
        .iter()
        .rev()
        .find(|sign| sign.signs.has(Signs::LETTER))?;
    let tokens = context.tokens;
    let at = tokens.partition_point(|token| token.start < closing.start);
    let behind = tokens.partition_point(|token| token.start < closing.end);
    (at > 0 && tokens.len() - behind <= TOKENS_MAX).then_some(at)
}

/// Whether a word that is none of this language denies, stops or conditions in another ("send 20 to Bob, nicht"): at the
/// edge of what stands between two marks, or beside a word of that language. Else it only looks like one ("pare-chocs",
/// "un plat indien").
fn is_denied_in_another_language(context: &Context, sentence: &[Token]) -> bool {
    let doubts = Tags::NEG
        .union(Tags::NO)
        .union(Tags::CONDITION)
        .union(Tags::STOP)
        .union(Tags::TAKE_BACK)
        .union(Tags::HYPOTHESIS)
        .union(Tags::REMIND);
    let word = |token: &Token| &context.folded.text[token.start..token.end];
    let foreign = |at: Option<usize>, language: usize| {
        at.and_then(|at| sentence.get(at)).is_some_and(|token| {
            token.is_unknown()
                && lexicon::known(word(token))
                    .iter()
                    .any(|known| known.language == language && !known.tags.is_empty())
        })
    };
    let edge = |at: Option<usize>| match at.map(|at| sentence.get(at)) {
        None | Some(None) => true,
        Some(Some(token)) => matches!(token.kind, Kind::Mark(_)) && !token.is_mark("-/"),
    };
    (0..sentence.len())
        .filter(|at| sentence[*at].is_unknown())
        .any(|at| {
            let (before, behind) = (at.checked_sub(1), Some(at + 1));
            lexicon::known(word(&sentence[at])).iter().any(|known| {
                known.tags.has(doubts)
                    && (edge(before)
                        || edge(behind)
                        || foreign(before, known.language)
                        || foreign(behind, known.language))
            })
        })
}

/// How dates are written in a locale.
fn date_style(locale: &str) -> DateStyle {
    let lower = locale.to_ascii_lowercase();
    let english = lower == "en" || lower.starts_with("en-");
    let day_first = match lower.as_str() {
        "en" => None,
        "en-us" => Some(false),
        _ => lexicon::of_locale(locale).map(|_| true),
    };
    DateStyle {
        day_first,
        dotted: !english,
    }
}

/// Keeps the payees a pronoun in the next message can mean: those of the newest message that names one.
fn remember(context: &Context, earlier: &mut Vec<Target>) {
    let mut named: Vec<Target> = Vec::new();
    for token in context.tokens.iter().filter(|token| !token.pasted) {
        if let Some(meaning) = context.meaning(token)
            && let crate::moves::Who::Target(target @ Target::Payee(_)) = context.who(meaning)
            && !named.contains(&target)
        {
            named.push(target);
        }
    }
    if !named.is_empty() {
        *earlier = named;
    }
}
