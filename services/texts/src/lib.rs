//! What the bank says to a customer, in the customer's language: one data file per language.
//!
//! The English sentence is the key, so that the code reads as the card does, and a sentence without a translation is still a
//! sentence. Values stand in braces (`Send {total} to {name}`) and are put in whole: whoever displays them isolates them, so that
//! a name or an amount reads in its own direction. Pure.

use std::{collections::HashMap, sync::LazyLock};

use countersign_domain::Money;
use serde::Deserialize;
use time::{Date, Time};

/// The files, English first: it is the language of keys and the one for whoever has none of these.
const FILES: [&str; 3] = [
    include_str!("../languages/en.json"),
    include_str!("../languages/de.json"),
    include_str!("../languages/ar.json"),
];

static LANGUAGES: LazyLock<Vec<Texts>> = LazyLock::new(|| {
    FILES
        .iter()
        .map(|file| serde_json::from_str(file).expect("a committed language file is of its form"))
        .collect()
});

/// One language: its texts, its direction, how it writes numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// The tag of the language (BCP 47), which a page carries and a record names.
    pub lang: String,
    /// `ltr` or `rtl`.
    pub dir: String,
    /// Its own name.
    pub name: String,
    group: char,
    point: char,
    /// A day: `{day} {month} {year}`.
    day: String,
    /// The months from January on, as they stand in a day.
    months: [String; 12],
    texts: HashMap<String, String>,
}

/// The languages there are.
pub fn all() -> &'static [Texts] {
    &LANGUAGES
}

/// The language of a tag, by its first part; English for every other.
pub fn of(tag: &str) -> &'static Texts {
    exactly(tag).unwrap_or(&LANGUAGES[0])
}

/// The language of a tag, by its first part, if it is one of these.
pub fn exactly(tag: &str) -> Option<&'static Texts> {
    let primary = tag.split('-').next().unwrap_or(tag);
    LANGUAGES
        .iter()
        .find(|language| language.lang.eq_ignore_ascii_case(primary))
}

/// What a notice can be about where no button was pressed, as the database words it.
const ABOUTS: [&str; 5] = [
    "Your e-mail address",
    "Your phone number",
    "Your address",
    "Your time to undo",
    "Your limits in {currency}",
];

/// What can hide in a name, as `countersign-screening` words it.
const NOTES: [&str; 13] = [
    "contains stacked marks",
    "contains a character that turns the writing around",
    "contains {count} characters that turn the writing around",
    "contains 1 invisible character",
    "contains {count} invisible characters",
    "contains 1 line break or control character",
    "contains {count} line breaks or control characters",
    "contains a {script} “{letter}”",
    "contains an {script} “{letter}”",
    "contains an unusual “{letter}” for “{plain}”",
    "contains the digit “{digit}” between letters",
    "written in {script} letters that look like Latin ones",
    "contains more letters that look like others",
];

impl Texts {
    /// A sentence in this language; the English one where it has no other.
    pub fn say<'a>(&'a self, english: &'a str) -> &'a str {
        self.texts.get(english).map_or(english, String::as_str)
    }

    /// A sentence with its values put in. A value's own braces are letters.
    pub fn with(&self, english: &str, values: &[(&str, &str)]) -> String {
        filled(self.say(english), values)
    }

    /// A day as this language writes it: `30 Nov 2026`, `30. Nov. 2026`.
    pub fn day(&self, date: Date) -> String {
        let month = &self.months[usize::from(u8::from(date.month())) - 1];
        let (day, year) = (date.day().to_string(), date.year().to_string());
        filled(
            &self.day,
            &[("day", &day), ("month", month), ("year", &year)],
        )
    }

    /// A moment in UTC as this language writes it: `30 Nov 2026, 10:42 UTC`.
    pub fn moment(&self, date: Date, time: Time) -> String {
        let clock = format!("{:02}:{:02}", time.hour(), time.minute());
        self.with(
            "{day}, {time} UTC",
            &[("day", &self.day(date)), ("time", &clock)],
        )
    }

    /// A note about what hides in a name, said in this language; one that is not known here stays as it is.
    pub fn note(&self, note: &str) -> String {
        self.said_again(&NOTES, note)
    }

    /// What a notice is about. The database's own words are said in this language, a button's stay as they were pressed.
    pub fn about(&self, about: &str) -> String {
        self.said_again(&ABOUTS, about)
    }

