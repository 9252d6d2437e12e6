//! The words of each language, read once from one data file per language.
//!
//! A file has sections named after word classes; a section holds phrases separated by commas or lines, a
//! value behind `=` where the class has one. `[language]` holds the code and the rules of its number words.

use std::sync::OnceLock;

use crate::{
    fold::without_accents,
    hashing::WordMap,
    language_files::LANGUAGE_FILES,
    lexemes::elision,
    signs::{Patterns, Signs},
    tags::Tags,
    typos::Typos,
};

/// One phrase of a language: its further words, what it can do, and a value.
#[derive(Debug)]
pub(crate) struct Phrase {
    /// The words after the first.
    pub rest: Vec<Box<str>>,
    pub tags: Tags,
    pub value: Option<Box<str>>,
}

/// The decimal and grouping marks of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separators {
    pub decimal: char,
    /// The mark between groups of three.
    pub group: char,
    /// Lakh grouping (1,00,000).
    pub indian: bool,
    /// Whether a plain space between groups is usual.
    pub space_groups: bool,
}

/// What one language file says.
#[derive(Debug)]
pub(crate) struct Lexicon {
    pub code: &'static str,
    pub(crate) phrases: WordMap<Vec<Phrase>>,
    /// First words without accents, where that differs, to the words with them.
    unaccented: WordMap<Box<str>>,
    /// "and" may stand behind a hundred or thousand.
    pub and_after_hundred: bool,
    /// "and" may stand between tens and units.
    pub and_after_tens: bool,
    /// Number words are written in one ("fünfundzwanzig"), joined by this where the unit comes first.
    pub glue: Option<Box<str>>,
    /// Number words run together without a joint ("duecento").
    pub run_together: bool,
    /// An infinitive alone asks ("Bitte 20 Euro an Bob überweisen").
    pub infinitive_asks: bool,
    /// An infinitive stands behind what it takes ("etwas an Bob überweisen").
    pub verb_last: bool,
    /// How a verb that names an act ends, as far as that is sure.
    pub infinitives: Vec<&'static str>,
    /// Digits are typed for words that sound like them ("2 Bob").
    pub numbers_sound: bool,
    /// How words end that make the number behind them no amount ("Kundennr").
    pub label_endings: Vec<&'static str>,
    /// How verbs end whose subject is "we".
    pub we_endings: Vec<&'static str>,
    /// How a verb that tells of the past begins and ends ("ge*t").
    pub pasts: Vec<(&'static str, &'static str)>,
    /// A phrase that ends in "de" or "que" loses the vowel before another.
    elides: bool,
    /// Endings a name takes, as (ending of the name, ending in the sentence).
    pub inflections: Vec<(Box<str>, Box<str>)>,
    /// What people call a kind of account, and the kind as the bank names it.
    pub account_kinds: Vec<(&'static str, &'static str)>,
    formats: WordMap<Separators>,
    /// Pronouns written to the end of a verb, with a hyphen in front where one stands between.
    pub(crate) clitics: Vec<(&'static str, Tags)>,
    /// How remarks bear on a request.
    pub signs: Patterns,
    /// Plain number words for the glue parser, longest first.
    pub numerals: Vec<(Box<str>, u64)>,
    /// Its words, to find one that was mistyped.
    typos: Typos,
}

static LEXICONS: OnceLock<Vec<Lexicon>> = OnceLock::new();

/// What a word is in one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// The language's place among all.
    pub language: usize,
    /// What the word does there alone.
    pub tags: Tags,
    /// The phrases it begins, longest first.
    pub phrases: &'static [Phrase],
}

static KNOWN: OnceLock<WordMap<Vec<Use>>> = OnceLock::new();

/// Every language that has a file.
pub(crate) fn all() -> &'static [Lexicon] {
    LEXICONS.get_or_init(|| {
        LANGUAGE_FILES
            .iter()
            .map(|text| Lexicon::read(text))
            .collect()
    })
}

