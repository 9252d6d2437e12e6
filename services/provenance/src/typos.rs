//! Words with one slip of the finger in them ("tranfser", "overmakne", "cancle").
//!
//! A slip is two neighbouring letters exchanged, or one letter too many, too few or wrong inside the word. The first
//! letter and the ending stay as they are: an ending is a tense or a person of its own. A word that could be two
//! words with different uses stays unknown, and no number is ever guessed.

use std::collections::HashMap;

use crate::tags::Tags;

/// A shorter word has too many neighbours.
const LETTERS_MIN: usize = 5;

/// Letters at the end in which nothing may be wrong but their order.
const ENDING: usize = 2;

/// A language's words by their first letter and their length.
#[derive(Debug, Default)]
pub(crate) struct Typos(HashMap<(char, usize), Vec<Entry>>);

/// A word and what it does.
type Entry = (Box<str>, Tags);

impl Typos {
    /// Adds a word that stands alone in a language file, with what it does there.
    pub(crate) fn add(&mut self, word: &str, tags: Tags) {
        let letters = word.chars().count();
        let long = letters >= LETTERS_MIN || tags.has(Tags::CURRENCY) && letters + 1 == LETTERS_MIN;
        let fits = long
            && word.chars().all(char::is_alphabetic)
            && !tags.has(Tags::NUMBER.union(Tags::SCALE));
        if let (true, Some(first)) = (fits, word.chars().next()) {
            self.0
                .entry((first, letters))
                .or_default()
                .push((word.into(), tags));
        }
    }

    /// The one word that was meant, or one of several with the same use.
    pub(crate) fn meant(&self, typed: &str) -> Option<&str> {
        let letters: Vec<char> = typed.chars().collect();
        if letters.len() + 1 < LETTERS_MIN {
            return None;
        }
        let mut meant: Option<&Entry> = None;
        let firsts = [letters[0], letters[1]];
        for first in &firsts[..1 + usize::from(firsts[0] != firsts[1])] {
            for length in letters.len() - 1..=letters.len() + 1 {
                for entry in self.0.get(&(*first, length)).into_iter().flatten() {
                    if !is_slip(&letters, &entry.0) {
                        continue;
                    }
                    if meant.is_some_and(|other| other.1 != entry.1) {
                        return None;
                    }
                    meant = Some(entry);
                }
            }
        }
        meant.map(|(word, _)| &**word)
    }
}

/// Whether one slip makes the typed letters of a word.
fn is_slip(typed: &[char], word: &str) -> bool {
    let word: Vec<char> = word.chars().collect();
    let same = typed.iter().zip(&word).take_while(|(a, b)| a == b).count();
    let behind = |from_typed: usize, from_word: usize| typed[from_typed..] == word[from_word..];
    let inside = same > 0 && same + ENDING < word.len() && word.len() >= LETTERS_MIN;
    if typed.len() == word.len() {
        if same == word.len() {
            return false;
        }
        let exchanged = same + 1 < word.len()
            && typed[same] == word[same + 1]
            && typed[same + 1] == word[same]
            && behind(same + 2, same + 2);
        // "überwies" is a tense of "überweis", and no slip.
        let tense = same + 1 + ENDING >= word.len()
            && typed[same..].iter().take(2).all(|letter| is_vowel(*letter));
        let wrong = inside && word.len() > LETTERS_MIN && behind(same + 1, same + 1);
        return exchanged && !tense || wrong;
    }
    if typed.len() > word.len() {
        return inside && behind(same + 1, same);
    }
    inside && typed.len() >= LETTERS_MIN && behind(same, same + 1)
}

fn is_vowel(letter: char) -> bool {
    "aeiouyäöüáéíóúàèìòùâêôîûãõąęëï".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(words: &[(&str, Tags)], typed: &str) -> Option<String> {
        let mut typos = Typos::default();
        for (word, tags) in words {
            typos.add(word, *tags);
        }
        typos.meant(typed).map(str::to_owned)
    }

    #[test]
    fn one_slip_inside_a_word_is_read() {
        let words = [
            ("transfer", Tags::PAY),
            ("przelej", Tags::PAY),
            ("overmaken", Tags::PAY_INFINITIVE),
            ("euro", Tags::CURRENCY),
            ("cancel", Tags::STOP),
            ("überweis", Tags::PAY),
        ];
        for (typed, word) in [
            ("tranfser", "transfer"),
            ("trasfer", "transfer"),
            ("trannsfer", "transfer"),
            ("przeelj", "przelej"),
            ("overmakne", "overmaken"),
            ("uero", "euro"),
            ("euor", "euro"),
            ("cancle", "cancel"),
        ] {
            assert_eq!(meant(&words, typed).as_deref(), Some(word), "{typed}");
        }
    }

    #[test]
    fn a_tense_a_first_letter_and_a_number_are_no_slips() {
        let words = [
            ("überweis", Tags::PAY),
            ("paguei", Tags::STATES),
            ("fifty", Tags::NUMBER),
            ("house", Tags::COMMON),
        ];
        for typed in ["überwies", "pagueo", "fifhy", "mouse", "houses"] {
            assert_eq!(meant(&words, typed), None, "{typed}");
        }
    }

    #[test]
    fn a_word_with_two_uses_stays_unknown() {
        let words = [
            ("invite", Tags::OTHER_VERB),
            ("invoice", Tags::LABEL),
            ("involce", Tags::PAY),
        ];
        assert_eq!(meant(&words, "invoxce"), None);
        assert_eq!(meant(&words, "invoicee"), None);
    }
}
