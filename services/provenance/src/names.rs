//! The names the customer may call payees, accounts, cards and orders by.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
};

use unicode_security::confusable_detection::skeleton;

use crate::{
    Input,
    fold::{folded_name, without_accents},
    lexicon::{self, Lexicon},
    tags::Tags,
};

/// Everything one name can mean. The numbers are places in the input's lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub payees: Vec<usize>,
    pub accounts: Vec<usize>,
    pub cards: Vec<usize>,
    pub orders: Vec<usize>,
}

/// One name as it may stand in a message.
#[derive(Debug)]
pub(crate) struct Name {
    /// Folded, single spaces.
    pub text: String,
    pub meaning: Meaning,
    /// It is also an ordinary word: only a capital in a payee's place makes it a name.
    pub ordinary: bool,
    /// The whole name as saved, not a part of it.
    full: bool,
}

/// The index of all names of one input.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<Name>,
    /// The customer's.
    language: Option<&'static Lexicon>,
    /// By their first letters, several letters to a list. Asked for every word.
    by_first: Vec<Vec<usize>>,
    /// What the names look like; needed only where a stranger is named.
    skeletons: OnceCell<HashSet<String>>,
}

/// How many lists names are kept in.
const FIRST_LETTERS: usize = 64;

fn list_of(first: char) -> usize {
    first as usize % FIRST_LETTERS
}

/// Words that stand in many companies' names and so name none of them.
const LEGAL_FORMS: &[&str] = &[
    "ltd", "inc", "llc", "plc", "gmbh", "ag", "kg", "sa", "sarl", "sas", "srl", "spa", "bv", "nv",
    "co", "company", "corp", "limited", "group", "services", "service", "shop", "store", "bank",
    "the", "and", "und", "et", "de", "da", "do", "del", "la", "le", "van", "von", "der", "den",
    "di", "sp", "z", "o.o", "mr", "mrs", "ms", "dr", "account", "card",
];

enum What {
    Payee(usize),
    Account(usize),
    Card(usize),
    Order(usize),
}

/// Whether a word is no more than the name of a month or talk ("Jan", "Gem"): with a capital inside a sentence and
/// without a day beside it, it is a first name.
fn may_be_a_first_name(text: &str) -> bool {
    let weak = Tags::MONTH
        .union(Tags::FILLER)
        .union(Tags::AFFIRM)
        .union(Tags::VOCATIVE);
    let known = lexicon::known(text);
    !known.is_empty()
        && known
            .iter()
            .all(|known| known.tags.without(weak).is_empty())
}

impl Names {
    pub(crate) fn new(input: &Input, language: Option<&'static Lexicon>) -> Self {
        let mut table: HashMap<String, (Meaning, bool)> = HashMap::new();
        let spellings = |payee: &crate::Payee| -> Vec<String> {
            std::iter::once(&payee.name)
                .chain(&payee.aliases)
                .map(|name| folded_name(name))
                .collect()
        };
        for (index, payee) in input.payees.iter().enumerate() {
            for name in spellings(payee) {
                add(&mut table, &name, &What::Payee(index), true);
            }
        }
        // A whole name means its bearer, also where it is a part of somebody else's.
        let whole: Vec<String> = table.keys().cloned().collect();
        for (index, payee) in input.payees.iter().enumerate() {
            for name in spellings(payee) {
                let runs = word_runs(&name);
                for part in parts(&name)
                    .chain(runs)
                    .filter(|part| !whole.iter().any(|name| name == part))
                {
                    add(&mut table, part, &What::Payee(index), false);
                }
            }
        }
        for (index, account) in input.accounts.iter().enumerate() {
            for name in &account.names {
                add(&mut table, &folded_name(name), &What::Account(index), true);
            }
        }
        for (index, account) in input.accounts.iter().enumerate() {
            let is_kind = |kind: &str| {
                account.names.iter().any(|name| {
                    let name = folded_name(name);
                    name == kind || (kind == "current" && name == "checking")
                })
            };
            // English words for the kinds are understood in every language, as the labels may be English.
            let kinds = lexicon::all()
                .first()
                .into_iter()
                .chain(language)
                .flat_map(|language| &language.account_kinds);
            for (words, _) in kinds.filter(|(_, kind)| is_kind(kind)) {
                add(&mut table, words, &What::Account(index), true);
            }
        }
        for (index, card) in input.cards.iter().enumerate() {
            for name in &card.names {
                let name = folded_name(name);
                add(&mut table, &name, &What::Card(index), true);
                if let Some(part) = name.strip_suffix(" card") {
                    add(&mut table, part, &What::Card(index), true);
                }
            }
        }
        for (index, order) in input.orders.iter().enumerate() {
            for name in &order.names {
                add(&mut table, &folded_name(name), &What::Order(index), true);
            }
        }
        let mut names = Self {
            language,
            ..Self::default()
        };
        for (text, (meaning, full)) in &table {
            names.push(text.clone(), meaning.clone(), *full);
        }
        names.add_variants(&table, input, language);
        for list in &mut names.by_first {
            list.sort_by_key(|index| {
                let name = &names.names[*index];
                (std::cmp::Reverse(name.text.len()), !name.full)
            });
        }
        names
    }

