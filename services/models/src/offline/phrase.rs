//! Names and amounts inside a clause.

use time::Date;

use super::{
    amount::{Amount, amounts},
    ask::Sum,
    day::{Day, days},
    text::pattern,
};

/// A clause with what is no amount blanked out, byte for byte.
pub(crate) struct Clause {
    /// The words; dates, card digits and account numbers are underscores here.
    pub(crate) text: String,
    /// The amounts, in order.
    pub(crate) amounts: Vec<Amount>,
    /// The days, in order.
    pub(crate) days: Vec<Day>,
    /// Four digits that name a card.
    pub(crate) card_digits: Option<String>,
    /// Whether an account number stands in it.
    pub(crate) account_number: bool,
}

impl Clause {
    /// Reads a clause.
    pub(crate) fn read(text: &str, today: Date) -> Self {
        let days = days(text, today);
        let mut blanked = text.to_owned();
        for day in &days {
            blank(&mut blanked, day.span.clone());
        }
        let endings = pattern!(
            r"\b(?:ending|ends|ending in|ending with|last (?:four|4)(?: digits)?|card|cards?)(?: (?:in|with|on|no\.?|number))? (?P<digits>\d{4})\b"
        );
        let mut card_digits = None;
        if let Some(captures) = endings.captures(&blanked.clone()) {
            let digits = captures
                .name("digits")
                .expect("the pattern always has digits");
            card_digits = Some(digits.as_str().to_owned());
            blank(&mut blanked, digits.range());
        }
        let numbers_of_things = pattern!(
            r"\b[a-z]{3}_[0-9a-f]{8,}\b|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b|\b\d{8,}\b|\+\d[\d ]{6,}\d"
        );
        let spans: Vec<_> = numbers_of_things
            .find_iter(&blanked)
            .map(|found| found.range())
            .collect();
        let account_number = !spans.is_empty();
        for span in spans {
            blank(&mut blanked, span);
        }
        let counted = pattern!(
            r"\b\d+ (?:days?|weeks?|months?|years?|times|people|persons?|tickets?|hours?|minutes?|payments?|transactions?|nights?)\b"
        );
        let spans: Vec<_> = counted
            .find_iter(&blanked)
            .map(|found| found.range())
            .collect();
        for span in spans {
            blank(&mut blanked, span);
        }
        let mut amounts = amounts(&blanked);
        drop_numbers_of_names(&blanked, &mut amounts);
        Self {
            text: blanked,
            amounts,
            days,
            card_digits,
            account_number,
        }
    }

    /// The last amount that is not ruled out: in "from 20 to 25" the later one counts, in "30 not 20" the first.
    pub(crate) fn last_sum(&self) -> Option<Sum> {
        let ruled_out = pattern!(r"\b(?:not|instead of|rather than) $");
        self.amounts
            .iter()
            .rfind(|amount| !ruled_out.is_match(&self.text[..amount.span.start]))
            .map(sum)
    }

    /// The name that begins at a place: up to punctuation, an amount, or a word that goes on with the sentence.
    pub(crate) fn name_at(&self, start: usize) -> Option<String> {
        let mut words: Vec<&str> = Vec::new();
        for word in pattern!(r"\S+").find_iter(&self.text[start..]) {
            let at = start + word.start();
            let plain = word.as_str().trim_matches(|c: char| !c.is_alphanumeric());
            let ends_here = self.amounts.iter().any(|amount| amount.span.contains(&at))
                || plain.is_empty()
                || word.as_str().starts_with('_')
                || pattern!(r"^[-+]?\d+[-/]\d").is_match(word.as_str())
                || (goes_on(plain) && !may_stand_in_a_name(plain, words.is_empty()));
            if ends_here {
                break;
            }
            words.push(word.as_str());
            if word.as_str().ends_with([',', ';', '!', '?', ':', '.', '"'])
                || words.len() == NAME_WORDS_MAX
            {
                break;
            }
        }
        let name = words.join(" ");
        let name = pattern!(r"^(?:my|the|our|a|an|that|this) ").replace(&name, "");
        let name = name
            .trim_matches(|c: char| !c.is_alphanumeric() && c != ')' && c != '(')
            .trim();
        (!name.is_empty() && !is_no_name(name)).then(|| name.to_owned())
    }

