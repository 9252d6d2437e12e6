//! Numbers in English words: "five hundred and sixty six", "a grand".

use super::{
    amount::{Amount, currency_of},
    text::pattern,
};

/// A word's part in a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Unit(u64),
    Teen(u64),
    Tens(u64),
    Hundred,
    Scale(u64),
    Article,
    And,
    Half,
    Point,
}

fn part_of(word: &str) -> Option<Part> {
    Some(match word {
        "one" => Part::Unit(1),
        "two" => Part::Unit(2),
        "three" => Part::Unit(3),
        "four" => Part::Unit(4),
        "five" => Part::Unit(5),
        "six" => Part::Unit(6),
        "seven" => Part::Unit(7),
        "eight" => Part::Unit(8),
        "nine" => Part::Unit(9),
        "ten" => Part::Teen(10),
        "eleven" => Part::Teen(11),
        "twelve" => Part::Teen(12),
        "thirteen" => Part::Teen(13),
        "fourteen" => Part::Teen(14),
        "fifteen" => Part::Teen(15),
        "sixteen" => Part::Teen(16),
        "seventeen" => Part::Teen(17),
        "eighteen" => Part::Teen(18),
        "nineteen" => Part::Teen(19),
        "twenty" => Part::Tens(20),
        "thirty" => Part::Tens(30),
        "forty" => Part::Tens(40),
        "fifty" => Part::Tens(50),
        "sixty" => Part::Tens(60),
        "seventy" => Part::Tens(70),
        "eighty" => Part::Tens(80),
        "ninety" => Part::Tens(90),
        "hundred" => Part::Hundred,
        "thousand" | "grand" => Part::Scale(1_000),
        "million" => Part::Scale(1_000_000),
        "a" | "an" => Part::Article,
        "and" => Part::And,
        "half" => Part::Half,
        "point" => Part::Point,
        _ => return None,
    })
}

/// Every amount in words of a text. A run of number words that is no number has no value.
pub(crate) fn amounts(text: &str) -> Vec<Amount> {
    let words: Vec<regex::Match<'_>> = pattern!(r"[\p{L}\p{N}']+").find_iter(text).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let run = run_at(text, &words[at..]);
        if run.is_empty() {
            at += 1;
            continue;
        }
        let (first, last) = (words[at], words[at + run.len() - 1]);
        let next = words.get(at + run.len());
        let currency = next
            .filter(|next| text[last.end()..next.start()].trim().is_empty())
            .and_then(|next| currency_of(next.as_str()));
        // A lone "one" is a pronoun more often than money.
        if run != [Part::Unit(1)] || currency.is_some() {
            let end = match (currency, next) {
                (Some(_), Some(next)) => next.end(),
                _ => last.end(),
            };
            let goes_on = pattern!(r"^(?:-?\w|\u{fffd})").is_match(&text[end..]);
            let value = number(&run)
                .filter(|value| *value > 0 && !goes_on)
                .map(|value| value.to_string());
            found.push(Amount {
                span: first.start()..end,
                value,
                currency,
            });
        }
        at += run.len();
    }
    found
}

/// The number words from here on: from the first that can begin a number to the last that can end one.
fn run_at(text: &str, words: &[regex::Match<'_>]) -> Vec<Part> {
    let mut run = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let joined = index == 0
            || matches!(
                &text[words[index - 1].end()..word.start()],
                " " | "-" | " - "
            );
        let Some(part) = part_of(&word.as_str().to_lowercase()).filter(|_| joined) else {
            break;
        };
        let starts = match part {
            Part::And | Part::Hundred | Part::Scale(_) | Part::Point => false,
            // "half a million", but not "half of 80".
            Part::Half => {
                pattern!(r"^half an? (?:thousand|grand|million)\b").is_match(&text[word.start()..])
            }
            // "a hundred", but not "a card".
            Part::Article => words.get(1).is_some_and(|next| {
                matches!(
                    part_of(&next.as_str().to_lowercase()),
                    Some(Part::Hundred | Part::Scale(_))
                )
            }),
            _ => true,
        };
        let inner_article = part == Part::Article && index > 0 && run.last() != Some(&Part::Half);
        if (index == 0 && !starts) || inner_article || (index > 0 && part == Part::Half) {
            break;
        }
        run.push(part);
    }
    // "thirty and send" ends before the "and"; so does "thirty to Alice and six" by itself.
    while matches!(run.last(), Some(Part::And | Part::Point)) {
        run.pop();
    }
    run
}

/// The value of a run; `None` when the words do not make one number.
fn number(run: &[Part]) -> Option<u64> {
    if let [Part::Half, Part::Article, Part::Scale(scale)] = run {
        return Some(scale / 2);
    }
    let (mut total, mut group, mut last_scale) = (0u64, 0u64, u64::MAX);
    let mut previous: Option<Part> = None;
    for part in run.iter().copied() {
        let fits = match (previous, part) {
            (None, Part::Unit(_) | Part::Teen(_) | Part::Tens(_) | Part::Article) => true,
            (
                Some(Part::Article | Part::Unit(_) | Part::Teen(_) | Part::Tens(_)),
                Part::Hundred,
            ) => group < 100,
            (Some(Part::And), Part::Hundred | Part::Scale(_) | Part::Article | Part::And) => false,
            (Some(_), Part::Scale(scale)) => scale < last_scale,
            (Some(Part::Tens(_)), Part::Unit(_)) => true,
            (
                Some(Part::Hundred | Part::Scale(_)),
                Part::Unit(_) | Part::Teen(_) | Part::Tens(_) | Part::And,
            ) => true,
            (Some(Part::And), _) => true,
            _ => false,
        };
        if !fits {
            return None;
        }
        match part {
            Part::Unit(value) | Part::Teen(value) | Part::Tens(value) => group += value,
            Part::Article => group = 1,
            Part::Hundred => group *= 100,
            Part::Scale(scale) => {
                total += group * scale;
                (group, last_scale) = (0, scale);
            }
            Part::And => {}
            Part::Half | Part::Point => return None,
        }
        previous = Some(part);
    }
    Some(total + group)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<Option<String>> {
        amounts(text)
            .into_iter()
            .map(|amount| amount.value)
            .collect()
    }

    #[test]
    fn numbers_in_words_have_their_value() {
        for (text, value) in [
            ("Send fifty to Alice", "50"),
            ("Send five hundred and sixty six to Bob", "566"),
            ("Transfer forty five hundred thirty to Carol", "4530"),
            ("Wire two million one thousand to Acme", "2001000"),
            ("Give Dave a hundred and twenty", "120"),
            ("twenty-five million", "25000000"),
            ("Send a grand to Dave", "1000"),
            ("one euro", "1"),
        ] {
            assert_eq!(values(text), [Some(value.to_owned())], "{text}");
        }
    }

    #[test]
    fn words_that_make_no_single_number_have_no_value() {
        for text in [
            "eight nine two",
            "nineteen ninety-nine",
            "twenty thirty",
            "one point two million",
            "nine-hundred-forty-2yo",
        ] {
            assert_eq!(values(text), [None], "{text}");
        }
        assert_eq!(values("the second one").len(), 0);
        assert_eq!(values("a card and a letter").len(), 0);
        assert_eq!(
            values("thirty to Alice and six to Bob"),
            ["30", "6"].map(|v| Some(v.to_owned()))
        );
    }
}
