//! Words and phrases of eight languages by what they mean, and the tree they are found with.

use std::collections::BTreeMap;

use super::letters::{ASCII, NONE, letters_of};

macro_rules! concepts {
    ($($variant:ident $name:literal,)*) => {
        /// What a word means to somebody who steers a model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Concept {
            $($variant,)*
        }

        impl Concept {
            fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

concepts! {
    Ignore "ignore", Override "override", Stop "stop", Follow "follow", Instruction "instr", Prior "prior",
    All "all", Your "your", Read "read", Prompt "prompt", Reveal "reveal", Ai "ai", Role "role",
    Persona "persona", NowOn "nowon", Every "every", Answer "answer", Negation "neg", Tell "tell", User "user",
    This "this", Call "call", Tool "tool", Pay "pay", Account "account", Urgent "urgent", Authority "authority",
    Threat "threat", ScamAdvice "scam", Send "send", Data "data", Must "must", Before "before", NewTask "new",
    Skip "skip", Reading "reading", First "first", Praise "only", Neutral "neutral", Rotated "rotated",
    Reversed "reversed", Amount "amount", Identifier "identifier", PayTool "paytool", Address "address",
    Always "always", Frame "frame", Apply "apply", Just "just", Obey "obey", Unasked "unasked", Drain "drain",
}

impl Concept {
    pub const fn mask(self) -> u64 {
        1 << self as u64
    }
}

/// The languages, in the order of their files.
pub(super) const LANGUAGES: [(&str, &str); 8] = [
    ("en", include_str!("../../phrases/en.txt")),
    ("de", include_str!("../../phrases/de.txt")),
    ("fr", include_str!("../../phrases/fr.txt")),
    ("es", include_str!("../../phrases/es.txt")),
    ("it", include_str!("../../phrases/it.txt")),
    ("nl", include_str!("../../phrases/nl.txt")),
    ("pl", include_str!("../../phrases/pl.txt")),
    ("pt", include_str!("../../phrases/pt.txt")),
];
/// The language of what belongs to no language: numbers, identifiers, addresses.
pub(super) const ANY: u8 = LANGUAGES.len() as u8;

/// The number that a space between two words has among the letters.
pub(super) const SPACE: usize = 26;
/// The node every word begins at; a child of this number is no child.
pub(super) const ROOT: u16 = 0;

/// Words that an attacker's letters become, and the concept that says how to read them back.
const DISGUISED: &[(&str, Concept)] = &[
    ("vtaber", Concept::Rotated),
    ("qvfertneq", Concept::Rotated),
    ("vafgehpgvbaf", Concept::Rotated),
    ("cerivbhf", Concept::Rotated),
    ("flfgrz", Concept::Rotated),
    ("erongi", Concept::Reversed),
    ("dragersid", Concept::Reversed),
    ("snoitcurtsni", Concept::Reversed),
    ("suoiverp", Concept::Reversed),
];

/// Concepts of a word or phrase that ends at a node, by language.
pub(super) type Meanings = Vec<(u8, Concept)>;

/// The words, as a tree over letters and spaces.
#[derive(Debug)]
pub(super) struct Lexicon {
    next: Vec<[u16; 27]>,
    /// By node: what ends there as a whole word, and what begins like that.
    whole: Vec<u16>,
    begun: Vec<u16>,
    meanings: Vec<Meanings>,
}

impl Lexicon {
    /// Reads the files that come with the program.
    pub fn new() -> Self {
        let mut lexicon = Self {
            next: vec![[ROOT; 27]],
            whole: vec![0],
            begun: vec![0],
            meanings: vec![Meanings::new()],
        };
        let mut whole = BTreeMap::new();
        let mut begun = BTreeMap::new();
        for (language, (name, file)) in LANGUAGES.iter().enumerate() {
            for line in file
                .lines()
                .filter(|line| !line.starts_with('#') && !line.is_empty())
            {
                let (concept, phrases) = line.split_once(": ").unwrap_or_default();
                let concept = Concept::from_name(concept)
                    .unwrap_or_else(|| panic!("{name}.txt: no such concept: {concept}"));
                for phrase in phrases.split(" | ") {
                    let (phrase, open) = match phrase.strip_suffix('*') {
                        Some(phrase) => (phrase, true),
                        None => (phrase, false),
                    };
                    let node = lexicon.add(phrase);
                    let meanings: &mut Meanings = if open { &mut begun } else { &mut whole }
                        .entry(node)
                        .or_default();
                    meanings.push((language as u8, concept));
                }
            }
        }
        for (word, concept) in DISGUISED {
            let node = lexicon.add(word);
            begun.entry(node).or_default().push((ANY, *concept));
        }
        for (node, meanings) in whole {
            lexicon.whole[usize::from(node)] = lexicon.meanings.len() as u16;
            lexicon.meanings.push(meanings);
        }
        lexicon.hand_down(ROOT, 0, &begun);
        lexicon
    }

    /// Gives every open beginning what the shorter beginnings of the same word mean too.
    fn hand_down(&mut self, node: u16, above: u16, begun: &BTreeMap<u16, Meanings>) {
        let mut here = above;
        if let Some(own) = begun.get(&node) {
            let mut meanings = self.meanings[usize::from(above)].clone();
            meanings.extend(
                own.iter()
                    .copied()
                    .filter(|meaning| !self.meanings[usize::from(above)].contains(meaning)),
            );
            here = self.meanings.len() as u16;
            self.meanings.push(meanings);
            self.begun[usize::from(node)] = here;
        }
        for letter in 0..27 {
            let child = self.child(node, letter);
            if child != ROOT {
                self.hand_down(child, if letter == SPACE { 0 } else { here }, begun);
            }
        }
    }

    /// The node of a phrase, made where it was not there.
    fn add(&mut self, phrase: &str) -> u16 {
        let mut node = ROOT;
        for character in phrase.chars() {
            if character == ' ' {
                node = self.child_or_new(node, SPACE);
            } else if character.is_ascii() {
                let letter = ASCII[character as usize];
                assert_ne!(letter, NONE, "a phrase is made of letters: {phrase}");
                node = self.child_or_new(node, usize::from(letter));
            } else {
                for letter in letters_of(character).unwrap_or_default().as_slice() {
                    node = self.child_or_new(node, usize::from(*letter));
                }
            }
        }
        node
    }

    fn child_or_new(&mut self, node: u16, letter: usize) -> u16 {
        let child = self.next[usize::from(node)][letter];
        if child != ROOT {
            return child;
        }
        let new = u16::try_from(self.next.len()).expect("fewer than 65,536 nodes");
        self.next[usize::from(node)][letter] = new;
        self.next.push([ROOT; 27]);
        self.whole.push(0);
        self.begun.push(0);
        new
    }

    /// The node behind a letter or space; [`ROOT`] when there is none.
    pub fn child(&self, node: u16, letter: usize) -> u16 {
        self.next[usize::from(node)][letter]
    }

    /// What a word that ends at a node means.
    pub fn whole(&self, node: u16) -> &[(u8, Concept)] {
        &self.meanings[usize::from(self.whole[usize::from(node)])]
    }

    /// What a word that runs through a node means.
    pub fn begun(&self, node: u16) -> &[(u8, Concept)] {
        &self.meanings[usize::from(self.begun[usize::from(node)])]
    }

    /// Whether a word that runs through a node means anything.
    pub fn is_begun(&self, node: u16) -> bool {
        self.begun[usize::from(node)] != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_well_formed_and_fit_the_tree() {
        let lexicon = Lexicon::new();
        assert!(lexicon.next.len() > 5_000, "{}", lexicon.next.len());
        for (name, file) in LANGUAGES {
            for line in file.lines().filter(|line| !line.starts_with('#')) {
                for phrase in line.split_once(": ").unwrap().1.split(" | ") {
                    let bare = phrase.strip_suffix('*').unwrap_or(phrase);
                    assert!(
                        !bare.is_empty() && !bare.contains(['*', '|']),
                        "{name}: {phrase}"
                    );
                    assert!(
                        bare.chars().all(|c| c == ' ' || c.is_lowercase()),
                        "{name}: {phrase}"
                    );
                }
            }
        }
    }
}
