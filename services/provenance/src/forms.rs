//! Forms that follow from others: verbs with their pronouns, and taking back that also denies.

use crate::{
    fold::without_accents,
    lexicon::{Lexicon, alone},
    tags::Tags,
};

impl Lexicon {
    /// Adds the verbs of paying with their pronouns ("pagasela", "manda-lho", "girargli") where the file has no such
    /// form. Without accents: those that the pronoun puts on the verb are found as an emphasis.
    pub(crate) fn attach_clitics(&mut self) {
        /// Shorter verbs have forms of their own, which the file names.
        const LETTERS_MIN: usize = 4;
        let verbs = Tags::PAY
            .union(Tags::PAY_INFINITIVE)
            .union(Tags::REFUND)
            .union(Tags::REFUND_INFINITIVE);
        let nouns = Tags::PAY_NOUN.union(Tags::PRONOUN).union(Tags::IT);
        // By their spelling without accents: the word as the file has it, and whether it stands alone there.
        let known: std::collections::HashMap<String, (String, bool)> = self
            .phrases
            .iter()
            .map(|(word, phrases)| {
                let alone = phrases.iter().any(|phrase| phrase.rest.is_empty());
                (without_accents(word), (word.to_string(), alone))
            })
            .collect();
        let stems: Vec<(String, Tags)> = self
            .phrases
            .iter()
            .filter_map(|(word, phrases)| {
                let tags = alone(phrases);
                let is_verb = tags.has(verbs)
                    && !tags.has(nouns)
                    && word.len() >= LETTERS_MIN
                    && word.chars().all(char::is_alphabetic);
                let tags = tags.only(verbs);
                is_verb.then(|| (word.to_string(), tags))
            })
            .collect();
        for (stem, tags) in stems {
            for (clitic, means) in self.clitics.clone() {
                let tags = if means.has(Tags::PRONOUN) {
                    pays_back(tags)
                } else {
                    tags
                };
                if let Some(clitic) = clitic.strip_prefix('-') {
                    self.insert(&[&stem, clitic], None, tags.union(means));
                    continue;
                }
                let plain = without_accents(&stem);
                // "mandare": "mandargli"
                let plain = match plain.strip_suffix("re") {
                    Some(_) => &plain[..plain.len() - 1],
                    None => plain.as_str(),
                };
                let form = format!("{plain}{clitic}");
                match known.get(&form) {
                    None => self.insert(&[&form], None, tags.union(means)),
                    Some((_, true)) => {}
                    // "envíalo a" is in the file, "envíalo" is not.
                    Some((word, false)) => self.insert(&[word], None, tags.union(means)),
                }
            }
        }
        for phrases in self.phrases.values_mut() {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
        }
    }

    /// A phrase of taking back that begins or ends with a negation ("nie wysyłaj", "please don't") also denies
    /// the values behind it.
    pub(crate) fn deny_taken_back(&mut self) {
        let negations: std::collections::HashSet<Box<str>> = self
            .phrases
            .keys()
            .filter(|word| self.tags(word).has(Tags::NEG))
            .cloned()
            .collect();
        let back = Tags::TAKE_BACK.union(Tags::TAKE_BACK_LAST);
        for (first, phrases) in &mut self.phrases {
            for phrase in phrases.iter_mut().filter(|phrase| phrase.tags.has(back)) {
                let last = phrase.rest.last().unwrap_or(first);
                if negations.contains(first) || negations.contains(last) {
                    phrase.tags = phrase.tags.union(Tags::NEG);
                }
            }
        }
    }
}

/// Giving back to somebody is paying him, not refunding what came in.
const fn pays_back(tags: Tags) -> Tags {
    if tags.has(Tags::REFUND) {
        Tags::PAY
    } else if tags.has(Tags::REFUND_INFINITIVE) {
        Tags::PAY_INFINITIVE
    } else {
        tags
    }
}