    fn push(&mut self, text: String, meaning: Meaning, full: bool) {
        let Some(first) = text.chars().next() else {
            return;
        };
        let ordinary = !meaning.payees.is_empty() && self.is_ordinary(&text);
        // A number alone is never a name: it would hide an amount.
        let first_name = ordinary && !full && may_be_a_first_name(&text);
        if !text.contains(char::is_alphabetic) || (ordinary && !full && !first_name) {
            return;
        }
        if self.by_first.is_empty() {
            self.by_first.resize(FIRST_LETTERS, Vec::new());
        }
        self.by_first[list_of(first)].push(self.names.len());
        self.names.push(Name {
            text,
            meaning,
            ordinary,
            full,
        });
    }

    /// Whether every word of a name is also an ordinary word of the customer's language or of English; of any language
    /// where the customer's is not known.
    fn is_ordinary(&self, text: &str) -> bool {
        text.split(' ').all(|word| {
            let says_more = |known: &lexicon::Use| {
                let here = self
                    .language
                    .is_none_or(|language| std::ptr::eq(&lexicon::all()[known.language], language));
                (here || known.language == 0) && !known.tags.without(Tags::PERSON).is_empty()
            };
            lexicon::known(word).iter().any(says_more) || LEGAL_FORMS.contains(&word)
        })
    }

    /// Forms without accents and with a language's endings, where no other name is written so.
    fn add_variants(
        &mut self,
        table: &HashMap<String, (Meaning, bool)>,
        input: &Input,
        language: Option<&Lexicon>,
    ) {
        let mut variants: HashMap<String, Meaning> = HashMap::new();
        let rules = language.map_or(&[][..], |language| &language.inflections);
        let typed = if rules.is_empty() {
            HashSet::new()
        } else {
            words_of(input)
        };
        let mut note = |form: String, meaning: &Meaning| {
            if !table.contains_key(&form) {
                variants.entry(form).or_default().merge(meaning);
            }
        };
        for (text, (meaning, full)) in table {
            if meaning.payees.is_empty() || (!full && self.is_ordinary(text)) {
                continue;
            }
            let plain = without_accents(text);
            if plain != *text {
                note(plain.clone(), meaning);
            }
            for form in inflected(text, rules, &typed) {
                note(form, meaning);
            }
            if plain != *text {
                for form in inflected(&plain, rules, &typed) {
                    note(form, meaning);
                }
            }
        }
        for (form, meaning) in variants {
            self.push(form, meaning, false);
        }
    }

    pub(crate) fn get(&self, index: usize) -> &Name {
        &self.names[index]
    }

    /// The longest name that stands at a place of a folded text, and where it ends.
    pub(crate) fn at(&self, text: &str, start: usize) -> Option<(usize, usize)> {
        let rest = &text[start..];
        let candidates = self.by_first.get(list_of(rest.chars().next()?))?;
        candidates.iter().find_map(|index| {
            let length = matches(rest, &self.names[*index].text)?;
            ends_a_name(&rest[length..]).then_some((*index, start + length))
        })
    }

    /// Whether a word looks like a saved name although it is another string.
    ///
    /// `typed` is the word with its capitals: a capital I or a digit looks like a small l only as it was typed.
    pub(crate) fn looks_like_one(&self, word: &str, typed: &str) -> bool {
        let skeletons = self.skeletons.get_or_init(|| {
            self.names
                .iter()
                .map(|name| skeleton(&name.text).collect())
                .collect()
        });
        let of_word: String = skeleton(word).collect();
        let of_typed: String = skeleton(typed).collect();
        let alike = [&of_word, &of_typed, &of_typed.to_lowercase()]
            .into_iter()
            .any(|form| skeletons.contains(form));
        alike && !self.names.iter().any(|name| name.text == word)
    }
}

