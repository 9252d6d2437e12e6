//! A reply put together from its pieces. A call leaves it only when the whole reply has come.

use std::collections::{HashSet, VecDeque};

use countersign_wire::{Caps, Document};
use serde_json::{Map, Value};

use crate::{BadCall, Event, ModelError, ToolCall, Usage};

/// Most calls of one reply.
const CALLS_MAX: usize = 64;
/// Longest arguments of one call, in bytes.
const ARGUMENTS_BYTES_MAX: usize = 64 * 1024;
/// Longest name or id of a call, in bytes.
const NAME_BYTES_MAX: usize = 200;
/// Longest text of one reply, in bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// How a reply ended, as its provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    CutShort,
    Declined,
}

#[derive(Debug)]
struct Call {
    key: u64,
    id: String,
    tool: String,
    arguments: String,
}

/// The pieces so far.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    ready: VecDeque<Event>,
    calls: Vec<Call>,
    text_bytes: usize,
    usage: Usage,
    ending: Option<Ending>,
    closed: bool,
}

impl Assembly {
    /// The next words.
    pub(crate) fn text(&mut self, piece: &str) -> Result<(), ModelError> {
        self.still_open()?;
        self.text_bytes += piece.len();
        if self.text_bytes > TEXT_BYTES_MAX {
            return Err(ModelError::TooMuch);
        }
        if !piece.is_empty() {
            self.ready.push_back(Event::Text(piece.to_owned()));
        }
        Ok(())
    }

    /// A call begins; its pieces come under `key`. Without an id it gets one.
    pub(crate) fn call(
        &mut self,
        key: u64,
        id: Option<&str>,
        tool: &str,
    ) -> Result<(), ModelError> {
        self.still_open()?;
        if self.calls.len() >= CALLS_MAX {
            return Err(ModelError::TooMuch);
        }
        let id = match id {
            Some(id) if !id.is_empty() => id.to_owned(),
            _ => format!("call_{}", self.calls.len() + 1),
        };
        let fits = |text: &str| {
            !text.is_empty()
                && text.len() <= NAME_BYTES_MAX
                && text.bytes().all(|b| b.is_ascii_graphic())
        };
        if !fits(&id) || !fits(tool) {
            return Err(ModelError::Malformed);
        }
        self.calls.push(Call {
            key,
            id,
            tool: tool.to_owned(),
            arguments: String::new(),
        });
        Ok(())
    }

    /// More of the arguments of the newest call under `key`.
    pub(crate) fn arguments(&mut self, key: u64, piece: &str) -> Result<(), ModelError> {
        self.still_open()?;
        let call = self
            .calls
            .iter_mut()
            .rfind(|call| call.key == key)
            .ok_or(ModelError::Malformed)?;
        if call.arguments.len() + piece.len() > ARGUMENTS_BYTES_MAX {
            return Err(ModelError::TooMuch);
        }
        call.arguments.push_str(piece);
        Ok(())
    }

    /// The id of the newest call under `key`.
    pub(crate) fn id_of(&self, key: u64) -> Option<&str> {
        self.calls
            .iter()
            .rfind(|call| call.key == key)
            .map(|call| call.id.as_str())
    }

    /// Tokens read, as the provider counts; the newest count stands.
    pub(crate) fn input_tokens(&mut self, tokens: Option<u64>) {
        self.usage.input_tokens = tokens.unwrap_or(self.usage.input_tokens);
    }

    /// Tokens written.
    pub(crate) fn output_tokens(&mut self, tokens: Option<u64>) {
        self.usage.output_tokens = tokens.unwrap_or(self.usage.output_tokens);
    }

    /// The provider says how the reply ended. Counts may still come; words and calls may not.
    pub(crate) fn ends(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }

