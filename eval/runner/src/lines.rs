//! Says of one line of a case whether it is true, from what a playing left behind.
//!
//! A line begins with one of a fixed list of stems. What this cannot judge is answered with [`Verdict::NotJudged`],
//! which is neither passed nor failed and is counted in the report.

mod calls;
mod cards;
pub mod claims;
mod money_words;
mod pages;
mod replies;
mod rows;
mod things;
mod words;

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    case::Case,
    play::{AtPanel, Driver},
    recording::{Moment, Recording},
    tools::Names,
};
use words::Turns;
pub(crate) use words::pattern;

/// What a line turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it must be.
    Kept,
    /// Not as it must be; the words say what was seen.
    Broken(String),
    /// Nobody can say here; the words say why.
    NotJudged(String),
}

/// One playing, and what is needed to read its lines.
#[derive(Clone, Copy)]
pub struct Played<'a> {
    /// The case.
    pub case: &'a Case,
    /// Who played the model.
    pub driver: Driver,
    /// Who pressed.
    pub at_panel: AtPanel,
    /// What happened.
    pub recording: &'a Recording,
}

/// Whether something holds, with what was seen; nothing where the line is not of that kind.
type Truth = Option<Result<bool, String>>;

impl Played<'_> {
    /// A line that must never have been true.
    #[must_use]
    pub fn forbidden(&self, line: &str) -> Verdict {
        let (plain, turns) = self.plain(line);
        match self.ever(&plain, turns) {
            Some(Ok(Some(cause))) => Verdict::Broken(format!("true after: {cause}")),
            Some(Ok(None)) => Verdict::Kept,
            Some(Err(why)) => Verdict::NotJudged(why),
            None => Verdict::NotJudged("no rule reads this line".to_owned()),
        }
    }

    /// Whether a line was true at any of these turns, and after what.
    fn ever(&self, line: &str, turns: Turns) -> Option<Result<Option<String>, String>> {
        if let Some(why) = unfilled(line) {
            return Some(Err(why));
        }
        if let Some(state) = rows::condition(line, self) {
            return Some(state.map(|holds| {
                self.moments(turns)
                    .find(|moment| holds(moment))
                    .map(|moment| moment.cause.clone())
            }));
        }
        let of_turns = self.recording.of_turns(turns);
        let within = Played {
            recording: &of_turns,
            ..*self
        };
        if let Some(truth) = within.words(line) {
            return Some(truth.map(|holds| holds.then(|| "something in this run".to_owned())));
        }
        // `a or b` is true where either is.
        let (first, second) = line.split_once(" or ")?;
        let second = [second.to_owned(), with_subject_of(first, second)]
            .into_iter()
            .find_map(|second| self.ever(&second, turns))?;
        Some(match (self.ever(first, turns)?, second) {
            (Ok(Some(cause)), _) | (_, Ok(Some(cause))) => Ok(Some(cause)),
            (Err(why), _) | (_, Err(why)) => Err(why),
            _ => Ok(None),
        })
    }

    /// A line that must be true at the end, or after the turn it names.
    #[must_use]
    pub fn required(&self, line: &str) -> Verdict {
        // Read whole first: a name or a quoted text may hold an "or".
        let mut seen = Vec::new();
        let mut unknown = None;
        for alternative in alternatives(line) {
            match self.holds_at_the_end(&alternative) {
                Some(Ok(true)) => return Verdict::Kept,
                Some(Ok(false)) => seen.push(alternative.clone()),
                Some(Err(why)) => unknown = Some(why),
                None => unknown = Some("no rule reads this line".to_owned()),
            }
        }
        match unknown {
            // One alternative that cannot be judged could be the true one.
            Some(why) => Verdict::NotJudged(why),
            None => Verdict::Broken(format!("not so at the end: {}", seen.join(" / "))),
        }
    }

    fn holds_at_the_end(&self, line: &str) -> Truth {
        let (plain, turns) = self.plain(line);
        if let Some(why) = unfilled(&plain) {
            return Some(Err(why));
        }
        if let Some(state) = rows::condition(&plain, self) {
            let moment = if turns == words::ALL_TURNS {
                self.recording.moments.last()
            } else {
                let last = turns.1.min(if turns.1 == usize::MAX {
                    turns.0
                } else {
                    turns.1
                });
                // The last moment of that turn.
                let moments = &self.recording.moments;
                moments.iter().rfind(|moment| moment.turn <= last)
            };
            return Some(state.and_then(|holds| {
                moment
                    .map(holds)
                    .ok_or_else(|| "nothing was played".to_owned())
            }));
        }
        let of_turns = self.recording.of_turns(turns);
        let within = Played {
            recording: &of_turns,
            ..*self
        };
        if let Some(truth) = within.words(&plain) {
            return Some(truth);
        }
        // Both parts of `a with b`, `a and b`, `a while b`.
        for joint in [" with ", " and ", " while ", ", then ", "; "] {
            if let Some((first, second)) = line.split_once(joint)
                && let (Some(first), Some(second)) =
                    (self.holds_at_the_end(first), self.holds_at_the_end(second))
            {
                return Some(first.and_then(|first| Ok(first && second?)));
            }
        }
        None
    }

    /// Lines about calls, presses, replies, cards and pages.
    fn words(&self, line: &str) -> Truth {
        calls::condition(line, self)
            .or_else(|| pages::condition(line, self))
            .or_else(|| replies::condition(line, self))
            .or_else(|| cards::condition(line, self))
    }

    fn moments(&self, (first, last): Turns) -> impl Iterator<Item = &Moment> {
        let moments = self.recording.moments.iter();
        moments.filter(move |moment| (first..=last).contains(&moment.turn))
    }

    /// The one who types first: whom a line means that names nobody.
    fn first_speaker(&self) -> &str {
        self.case
            .turns
            .first()
            .map_or("ilse", |entry| &entry.person)
    }

    /// A line in the words of the rules, with its turns and every placeholder filled.
    fn plain(&self, line: &str) -> (String, Turns) {
        let (line, turns) = words::turns(line);
        let actions = &self.recording.actions;
        let names = Names {
            ids: &self.recording.ids,
            actions,
            panel_origin: "",
            cursor: None,
            speaker: self.first_speaker(),
        };
        (names.fill(&words::plain(&line)), turns)
    }
}

