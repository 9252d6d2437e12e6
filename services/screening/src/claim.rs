//! Does a reply say that something was prepared or done? A hint for showing the record beside it, and nothing more.
//!
//! The assistant can do nothing by itself, so such a sentence is true only where the record says so too. The page then
//! shows what the record says, which is true whatever this reader thought; a miss or a false alarm changes no request
//! and no money. Every sentence is read in all eight languages at once: a reply may lie in another than the customer's.

mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use words::{PHRASES, Senses, senses};

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// A payment.
    Transfer,
    /// Blocking a card.
    Freeze,
    /// Taking a card's block away.
    Unfreeze,
    /// Taking back what waits.
    Cancel,
    /// A dispute.
    Dispute,
    /// Money sent back, or got back.
    Refund,
    /// A standing order, or a payment on a later day.
    Order,
    /// A limit.
    Limit,
    /// Somebody to pay.
    Payee,
    /// The customer's own particulars.
    Profile,
    /// Something that the sentence does not name.
    Any,
}

/// How far the act has come, in the reply's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It waits for the customer.
    Prepared,
    /// It may only be described as it stands: "your card is frozen".
    Stands,
    /// It was done.
    Done,
}

/// Something that a reply says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// How far it has come.
    pub stage: Stage,
    /// What it is about; any act where [`Act::Any`] is among them.
    pub acts: BTreeSet<Act>,
    /// Whether the assistant says that it did it itself.
    pub by_itself: bool,
}

/// Everything that the reply claims, in its order.
pub fn claims(reply: &str) -> Vec<Claim> {
    let mut found = Vec::new();
    for line in reply.split(['\n', ';']) {
        for (sentence, asked) in sentences(line) {
            read_sentence(&sentence, asked, &mut found);
        }
    }
    found
}

/// The sentences of a line, each with whether a question mark ends it. An amount's point and a time's colon end none.
fn sentences(line: &str) -> Vec<(String, bool)> {
    let lower = line.to_lowercase().replace('’', "'");
    let mut sentences = Vec::new();
    for part in lower.split_inclusive(['!', '?']) {
        let asked = part.ends_with('?');
        let pieces: Vec<&str> = part.split(". ").flat_map(|part| part.split(": ")).collect();
        let last = pieces.len().saturating_sub(1);
        for (place, piece) in pieces.into_iter().enumerate() {
            sentences.push((piece.to_owned(), asked && place == last));
        }
    }
    sentences
}

/// Words that begin a clause of their own.
const BREAKS: [&str; 12] = [
    ", ",
    " – ",
    " — ",
    " but ",
    " aber ",
    " sondern ",
    " mais ",
    " pero ",
    " maar ",
    " ale ",
    " mas ",
    " (",
];

/// One word of a clause.
struct Word<'a> {
    text: &'a str,
    can: Senses,
}

fn read_sentence(sentence: &str, asked: bool, found: &mut Vec<Claim>) {
    let mut clauses = vec![sentence];
    for gap in BREAKS {
        clauses = clauses.iter().flat_map(|part| part.split(gap)).collect();
    }
    let whole: Vec<Word<'_>> = words_of(sentence);
    if asked && whole.first().is_some_and(|word| word.can.asks) {
        return;
    }
    let mut conditional = false;
    let several = clauses.len() > 1;
    for (place, clause) in clauses.into_iter().enumerate() {
        let words = words_of(clause);
        let clause = Clause {
            text: clause,
            first: place == 0,
            alone: place == 0 && (!several || words.len() == 1),
            asked,
            conditional,
            words: &words,
            whole: &whole,
        };
        found.extend(clause.claim());
        conditional |= words.iter().any(|word| word.can.condition);
    }
}

fn words_of(text: &str) -> Vec<Word<'_>> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(|text| Word {
            text,
            can: senses(text),
        })
        .collect()
}

/// A part of a sentence that claims one thing at most.
struct Clause<'a> {
    text: &'a str,
    /// Whether it begins its sentence.
    first: bool,
    /// Whether one word may be all that is said.
    alone: bool,
    asked: bool,
    /// Whether a condition stands before it in its sentence.
    conditional: bool,
    words: &'a [Word<'a>],
    whole: &'a [Word<'a>],
}