/// The languages in which a word begins a phrase, and what it is in each.
pub(crate) fn known(word: &str) -> &'static [Use] {
    let table = KNOWN.get_or_init(|| {
        let mut table: WordMap<Vec<Use>> = WordMap::default();
        for (language, lexicon) in all().iter().enumerate() {
            for (word, phrases) in &lexicon.phrases {
                table.entry(word.clone()).or_default().push(Use {
                    language,
                    tags: alone(phrases),
                    phrases,
                });
            }
        }
        table
    });
    table.get(word).map_or(&[], Vec::as_slice)
}

/// The language of a locale's tag: its longest known prefix (`hi-Latn`, then `hi`).
pub(crate) fn of_locale(locale: &str) -> Option<usize> {
    let lower = locale.to_ascii_lowercase().replace('_', "-");
    let mut prefix = lower.as_str();
    loop {
        if let Some(index) = all()
            .iter()
            .position(|lexicon| lexicon.code.eq_ignore_ascii_case(prefix))
        {
            return Some(index);
        }
        prefix = &prefix[..prefix.rfind('-')?];
    }
}

/// How numbers are written in a locale. `None` for a language without a file.
pub(crate) fn separators(locale: &str) -> Option<Separators> {
    let lexicon = &all()[of_locale(locale)?];
    let lower = locale.to_ascii_lowercase().replace('_', "-");
    let region = lower
        .rsplit('-')
        .next()
        .filter(|part| part.len() == 2 && *part != lexicon.code);
    region
        .and_then(|region| lexicon.formats.get(region))
        .or_else(|| lexicon.formats.get(""))
        .copied()
}