impl Meaning {
    fn merge(&mut self, other: &Self) {
        let join = |into: &mut Vec<usize>, from: &[usize]| {
            into.extend(from);
            into.sort_unstable();
            into.dedup();
        };
        join(&mut self.payees, &other.payees);
        join(&mut self.accounts, &other.accounts);
        join(&mut self.cards, &other.cards);
        join(&mut self.orders, &other.orders);
    }
}

/// Every word of a conversation in lower case.
fn words_of(input: &Input) -> HashSet<String> {
    input
        .messages
        .iter()
        .flat_map(|message| message.text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The forms a name takes when its words take the endings of a language: those of words that were typed.
fn inflected(name: &str, rules: &[(Box<str>, Box<str>)], typed: &HashSet<String>) -> Vec<String> {
    /// Several words of a name may stand in several forms.
    const FORMS_MAX: usize = 64;
    let words: Vec<&str> = name.split(' ').collect();
    let mut forms = vec![String::new()];
    for word in words {
        let endings = rules.iter().filter_map(|(from, to)| {
            let stem = word.strip_suffix(&**from)?;
            let form = format!("{stem}{to}");
            (stem.chars().count() >= 2 && typed.contains(&form)).then_some(form)
        });
        let spellings: Vec<String> = std::iter::once(word.to_owned()).chain(endings).collect();
        forms = forms
            .iter()
            .flat_map(|form| {
                spellings.iter().map(move |spelling| {
                    let blank = if form.is_empty() { "" } else { " " };
                    format!("{form}{blank}{spelling}")
                })
            })
            .take(FORMS_MAX)
            .collect();
    }
    forms.retain(|form| form != name);
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn add(table: &mut HashMap<String, (Meaning, bool)>, text: &str, what: &What, full: bool) {
    let entry = table.entry(text.to_owned()).or_default();
    let (list, index) = match what {
        What::Payee(index) => (&mut entry.0.payees, *index),
        What::Account(index) => (&mut entry.0.accounts, *index),
        What::Card(index) => (&mut entry.0.cards, *index),
        What::Order(index) => (&mut entry.0.orders, *index),
    };
    if !list.contains(&index) {
        list.push(index);
    }
    entry.1 |= full;
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    let first = name.split(' ').next();
    name.split(' ').filter(move |part| {
        // "Jo", "Al": a first name may be that short.
        let letters_min = if Some(*part) == first { 2 } else { 3 };
        *part != name
            && part.chars().count() >= letters_min
            && part
                .chars()
                .all(|character| character.is_alphabetic() || character == '\'' || character == '-')
            && !LEGAL_FORMS.contains(part)
    })
}

/// Several words of a longer name that stand side by side ("Zé Pedro" of "Zé Pedro Matos").
fn word_runs(name: &str) -> impl Iterator<Item = &str> {
    /// A name of more words is called by one of them or as a whole.
    const WORDS_MAX: usize = 6;
    let ends: Vec<usize> = name
        .match_indices(' ')
        .map(|(at, _)| at)
        .chain([name.len()])
        .collect();
    let count = ends.len();
    let starts: Vec<usize> = std::iter::once(0)
        .chain(ends.iter().take(count - 1).map(|end| end + 1))
        .collect();
    let runs = (0..count).flat_map(move |first| (first + 1..count).map(move |last| (first, last)));
    runs.filter(move |run| count <= WORDS_MAX && *run != (0, count - 1))
        .map(move |(first, last)| &name[starts[first]..ends[last]])
        .filter(|run| {
            let edges = [run.split(' ').next(), run.split(' ').next_back()];
            !edges
                .into_iter()
                .flatten()
                .any(|word| LEGAL_FORMS.contains(&word))
        })
}

/// The length of a name at the beginning of a text; a space of the name stands for any blank.
fn matches(text: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    for character in name.chars() {
        if character == ' ' {
            let blanks: usize = text[at..]
                .chars()
                .take_while(|c| *c == ' ' || *c == '\u{a0}')
                .map(char::len_utf8)
                .sum();
            if blanks == 0 {
                return None;
            }
            at += blanks;
        } else {
            if !text[at..].starts_with(character) {
                return None;
            }
            at += character.len_utf8();
        }
    }
    Some(at)
}

fn ends_a_name(rest: &str) -> bool {
    let mut next = rest.chars();
    match next.next() {
        None => true,
        Some('\'') => {
            !next.next().is_some_and(char::is_alphanumeric)
                || rest.starts_with("'s") && !rest[2..].starts_with(char::is_alphanumeric)
        }
        Some('.' | '@' | '-' | '_' | '/' | '&') => !next.next().is_some_and(char::is_alphanumeric),
        Some(other) => !other.is_alphanumeric() && crate::fold::is_base(other),
    }
}