    /// The name after the last match of a pattern that ends where a name would begin.
    pub(crate) fn name_after(&self, lead: &regex::Regex) -> Option<String> {
        let leads: Vec<_> = lead
            .find_iter(&self.text)
            .map(|found| found.end())
            .collect();
        leads.into_iter().rev().find_map(|end| self.name_at(end))
    }

    /// The account after "from", if the clause names one there.
    pub(crate) fn paying_account(&self) -> Option<String> {
        let name = self.name_after(pattern!(r"\b(?:from|out of|using)(?: my| the| our)? "))?;
        let name = pattern!(r"\baccounts?\b").replace_all(&name, "");
        let name = name.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }
}

/// "Send 20 to Studio 54": a number right after a name, with an amount before it, belongs to the name.
fn drop_numbers_of_names(text: &str, amounts: &mut Vec<Amount>) {
    let named = pattern!(r"\bto (?:my )?(?-i:\p{Lu}[\p{L}']* )+(?P<number>\d+)\b");
    let Some(first) = amounts.first().map(|amount| amount.span.start) else {
        return;
    };
    for captures in named.captures_iter(text) {
        let (Some(whole), Some(number)) = (captures.get(0), captures.name("number")) else {
            continue;
        };
        if first < whole.start() {
            amounts.retain(|amount| amount.span != number.range());
        }
    }
}

/// Longest name, in words.
const NAME_WORDS_MAX: usize = 6;

/// The sum without its place.
pub(crate) fn sum(amount: &Amount) -> Sum {
    Sum {
        value: amount.value.clone(),
        currency: amount.currency,
    }
}

/// Words after which a name has ended.
fn goes_on(word: &str) -> bool {
    pattern!(
        r"^(?:to|from|for|please|pls|today|now|tomorrow|on|by|as|every|each|and|but|then|with|using|via|instead|not|thanks|thank|asap|this|next|at|because|if|when|monthly|weekly|quarterly|yearly|a|per|account|back|in|is|was|again|too|also|starting|beginning|of|right|immediately|so|who|that|which|i|it|he|she|they|we|or|rather|sorry|actually|no)$"
    )
    .is_match(word)
}

/// "Next plc" and "Do Not Disturb Ltd" are names; "to" and "and" never begin one.
fn may_stand_in_a_name(word: &str, first: bool) -> bool {
    let never = pattern!(
        r"^(?:to|from|for|and|but|with|at|in|of|is|it|i|no|actually|sorry|please|thanks)$"
    );
    let never_first = pattern!(r"^not$");
    word.starts_with(char::is_uppercase)
        && !never.is_match(word)
        && !(first && never_first.is_match(word))
}

/// Words that stand where a name could and are none.
fn is_no_name(name: &str) -> bool {
    pattern!(
        r"^(?:me|myself|money|some money|some|cash|(?:a |one )?(?:payment|transfer|bank transfer)|it|them|him|her|that|this|these|those|something|(?:somebody|someone|a person|anybody)(?: new| else)?|new|anyone|people|everyone|everything|all|another(?: one)?|same|the same|amount|same amount|make|send|pay|do|go|back|more|less|do so|whoever|who|one|again|total)$"
    )
    .is_match(name)
}

fn blank(text: &mut String, span: std::ops::Range<usize>) {
    let underscores = "_".repeat(span.len());
    text.replace_range(span, &underscores);
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    fn clause(text: &str) -> Clause {
        Clause::read(text, date!(2026 - 11 - 30))
    }

    #[test]
    fn a_name_ends_where_the_sentence_goes_on() {
        for (text, name) in [
            ("to Bob", Some("Bob")),
            ("to my Mum please", Some("Mum")),
            ("to Maria Silva, thanks", Some("Maria Silva")),
            ("to Acme Ltd. from savings", Some("Acme Ltd")),
            ("to Bob 20", Some("Bob")),
            ("to Landlord (neu) bitte", Some("Landlord (neu) bitte")),
            ("to 20", None),
            ("to someone", None),
        ] {
            assert_eq!(clause(text).name_at(3).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn dates_cards_and_account_numbers_are_no_amounts() {
        for text in [
            "from 1 December",
            "freeze the card ending 4821",
            "freeze card 0077",
            "to DE89 3704 0044 0532 0130 00",
            "call +49 30 1234567",
        ] {
            assert!(
                clause(text).amounts.is_empty(),
                "{text}: {:?}",
                clause(text).amounts
            );
        }
        assert_eq!(
            clause("the card ending in 4821").card_digits.as_deref(),
            Some("4821")
        );
    }
}