impl Lexicon {
    fn read(text: &'static str) -> Self {
        let mut lexicon = Self {
            code: "",
            phrases: WordMap::default(),
            unaccented: WordMap::default(),
            and_after_hundred: false,
            and_after_tens: false,
            glue: None,
            run_together: false,
            infinitive_asks: false,
            verb_last: false,
            infinitives: Vec::new(),
            numbers_sound: false,
            label_endings: Vec::new(),
            we_endings: Vec::new(),
            pasts: Vec::new(),
            elides: false,
            inflections: Vec::new(),
            account_kinds: Vec::new(),
            formats: WordMap::default(),
            clitics: Vec::new(),
            signs: Patterns::default(),
            numerals: Vec::new(),
            typos: Typos::default(),
        };
        let mut section = "";
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                section = name;
            } else if section == "language" {
                lexicon.read_rule(line);
            } else if section == "inflections" {
                lexicon
                    .inflections
                    .extend(line.split(',').filter_map(|rule| {
                        let (from, to) = rule.trim().split_once('>')?;
                        Some((from.into(), to.into()))
                    }));
            } else if section == "number-part" {
                lexicon.numerals.extend(line.split(',').filter_map(|part| {
                    let (word, value) = part.trim().split_once('=')?;
                    Some((word.into(), value.parse().ok()?))
                }));
            } else if section == "account-kind" {
                lexicon
                    .account_kinds
                    .extend(line.split(',').filter_map(|part| {
                        let (words, kind) = part.trim().split_once('=')?;
                        Some((words, kind))
                    }));
            } else if section == "clitics" {
                lexicon.clitics.extend(line.split(',').filter_map(|part| {
                    let (clitic, means) = part.trim().split_once('=')?;
                    let tags = means
                        .split('+')
                        .filter_map(Tags::of_section)
                        .fold(Tags::NONE, Tags::union);
                    Some((clitic, tags))
                }));
            } else if let Some(signs) = Signs::of_section(section) {
                for pattern in line
                    .split(',')
                    .map(str::trim)
                    .filter(|pattern| !pattern.is_empty())
                {
                    lexicon.signs.add(pattern, signs);
                }
            } else {
                let tags = Tags::of_section(section)
                    .unwrap_or_else(|| panic!("no word class is called {section:?}"));
                for entry in line
                    .split(',')
                    .map(str::trim)
                    .filter(|entry| !entry.is_empty())
                {
                    lexicon.add(entry, tags);
                }
            }
        }
        lexicon.attach_clitics();
        lexicon.deny_taken_back();
        for word in lexicon.phrases.keys() {
            let plain = without_accents(word);
            if *plain != **word && !lexicon.phrases.contains_key(plain.as_str()) {
                lexicon.unaccented.insert(plain.into(), word.clone());
            }
        }
        for (word, phrases) in &lexicon.phrases {
            if phrases.iter().any(|phrase| phrase.rest.is_empty()) {
                let tags = alone(phrases);
                lexicon.typos.add(word, tags);
                let plain = without_accents(word);
                if *plain != **word {
                    lexicon.typos.add(&plain, tags);
                }
            }
        }
        lexicon
            .numerals
            .sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        lexicon
    }

    fn read_rule(&mut self, line: &'static str) {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let value = value.trim();
        match key.trim() {
            "code" => self.code = value,
            "and-after-hundred" => self.and_after_hundred = true,
            "and-after-tens" => self.and_after_tens = true,
            "glue" => self.glue = Some(value.into()),
            "run-together" => self.run_together = true,
            "infinitive-asks" => self.infinitive_asks = true,
            "elides" => self.elides = true,
            "verb-last" => self.verb_last = true,
            "numbers-sound" => self.numbers_sound = true,
            "we-endings" => self.we_endings = value.split_whitespace().collect(),
            "label-endings" => self.label_endings = value.split_whitespace().collect(),
            "infinitives" => self.infinitives = value.split_whitespace().collect(),
            "pasts" => {
                self.pasts = value
                    .split_whitespace()
                    .map(|form| form.split_once('*').unwrap_or(("", form)))
                    .collect();
            }
            key => {
                let region = key
                    .strip_prefix("format")
                    .unwrap_or_else(|| panic!("no rule is called {key:?}"));
                let mut marks = value.split_whitespace();
                let mut mark = || marks.next().and_then(|mark| mark.chars().next());
                let (decimal, group) = (mark().unwrap_or('.'), mark().unwrap_or(','));
                let separators = Separators {
                    decimal,
                    group: if group == '_' { '\u{a0}' } else { group },
                    indian: value.contains("lakh"),
                    space_groups: value.contains('_'),
                };
                self.formats
                    .insert(region.trim_start_matches('-').into(), separators);
            }
        }
    }

    fn add(&mut self, entry: &'static str, tags: Tags) {
        let (phrase, value) = match entry.split_once('=') {
            Some((phrase, value)) => (phrase.trim(), Some(value.trim())),
            None => (entry, None),
        };
        let mut words = Vec::new();
        for word in phrase.split([' ', '-']).filter(|word| !word.is_empty()) {
            let cut = elision(word).filter(|cut| *cut < word.len()).unwrap_or(0);
            words.extend(
                [&word[..cut], &word[cut..]]
                    .into_iter()
                    .filter(|part| !part.is_empty()),
            );
        }
        if let Some(last) = words.last().copied()
            && self.elides
            && words.len() > 1
            && let Some(short) = [("de", "d'"), ("que", "qu'"), ("si", "s'")]
                .iter()
                .find(|(long, _)| *long == last)
        {
            let mut elided = words.clone();
            elided.pop();
            elided.push(short.1);
            self.insert(&elided, value, tags);
        }
        self.insert(&words, value, tags);
    }

    pub(crate) fn insert(&mut self, words: &[&str], value: Option<&str>, tags: Tags) {
        let mut words = words.iter().copied();
        let Some(first) = words.next() else { return };
        let rest: Vec<Box<str>> = words.map(Into::into).collect();
        if tags.has(Tags::NUMBER.union(Tags::SCALE))
            && rest.is_empty()
            && let Some(number) = value.and_then(|value| value.trim_end_matches('w').parse().ok())
        {
            self.numerals.push((first.into(), number));
        }
        let phrases = self.phrases.entry(first.into()).or_default();
        if let Some(same) = phrases.iter_mut().find(|known| known.rest == rest) {
            same.tags = same.tags.union(tags);
            if same.value.is_none() {
                same.value = value.map(Into::into);
            }
        } else {
            phrases.push(Phrase {
                rest,
                tags,
                value: value.map(Into::into),
            });
        }
    }

    /// Whether a word that no section holds looks like a verb that tells of the past.
    pub(crate) fn tells(&self, word: &str) -> bool {
        self.pasts.iter().any(|(begin, end)| {
            word.len() >= begin.len() + end.len() + 2
                && word.starts_with(begin)
                && word.ends_with(end)
        })
    }

    /// Whether a word that no section holds looks like a verb whose subject is "we".
    pub(crate) fn speaks_of_us(&self, word: &str) -> bool {
        self.we_endings
            .iter()
            .any(|end| word.len() > end.len() + 1 && word.ends_with(end))
    }

    /// Whether number words are written in one.
    pub(crate) const fn joins_numerals(&self) -> bool {
        self.glue.is_some() || self.run_together
    }

    /// The phrases that begin with a word, longest first.
    pub(crate) fn phrases(&self, first: &str) -> &[Phrase] {
        self.phrases
            .get(first)
            .map_or_else(|| self.misspelt(first), Vec::as_slice)
    }

    /// The phrases that begin with a word as it is not in the file: without its accents, with an accent for emphasis
    /// ("níet"), with letters drawn out or typed twice ("noooo", "mandda").
    pub(crate) fn misspelt(&self, first: &str) -> &[Phrase] {
        let unaccented = || {
            let word = self.unaccented.get(first)?;
            self.phrases.get(word)
        };
        let emphatic = || {
            // An accent on the last letter is a tense of its own ("laissé", "pagó").
            let plain = (!first.is_ascii() && first.ends_with(|last: char| last.is_ascii()))
                .then(|| without_accents(first))?;
            self.phrases.get(plain.as_str())
        };
        unaccented()
            .or_else(emphatic)
            .or_else(|| self.phrases.get(squeezed(first)?.as_str()))
            .or_else(|| self.undoubled(first))
            .map_or(&[], Vec::as_slice)
    }

    /// The phrases of the word that was meant by one with a slip in it.
    pub(crate) fn mistyped(&self, word: &str) -> &[Phrase] {
        self.typos
            .meant(word)
            .and_then(|meant| {
                let word = self.unaccented.get(meant).map_or(meant, |word| &**word);
                self.phrases.get(word)
            })
            .map_or(&[], Vec::as_slice)
    }

    /// A word of some length that was typed with one letter twice.
    fn undoubled(&self, word: &str) -> Option<&Vec<Phrase>> {
        const LETTERS_MIN: usize = 6;
        if word.len() < LETTERS_MIN {
            return None;
        }
        let mut before = None;
        word.char_indices().find_map(|(at, letter)| {
            let twice = before.replace(letter) == Some(letter);
            let plain =
                twice.then(|| format!("{}{}", &word[..at], &word[at + letter.len_utf8()..]))?;
            self.phrases.get(plain.as_str())
        })
    }

    /// What the word alone does.
    pub(crate) fn tags(&self, word: &str) -> Tags {
        alone(self.phrases(word))
    }
}

/// What the first word of some phrases does alone.
pub(crate) fn alone(phrases: &[Phrase]) -> Tags {
    phrases
        .iter()
        .filter(|phrase| phrase.rest.is_empty())
        .fold(Tags::NONE, |tags, phrase| tags.union(phrase.tags))
}

/// A word with its drawn-out letters written once, where it has any (three of one or more).
fn squeezed(word: &str) -> Option<String> {
    if !has_drawn_out_letter(word) {
        return None;
    }
    let mut plain = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut run = 1;
        while letters.next_if_eq(&letter).is_some() {
            run += 1;
        }
        plain.extend(std::iter::repeat_n(letter, if run == 2 { 2 } else { 1 }));
    }
    Some(plain)
}

/// Whether a letter stands three times in a row.
fn has_drawn_out_letter(word: &str) -> bool {
    let (mut before, mut run) = ('\0', 0);
    word.chars().any(|letter| {
        run = if letter == before { run + 1 } else { 1 };
        before = letter;
        run == 3
    })
}