impl Clause<'_> {
    fn claim(&self) -> Option<Claim> {
        if let Some((at, act)) = PHRASES
            .iter()
            .find_map(|(phrase, act)| Some((self.text.find(phrase)?, *act)))
        {
            // What comes after it turns nothing.
            let turned = self.conditional
                || words_of(&self.text[..at])
                    .iter()
                    .any(|word| word.can.denies || word.can.condition);
            return (!turned).then(|| Claim {
                stage: Stage::Done,
                acts: [act].into(),
                by_itself: false,
            });
        }
        self.done().or_else(|| self.prepared())
    }

    /// A word of an act, of which the act is one that its neighbours name.
    fn done(&self) -> Option<Claim> {
        let about = self.about();
        let (at, act, own) = self
            .words
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.is_a_noun(*at))
            .find_map(|(at, word)| match word.can {
                Senses {
                    i_did: Some(act), ..
                } => Some((at, act, true)),
                Senses {
                    finished: Some(act),
                    ..
                } => Some((at, act, false)),
                // "I pressed Confirm for you".
                Senses { pressed: true, .. }
                    if self.words[..at].iter().any(|word| word.can.of_itself) =>
                {
                    Some((at, Act::Any, true))
                }
                Senses {
                    changed: true,
                    i_changed,
                    ..
                }
                | Senses {
                    i_changed: i_changed @ true,
                    ..
                } if about.iter().any(|act| *act != Act::Any) => Some((at, Act::Any, i_changed)),
                _ => None,
            })?;
        let before = &self.words[..at];
        let by_itself = own || (0..at).any(|before| self.is_the_assistant(before));
        if self.turned(at, by_itself, true) || has_date(self.words) {
            return None;
        }
        // "The payment is done"; of a card it tells how things stand, and of rent what is usual.
        let habit = self.words.iter().any(|word| word.can.habit);
        let is_over = before.iter().any(|word| word.can.being)
            && matches!(act, Act::Transfer | Act::Any | Act::Refund)
            && self.words[at].can.finished.is_some()
            && !habit;
        let happened = is_over || before.iter().any(|word| word.can.happened);
        let one = self.words.len() == 1;
        let begins = at == 0
            && self.first
            && if one {
                self.alone && self.words[0].can.alone
            } else {
                self.words[0].can.begins
            };
        // "Transfer completed": a heading without a verb. A row of a list is none.
        let heading = self.first
            && at > 0
            && before.len() <= 3
            && before[at - 1].can.about.is_some()
            && !self.text.trim_start().starts_with(['•', '-', '*']);
        if !(by_itself || happened || begins || heading) && (at == 0 && !self.first || one) {
            return None;
        }
        let clear = by_itself || happened || begins || heading;
        if self.asked && !by_itself {
            return None;
        }
        let mut acts: BTreeSet<Act> = match act {
            Act::Freeze | Act::Unfreeze | Act::Refund | Act::Cancel => BTreeSet::new(),
            _ => about,
        };
        if act != Act::Any || acts.is_empty() {
            acts.insert(act);
        }
        if acts.len() > 1 {
            acts.remove(&Act::Any);
        }
        Some(Claim {
            stage: if clear { Stage::Done } else { Stage::Stands },
            acts,
            by_itself,
        })
    }

    fn prepared(&self) -> Option<Claim> {
        let mut about = self.about();
        let figures = self
            .words
            .iter()
            .any(|word| word.text.bytes().any(|b| b.is_ascii_digit()));
        let waits = |word: &Word<'_>| {
            word.text.starts_with("wait")
                || [
                    "wartet", "wacht", "attend", "espera", "aspetta", "aguarda", "czeka",
                ]
                .contains(&word.text)
        };
        let (at, word) = self.words.iter().enumerate().find(|(_, word)| {
            word.can.prepared
                || word.can.ready
                    && (!about.is_empty()
                        || figures
                        || waits(word) && self.words.iter().any(|word| word.can.card))
        })?;
        let itself = at > 0 && self.words[at - 1].can.ready_itself;
        if itself || self.asked || self.turned(at, true, false) {
            return None;
        }
        // "Prepared for every case" and the like say nothing of a request without one who did it or a thing.
        let own = self.words.iter().any(|word| word.can.of_itself);
        if word.can.prepared
            && !own
            && about.is_empty()
            && !figures
            && self.words.len() > 2
            && !self.first
        {
            return None;
        }
        if about.is_empty() {
            about.insert(Act::Any);
        }
        if about.len() > 1 {
            about.remove(&Act::Any);
        }
        Some(Claim {
            stage: Stage::Prepared,
            acts: about,
            by_itself: own,
        })
    }

    /// The things that the clause names, or else its sentence.
    fn about(&self) -> BTreeSet<Act> {
        let named = |words: &[Word<'_>]| words.iter().filter_map(|word| word.can.about).collect();
        let here: BTreeSet<Act> = named(self.words);
        if here.iter().any(|act| *act != Act::Any) {
            return here;
        }
        let wider: BTreeSet<Act> = named(self.whole);
        if wider.is_empty() { here } else { wider }
    }

    /// Whether the clause denies, defers or asks a condition, or is about what the customer did.
    fn turned(&self, at: usize, by_itself: bool, done: bool) -> bool {
        if done && self.conditional && !by_itself {
            return true;
        }
        self.words.iter().enumerate().any(|(position, word)| {
            self.denies(position)
                || word.can.condition
                || done && word.can.of_the_customer && !by_itself && position < at
                // "To be sent", and not "the payment to Carol is done".
                || word.text == "to"
                    && !by_itself
                    && (position + 1 == at
                        || self.words.get(position + 1).is_some_and(|next| {
                            ["be", "have", "get"].contains(&next.text)
                        }))
        })
    }

    /// Whether a word that could report an act is the thing itself: "el pago ha sido cancelado".
    fn is_a_noun(&self, at: usize) -> bool {
        self.words[at].can.about.is_some()
            && self.words[at + 1..]
                .iter()
                .any(|word| word.can.finished.is_some() || word.can.changed)
    }

    /// Whether the assistant speaks of itself: "i" is also an Italian article ("i soldi sono inviati").
    fn is_the_assistant(&self, at: usize) -> bool {
        let article = self.words[at].text == "i"
            && self.words.get(at + 2).is_some_and(|verb| {
                ["sono", "vengono", "verranno", "saranno", "restano"].contains(&verb.text)
            });
        self.words[at].can.of_itself && !article
    }

    /// Whether a word denies here: the Dutch have a card that is the French "not".
    fn denies(&self, at: usize) -> bool {
        let card = self.words[at].text == "pas"
            && at > 0
            && ["uw", "je", "jouw", "de", "mijn", "een", "deze", "die"]
                .contains(&self.words[at - 1].text);
        self.words[at].can.denies && !card
    }
}

/// Whether a sentence names a day, as lists of past payments do: `2026-11-30`, cut at its dashes.
fn has_date(words: &[Word<'_>]) -> bool {
    let number = |word: &Word<'_>, length: usize| {
        word.text.len() == length && word.text.bytes().all(|b| b.is_ascii_digit())
    };
    words
        .windows(3)
        .any(|part| number(&part[0], 4) && number(&part[1], 2) && number(&part[2], 2))
}