    fn said_again(&self, forms: &[&'static str], said: &str) -> String {
        forms
            .iter()
            .find_map(|form| Some((form, values_of(form, said)?)))
            .map_or_else(
                || said.to_owned(),
                |(form, values)| {
                    let values: Vec<(&str, &str)> = values
                        .into_iter()
                        .map(|(name, value)| match name {
                            "script" => (name, self.say(value)),
                            _ => (name, value),
                        })
                        .collect();
                    self.with(form, &values)
                },
            )
    }

    /// An amount as this language writes it: `1,240.50 EUR`, `1.240,50 EUR`.
    pub fn money(&self, money: Money) -> String {
        money
            .to_display()
            .chars()
            .map(|character| match character {
                ',' => self.group,
                '.' => self.point,
                other => other,
            })
            .collect()
    }

    /// Every sentence by its English one.
    pub fn sentences(&self) -> &HashMap<String, String> {
        &self.texts
    }

    /// What a page's script says in this language, as JSON that can stand in a page; nothing for English, which a script
    /// speaks by itself.
    pub fn for_script(&self) -> Option<String> {
        if self.lang == "en" {
            return None;
        }
        let json =
            serde_json::json!({"group": self.group, "point": self.point, "sentences": self.texts});
        // Nothing in it ends the element that holds it.
        Some(json.to_string().replace('<', "\\u003c"))
    }
}

/// A text with its values put in.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut rest = text;
    let mut said = String::with_capacity(rest.len());
    while let Some(at) = rest.find('{') {
        said.push_str(&rest[..at]);
        let found = rest[at + 1..].split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((*value, after))
        });
        match found {
            Some((value, after)) => {
                said.push_str(value);
                rest = after;
            }
            None => {
                said.push('{');
                rest = &rest[at + 1..];
            }
        }
    }
    said.push_str(rest);
    said
}

/// The values with which a form says a text; none where it cannot. A value ends where the text behind it begins.
fn values_of<'a>(form: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (mut form, mut text) = (form, text);
    let mut values = Vec::new();
    while let Some((before, rest)) = form.split_once('{') {
        let (name, after) = rest.split_once('}')?;
        text = text.strip_prefix(before)?;
        let next = after.split('{').next().unwrap_or(after);
        let end = if next.is_empty() {
            text.len()
        } else {
            text.find(next)?
        };
        values.push((name, &text[..end]));
        (form, text) = (after, &text[end..]);
    }
    (form == text).then_some(values)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use countersign_domain::{Currency, MinorUnits};
    use time::macros::{date, time};

    use super::*;

    fn keys(texts: &Texts) -> BTreeSet<&str> {
        texts.texts.keys().map(String::as_str).collect()
    }

    fn placeholders(text: &str) -> BTreeSet<String> {
        regex::Regex::new(r"\{\w+\}")
            .unwrap()
            .find_iter(text)
            .map(|found| found.as_str().to_owned())
            .collect()
    }

    #[test]
    fn every_language_says_everything_with_the_same_values() {
        let english = &all()[0];
        assert_eq!(english.lang, "en");
        for language in all() {
            assert_eq!(keys(language), keys(english), "{}", language.lang);
            for (key, text) in &language.texts {
                assert!(!text.trim().is_empty(), "{}: {key}", language.lang);
                assert_eq!(
                    placeholders(key),
                    placeholders(text),
                    "{}: {key}",
                    language.lang
                );
            }
        }
        assert!(english.texts.iter().all(|(key, text)| key == text));
    }

    #[test]
    fn values_are_put_in_once_and_read_as_letters() {
        let texts = of("de-AT");
        assert_eq!(texts.lang, "de");
        assert_eq!(
            texts.with(
                "Send {total} to {name}",
                &[("total", "20,00 EUR"), ("name", "{total}")]
            ),
            "20,00 EUR an {total} senden"
        );
        assert_eq!(of("en").with("no {such} value", &[]), "no {such} value");
        assert_eq!(of("xx").lang, "en");
        assert_eq!(of("ar").dir, "rtl");
    }

    #[test]
    fn an_amount_is_written_as_the_language_writes_it() {
        let money = Money {
            amount: MinorUnits::new(124_050).unwrap(),
            currency: Currency::Eur,
        };
        assert_eq!(of("en").money(money), "1,240.50 EUR");
        assert_eq!(of("de").money(money), "1.240,50 EUR");
    }

    #[test]
    fn a_day_and_a_moment_are_written_as_the_language_writes_them() {
        let (day, clock) = (date!(2026 - 3 - 4), time!(9:05));
        assert_eq!(of("en").day(day), "4 Mar 2026");
        assert_eq!(of("de").moment(day, clock), "4. März 2026, 09:05 UTC");
        assert_eq!(of("ar").day(day), "4 مارس 2026");
    }

    #[test]
    fn what_hides_in_a_name_is_said_in_the_language() {
        let de = of("de");
        assert_eq!(
            de.note("contains a Cyrillic “а”"),
            "enthält ein „а“ der Schrift Kyrillisch"
        );
        assert_eq!(
            de.note("contains an unusual “𝐁” for “B”"),
            "enthält ein ungewöhnliches „𝐁“ für „B“"
        );
        assert_eq!(
            de.note("contains 3 invisible characters"),
            "enthält 3 unsichtbare Zeichen"
        );
        assert_eq!(de.note("something else"), "something else");
        let all = countersign_screening::display_name(
            "Bo\u{200b}b\u{202e} 𝐁\u{43e}b P0st \n е\u{301}\u{301}\u{301}\u{301}\u{301}",
        );
        assert!(all.notes.len() > 4, "{all:?}");
        for note in &all.notes {
            assert_ne!(de.note(note), *note, "a note without a form of its own");
        }
    }
}
