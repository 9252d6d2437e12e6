//! Letters that pass for others: named to the customer, never replaced.

use unicode_normalization::UnicodeNormalization as _;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::{GeneralSecurityProfile as _, skeleton};

/// Most look-alike letters named one by one; the rest is summed up.
const NAMED_MAX: usize = 3;

/// Says in plain words which letters of a name look like others. Empty for ordinary names of any script.
///
/// A letter is suspect inside a word that mixes it with Latin ones, or in a word that consists of nothing
/// but look-alikes. A Russian name beside an English one is neither.
pub fn lookalike_notes(name: &str) -> Vec<String> {
    let has_latin = name.chars().any(|c| c.script() == Script::Latin);
    let mut named: Vec<String> = Vec::new();
    let mut whole_words: Vec<&'static str> = Vec::new();
    for word in name.split(|c: char| c.is_whitespace() || matches!(c, '-' | '.' | ',' | '/')) {
        let letters: Vec<char> = word.chars().filter(|c| has_script(*c)).collect();
        let foreign = || {
            letters
                .iter()
                .copied()
                .filter(|c| c.script() != Script::Latin)
        };
        let mixed = letters.iter().any(|c| c.script() == Script::Latin);
        if mixed {
            // Chinese, Japanese and Korean writing mixes with Latin as a matter of course.
            for letter in foreign().filter(|c| looks_latin(*c) || !is_east_asian(c.script())) {
                let kind = letter.script().full_name();
                push(
                    &mut named,
                    format!("contains {} {kind} “{letter}”", article(kind)),
                );
            }
        } else if let Some(first) = foreign().next()
            && foreign().all(looks_latin)
            && letters.len() > 1
        {
            let kind = first.script().full_name();
            if !whole_words.contains(&kind) {
                whole_words.push(kind);
            }
        }
        for letter in word.chars() {
            if let Some(plain) = plain_form(letter) {
                push(
                    &mut named,
                    format!("contains an unusual “{letter}” for “{plain}”"),
                );
            }
        }
        digits_between_letters(word, &mut named);
    }
    // Without any Latin letter in the name, one ordinary word explains the script; all words look-alike does not.
    let all_lookalike = !has_latin && name.chars().filter(|c| has_script(*c)).all(looks_latin);
    if has_latin || all_lookalike {
        for kind in whole_words {
            push(
                &mut named,
                format!("written in {kind} letters that look like Latin ones"),
            );
        }
    }
    if named.len() > NAMED_MAX {
        named.truncate(NAMED_MAX);
        named.push("contains more letters that look like others".to_owned());
    }
    named
}

fn push(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    }
}

fn is_east_asian(script: Script) -> bool {
    matches!(
        script,
        Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo
    )
}

fn has_script(character: char) -> bool {
    character.is_alphabetic()
        && !matches!(
            character.script(),
            Script::Common | Script::Inherited | Script::Unknown
        )
}

/// Whether the eye reads a letter of another script as Latin ones.
fn looks_latin(letter: char) -> bool {
    letter.script() != Script::Latin && {
        let mut buffer = [0; 4];
        let mut shape = skeleton(letter.encode_utf8(&mut buffer)).peekable();
        shape.peek().is_some()
            && shape.all(|c| c.is_ascii_alphanumeric() || c.script() == Script::Latin)
    }
}

/// The everyday form of a letter such as `𝐁`, `Ｂ` or `ɑ`; `None` for letters that names are written with.
fn plain_form(letter: char) -> Option<String> {
    if !letter.is_alphanumeric() || letter.is_ascii() {
        return None;
    }
    if !matches!(letter.script(), Script::Latin | Script::Common) || letter.identifier_allowed() {
        return None;
    }
    let folded: String = [letter].into_iter().nfkc().collect();
    if folded.chars().ne([letter]) {
        return Some(folded);
    }
    let mut buffer = [0; 4];
    let shape: String = skeleton(letter.encode_utf8(&mut buffer)).collect();
    (shape.chars().ne([letter])).then_some(shape)
}

fn digits_between_letters(word: &str, notes: &mut Vec<String>) {
    let characters: Vec<char> = word.chars().collect();
    for window in characters.windows(3) {
        if let [before, digit @ ('0' | '1' | '3' | '5'), after] = window
            && before.is_alphabetic()
            && after.is_alphabetic()
        {
            push(
                notes,
                format!("contains the digit “{digit}” between letters"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_of_another_script_is_named() {
        assert_eq!(
            lookalike_notes("B\u{43e}b Smith"),
            ["contains a Cyrillic “о”"]
        );
        assert_eq!(
            lookalike_notes("Bob Smit\u{570}"),
            ["contains an Armenian “հ”"]
        );
        assert_eq!(lookalike_notes("\u{392}ob"), ["contains a Greek “Β”"]);
    }

    #[test]
    fn a_word_made_of_nothing_but_lookalikes_is_named() {
        let all = "written in Cyrillic letters that look like Latin ones";
        assert_eq!(lookalike_notes("\u{421}\u{43e}\u{440}\u{435} Smith"), [all]);
        assert_eq!(
            lookalike_notes("\u{410}\u{440}\u{440}\u{4cf}\u{435}"),
            [all]
        );
    }

    #[test]
    fn ordinary_names_carry_no_note() {
        for name in [
            "Bob Smith",
            "José Núñez",
            "Zoë Müller-Lüdenscheidt",
            "Иван Петров",
            "Иван Smith",
            "Сара Иванова",
            "Αλέξανδρος Παπαδόπουλος",
            "王小明",
            "Ольга",
            "محمد علي",
            "Nguyễn Thị Minh Khai",
            "Straße 1",
            "Studio 54",
            "O’Brien & Sons Ltd.",
            "ΑΒΓ Ltd",
            "さくら銀行 Tokyo",
            "李Lee",
            "Łukasz Żółć",
            "Iıl",
        ] {
            assert_eq!(lookalike_notes(name), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn unusual_forms_are_named_with_the_usual_letter() {
        assert_eq!(
            lookalike_notes("\u{1D401}ob"),
            ["contains an unusual “𝐁” for “B”"]
        );
        assert_eq!(
            lookalike_notes("\u{FF22}ob"),
            ["contains an unusual “Ｂ” for “B”"]
        );
        assert_eq!(
            lookalike_notes("P\u{251}ul"),
            ["contains an unusual “ɑ” for “a”"]
        );
        assert_eq!(
            lookalike_notes("B0b"),
            ["contains the digit “0” between letters"]
        );
    }

    #[test]
    fn many_lookalikes_are_summed_up() {
        let notes = lookalike_notes("\u{430}b\u{435}b\u{43e}b\u{440}b\u{441}b");
        assert_eq!(notes.len(), NAMED_MAX + 1);
    }
}