    /// Whether the provider has said how the reply ended.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ending.is_some()
    }

    /// Closes the reply: hands out its calls, if it is whole.
    pub(crate) fn close(&mut self) -> Result<(), ModelError> {
        if self.closed {
            return Ok(());
        }
        let ending = self.ending.ok_or(ModelError::Malformed)?;
        let calls = std::mem::take(&mut self.calls);
        if ending == Ending::Complete {
            let mut ids = HashSet::new();
            // An answer could not be told from another's.
            if !calls.iter().all(|call| ids.insert(call.id.clone())) {
                return Err(ModelError::Malformed);
            }
            for Call {
                id,
                tool,
                arguments,
                ..
            } in calls
            {
                self.ready.push_back(match object(&arguments) {
                    Some(arguments) => Event::Call(ToolCall {
                        id,
                        tool,
                        arguments,
                    }),
                    None => Event::BadCall(BadCall { id, tool }),
                });
            }
        }
        if self.usage != Usage::default() {
            self.ready.push_back(Event::Usage(self.usage));
        }
        self.ready.push_back(match ending {
            Ending::Complete => Event::Done,
            Ending::CutShort => Event::CutShort,
            Ending::Declined => Event::Declined,
        });
        self.closed = true;
        Ok(())
    }

    /// The next event to hand out.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn still_open(&self) -> Result<(), ModelError> {
        if self.ending.is_some() {
            return Err(ModelError::Malformed);
        }
        Ok(())
    }
}

/// Arguments as an object; nothing stands for none. Read strictly: of two members of one name neither is taken.
fn object(text: &str) -> Option<Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    Document::read(text.as_bytes(), &Caps::ANSWER).ok()?;
    match serde_json::from_str(text).ok()? {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(assembly: &mut Assembly) -> Vec<Event> {
        std::iter::from_fn(|| assembly.next()).collect()
    }

    fn with_calls(calls: &[(&str, &str)], ending: Ending) -> Result<Vec<Event>, ModelError> {
        let mut assembly = Assembly::default();
        for (key, (id, arguments)) in (0..).zip(calls) {
            assembly.call(key, Some(id), "request_transfer")?;
            for piece in arguments.as_bytes().chunks(3) {
                assembly.arguments(key, std::str::from_utf8(piece).unwrap())?;
            }
        }
        assembly.ends(ending);
        assembly.close()?;
        Ok(events(&mut assembly))
    }

    #[test]
    fn calls_of_a_cut_reply_are_not_handed_out() {
        for ending in [Ending::CutShort, Ending::Declined] {
            let events =
                with_calls(&[("a", "{\"payments\":[]}"), ("b", "{\"pay")], ending).unwrap();
            assert_eq!(events.len(), 1, "{events:?}");
        }
        assert_eq!(
            with_calls(&[("a", "{}")], Ending::Complete).unwrap().len(),
            2
        );
    }

    #[test]
    fn arguments_that_are_no_one_object_are_a_bad_call() {
        for bad in [
            "{\"a\":",
            "[]",
            "\"x\"",
            "{} {}",
            "{\"a\":1,\"a\":2}",
            "nil",
        ] {
            let events = with_calls(&[("a", bad)], Ending::Complete).unwrap();
            assert!(
                matches!(&events[0], Event::BadCall(call) if call.id == "a"),
                "{bad}: {events:?}"
            );
        }
        for good in ["", "  ", "{}", "{\"a\":[1,{\"b\":\"c\"}]}"] {
            let events = with_calls(&[("a", good)], Ending::Complete).unwrap();
            assert!(matches!(&events[0], Event::Call(_)), "{good}: {events:?}");
        }
    }

    #[test]
    fn two_calls_of_one_id_are_no_reply() {
        assert_eq!(
            with_calls(&[("a", "{}"), ("a", "{}")], Ending::Complete),
            Err(ModelError::Malformed)
        );
    }

    #[test]
    fn nothing_grows_without_bound_and_nothing_follows_the_end() {
        let mut assembly = Assembly::default();
        let piece = "x".repeat(10_000);
        assert_eq!(
            (0..100).find_map(|_| assembly.text(&piece).err()),
            Some(ModelError::TooMuch)
        );
        assert_eq!(
            (0..100).find_map(|key| assembly.call(key, None, "t").err()),
            Some(ModelError::TooMuch)
        );
        assert_eq!(
            (0..100).find_map(|_| assembly.arguments(0, &piece).err()),
            Some(ModelError::TooMuch)
        );
        assert_eq!(assembly.arguments(999, "{}"), Err(ModelError::Malformed));
        let mut assembly = Assembly::default();
        assert_eq!(assembly.close(), Err(ModelError::Malformed));
        assembly.ends(Ending::Complete);
        assert_eq!(assembly.text("more"), Err(ModelError::Malformed));
        assert_eq!(assembly.call(0, None, "t"), Err(ModelError::Malformed));
    }
}
