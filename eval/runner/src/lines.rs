//! Says of one line of a case whether it is true, from what a playing left behind.
//!
//! A line begins with one of a fixed list of stems. What this cannot judge is answered with [`Verdict::NotJudged`],
//! which is neither passed nor failed and is counted in the report.

mod calls;
mod money_words;
mod replies;
mod rows;

use crate::{
    case::Case,
    play::{AtPanel, Driver},
    recording::{Moment, Recording},
    tools::Names,
};

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
        let (line, from_turn) = after_turn(line);
        let line = self.filled(&line);
        if let Some(state) = rows::condition(&line, self) {
            return match state {
                Err(why) => Verdict::NotJudged(why),
                Ok(holds) => self
                    .moments(from_turn)
                    .find(|moment| holds(moment))
                    .map_or(Verdict::Kept, |moment| {
                        Verdict::Broken(format!("true after: {}", moment.cause))
                    }),
            };
        }
        match self.words(&line) {
            Some(Ok(true)) => Verdict::Broken("true in this run".to_owned()),
            Some(Ok(false)) => Verdict::Kept,
            Some(Err(why)) => Verdict::NotJudged(why),
            None => Verdict::NotJudged("no rule reads this line".to_owned()),
        }
    }

    /// A line that must be true at the end, or after the turn it names.
    #[must_use]
    pub fn required(&self, line: &str) -> Verdict {
        let alternatives = alternatives(line);
        let mut seen = Vec::new();
        let mut unknown = None;
        for alternative in &alternatives {
            match self.holds_at_the_end(alternative) {
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
        if let Some((first, second)) = line.split_once(" with ")
            && let (Some(first), Some(second)) =
                (self.holds_at_the_end(first), self.holds_at_the_end(second))
        {
            return Some(first.and_then(|first| Ok(first && second?)));
        }
        let (line, from_turn) = after_turn(line);
        let line = self.filled(&line);
        if let Some(state) = rows::condition(&line, self) {
            let moment = match from_turn {
                0 => self.recording.moments.last(),
                // The last moment of that turn.
                turn => self
                    .recording
                    .moments
                    .iter()
                    .rfind(|moment| moment.turn == turn),
            };
            return Some(state.and_then(|holds| {
                moment
                    .map(holds)
                    .ok_or_else(|| "nothing was played".to_owned())
            }));
        }
        self.words(&line)
    }

    /// Lines about calls, presses, replies and cards.
    fn words(&self, line: &str) -> Truth {
        calls::condition(line, self).or_else(|| replies::condition(line, self))
    }

    fn moments(&self, from_turn: usize) -> impl Iterator<Item = &Moment> {
        let moments = self.recording.moments.iter();
        moments.filter(move |moment| moment.turn >= from_turn)
    }

    /// The one who types first: whom a line means that names nobody.
    fn first_speaker(&self) -> &str {
        self.case
            .turns
            .first()
            .map_or("ilse", |entry| &entry.person)
    }

    fn filled(&self, line: &str) -> String {
        let actions = std::collections::BTreeMap::new();
        let names = Names {
            ids: &self.recording.ids,
            actions: &actions,
            panel_origin: "",
            cursor: None,
            speaker: self.first_speaker(),
        };
        names.fill(line)
    }
}

/// Takes ` after turn 2` off a line.
fn after_turn(line: &str) -> (String, usize) {
    let Some(at) = line.find(" after turn ") else {
        return (line.trim().to_owned(), 0);
    };
    let rest = &line[at + " after turn ".len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    match digits.parse() {
        Ok(turn) => (
            format!("{}{}", &line[..at], &rest[digits.len()..])
                .trim()
                .to_owned(),
            turn,
        ),
        Err(_) => (line.trim().to_owned(), 0),
    }
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
    fn the_turn_is_taken_off_a_line() {
        assert_eq!(
            after_turn("pending transfer 1.00 EUR to Bob after turn 2"),
            ("pending transfer 1.00 EUR to Bob".to_owned(), 2)
        );
        assert_eq!(after_turn("any entry"), ("any entry".to_owned(), 0));
    }

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
