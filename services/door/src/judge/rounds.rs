//! Calls of several rounds: a server answers that it needs more, and the client calls again with it.
//!
//! What the client brings back is an attacker's input: a state made up, kept from another call, or
//! another's. It passes only where the door saw the server hand out this state, or ask without one, to
//! this caller in this session about this tool with these arguments, and once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use countersign_policy::definition_pin;
use countersign_wire::{Frame, Value};
use sha2::{Digest as _, Sha256};

use super::asked::Asked;
use crate::caller::Caller;
use crate::clock;
use crate::door::Rules;
use crate::http::mirrored::STATELESS;

/// How long a client may take to bring what was asked for, in milliseconds.
const ROUND_MILLISECONDS: u64 = 900_000;
/// Most rounds that are open at once.
const ROUNDS_MAX: usize = 8_192;
/// Most questions in one answer.
const QUESTIONS_MAX: usize = 32;

/// A round that a client may go on with: who, in which session, what, with which state; hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Round([u8; 32]);

impl Round {
    /// The round of a call, `arguments` as they were written.
    pub fn of(
        caller: &Caller,
        server: &str,
        tool: &str,
        arguments: Option<&str>,
        state: Option<&str>,
    ) -> Self {
        let mut hasher = Sha256::new();
        let mut part = |text: Option<&str>| {
            // What is absent and what is empty differ.
            hasher.update([u8::from(text.is_some())]);
            let text = text.unwrap_or_default();
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        };
        // A client may write the same arguments in another order.
        let canonical = arguments.and_then(|text| Some(definition_pin(text).ok()?.to_string()));
        part(Some(&caller.identity));
        part(Some(&caller.session));
        part(Some(server));
        part(Some(tool));
        part(canonical.as_deref().or(arguments));
        part(state);
        Self(hasher.finalize().into())
    }
}

/// The rounds that are open.
#[derive(Debug, Default)]
pub struct Rounds(Mutex<HashMap<Round, Vec<u64>>>);

impl Rounds {
    /// Opens a round. When too many are open it is not, and its call is refused then.
    pub fn remember(&self, round: Round, now_milliseconds: u64) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= ROUNDS_MAX {
            open.retain(|_, ends| ends.iter().any(|end| *end > now_milliseconds));
        }
        if open.len() < ROUNDS_MAX || open.contains_key(&round) {
            let ends = open.entry(round).or_default();
            ends.retain(|end| *end > now_milliseconds);
            if ends.len() < QUESTIONS_MAX {
                ends.push(now_milliseconds + ROUND_MILLISECONDS);
            }
        }
    }

    /// Whether a round is open, which it is no more now.
    pub fn take(&self, round: &Round) -> bool {
        self.take_at(round, clock::monotonic_milliseconds())
    }

    fn take_at(&self, round: &Round, now_milliseconds: u64) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(ends) = open.get_mut(round) else {
            return false;
        };
        ends.retain(|end| *end > now_milliseconds);
        let taken = ends.pop().is_some();
        if ends.is_empty() {
            open.remove(round);
        }
        taken
    }
}

/// The arguments of a call that may take several rounds: those of the revision that has them.
pub fn kept(frame: &Frame<'_>, arguments: Option<Value<'_>>) -> Option<Box<str>> {
    let meta = frame.params()?.get("_meta")?;
    let version = meta.get("io.modelcontextprotocol/protocolVersion")?;
    if version.as_str()? != STATELESS {
        return None;
    }
    Some(arguments.map_or_else(Box::default, |arguments| arguments.raw().into()))
}

/// What an answer asks for, if it does.
pub struct Needs<'f> {
    state: Option<std::borrow::Cow<'f, str>>,
}

/// An answer that asks for what its client must not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read what a server needs: a question that the policy does not name, or no question")]
pub struct NotAsked;