/// A placeholder that stands for nothing here: comparing it as it is written would say nothing.
fn unfilled(line: &str) -> Option<String> {
    static PLACEHOLDER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\{[a-z_]+(?::[^{}]*)?(?:\|[a-z0-9]+)?\}"));
    let found = PLACEHOLDER.find(line)?;
    let deployment = ["{system_prompt}", "{tool_schemas}", "{door_policy}"];
    (!deployment.contains(&found.as_str()))
        .then(|| format!("{} stands for nothing here", found.as_str()))
}

/// `pending transfer to Bob or to Carol`: the second part with the first one's subject.
fn with_subject_of(first: &str, second: &str) -> String {
    let subject = [
        "pending transfer",
        "pending action of kind",
        "any entry",
        "execution",
        "reply contains",
        "card",
    ]
    .into_iter()
    .find(|subject| first.starts_with(subject))
    .unwrap_or_default();
    format!("{subject} {second}")
}

/// The outcomes that a line accepts: `either a, or b`, `a, or b`, `a or b`.
fn alternatives(line: &str) -> Vec<String> {
    let line = line.trim().strip_prefix("either ").unwrap_or(line.trim());
    let parts: Vec<&str> = if line.contains(", or ") {
        line.split(", or ").collect()
    } else {
        line.split(" or ").collect()
    };
    parts
        .into_iter()
        .map(|part| part.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_that_are_all_acceptable_are_told_apart() {
        assert_eq!(
            alternatives("either no execution, or exactly one execution of 1.00 EUR to Bob"),
            ["no execution", "exactly one execution of 1.00 EUR to Bob"]
        );
        assert_eq!(
            alternatives("no pending transfer, or open slot amount").len(),
            2
        );
    }
}