/// Reads what the answer to a call needs. What it asks the client is the server's own question, and
/// only the methods that the policy names are.
///
/// # Errors
/// [`NotAsked`]; the answer is not shown then.
pub fn needs<'f>(
    rules: &Rules,
    caller: &Caller,
    frame: &'f Frame<'_>,
) -> Result<Option<Needs<'f>>, NotAsked> {
    let Some(result) = frame.root().get("result") else {
        return Ok(None);
    };
    let kind = result.get("resultType").and_then(|kind| kind.as_str());
    if kind.as_deref() != Some("input_required") {
        return Ok(None);
    }
    let groups = caller.group_names();
    let questions = result.get("inputRequests");
    let questions = questions
        .into_iter()
        .flat_map(|questions| questions.members());
    for (at, (_, question)) in questions.enumerate() {
        let method = question.get("method").and_then(|method| method.as_str());
        let is_named = method.is_some_and(|method| {
            let policy = &rules.policy;
            policy.names_method_for(&method, &caller.identity, &groups)
        });
        if !is_named || at >= QUESTIONS_MAX {
            return Err(NotAsked);
        }
    }
    let state = match result.get("requestState") {
        None => None,
        Some(state) => Some(state.as_str().ok_or(NotAsked)?),
    };
    Ok(Some(Needs { state }))
}

impl Needs<'_> {
    /// The round that goes on from here.
    pub fn round(&self, caller: &Caller, server: &str, asked: &Asked) -> Option<Round> {
        let tool = asked.tool.as_deref()?;
        let arguments = asked.arguments.as_deref()?;
        let arguments = (!arguments.is_empty()).then_some(arguments);
        Some(Round::of(
            caller,
            server,
            tool,
            arguments,
            self.state.as_deref(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_open_once_for_exactly_what_it_was_opened_for() {
        let rounds = Rounds::default();
        let ada = Caller::local("one");
        let of = |caller: &Caller, server, tool, arguments, state| {
            Round::of(caller, server, tool, arguments, state)
        };
        let opened = of(&ada, "s", "t", Some(r#"{"a":1,"b":2}"#), Some("x"));
        rounds.remember(opened, 0);
        let bob = Caller {
            identity: "bob".into(),
            ..Caller::local("one")
        };
        for other in [
            of(&bob, "s", "t", Some(r#"{"a":1,"b":2}"#), Some("x")),
            of(
                &Caller::local("two"),
                "s",
                "t",
                Some(r#"{"a":1,"b":2}"#),
                Some("x"),
            ),
            of(&ada, "r", "t", Some(r#"{"a":1,"b":2}"#), Some("x")),
            of(&ada, "s", "u", Some(r#"{"a":1,"b":2}"#), Some("x")),
            of(&ada, "s", "t", Some(r#"{"a":1,"b":3}"#), Some("x")),
            of(&ada, "s", "t", None, Some("x")),
            of(&ada, "s", "t", Some(r#"{"a":1,"b":2}"#), Some("y")),
            of(&ada, "s", "t", Some(r#"{"a":1,"b":2}"#), Some("")),
            of(&ada, "s", "t", Some(r#"{"a":1,"b":2}"#), None),
        ] {
            assert!(!rounds.take_at(&other, 1));
        }
        // The same arguments in another order are the same.
        let again = of(&ada, "s", "t", Some(r#"{ "b":2, "a":1}"#), Some("x"));
        assert!(rounds.take_at(&again, 1));
        assert!(!rounds.take_at(&again, 1), "once");
        rounds.remember(opened, 0);
        assert!(!rounds.take_at(&opened, ROUND_MILLISECONDS), "in time");
    }

    #[test]
    fn there_is_an_end_to_open_rounds() {
        let rounds = Rounds::default();
        let ada = Caller::local("one");
        let round = |number: usize| Round::of(&ada, "s", "t", None, Some(&number.to_string()));
        for number in 0..=ROUNDS_MAX {
            rounds.remember(round(number), 0);
        }
        assert!(!rounds.take_at(&round(ROUNDS_MAX), 1));
        assert!(rounds.take_at(&round(0), 1));
        // Those that are over make room.
        rounds.remember(round(ROUNDS_MAX), 2 * ROUND_MILLISECONDS);
        rounds.remember(round(ROUNDS_MAX + 1), 2 * ROUND_MILLISECONDS);
        assert!(rounds.take_at(&round(ROUNDS_MAX + 1), 2 * ROUND_MILLISECONDS));
    }
}
