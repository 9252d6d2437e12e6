//! The door's own question for the definitions of a server, page after page.

use std::time::{Duration, Instant};

use countersign_wire::Frame;

use super::{Session, To};
use crate::clock;
use crate::judge::asked::Key;
use crate::judge::ending::Ending;
use crate::judge::lists::{self, Answered, Entry};
use crate::judge::message::{Message, record_own_question};
use crate::judge::methods::TOOLS;
use crate::judge::refusal::{Code, Refusal};

/// Most pages of one list.
const PAGES_MAX: usize = 64;
/// How long the server may take for one page.
const PAGE_TIME: Duration = Duration::from_secs(10);

/// A list that is being read.
pub struct Reading {
    key: Key,
    ending: Ending,
    entries: Vec<Entry>,
    pages: usize,
    since: Instant,
}

impl Reading {
    /// Whether this is the id of the question that is open.
    pub fn is_asked_under(&self, key: &Key) -> bool {
        self.key == *key
    }

    /// Whether the server took too long.
    pub fn is_late(&self) -> bool {
        self.since.elapsed() > PAGE_TIME
    }
}

impl Session {
    /// Asks for the definitions, unless the question is open already.
    pub(super) fn read_definitions(&self) {
        if self.state().reading.is_none() {
            self.ask_for_page(None, Vec::new(), 0);
        }
    }

    fn ask_for_page(&self, cursor: Option<&str>, entries: Vec<Entry>, pages: usize) {
        let mut state = self.state();
        let id = state.next_own_id();
        let question = question(&id, cursor, state.handshake.stateless_meta());
        let recorded =
            record_own_question(&self.door, &self.caller, self.server, question.as_bytes());
        match recorded {
            Ok((_, ending)) => {
                state.reading = Some(Reading {
                    key: Key::Text(id.into()),
                    ending,
                    entries,
                    pages: pages + 1,
                    since: Instant::now(),
                });
                drop(state);
                self.back.put(question.as_bytes());
            }
            Err(_) => {
                drop(state);
                self.definitions_are_read(false);
            }
        }
    }

    /// Takes the answer to the door's own question.
    pub(super) fn take_page(&self, frame: &Frame<'_>, bytes: &[u8]) {
        let Some(mut reading) = self.state().reading.take() else {
            return;
        };
        reading.ending.answered(bytes.len() as u64);
        let page = match lists::read(frame, TOOLS, &self.door.rules().screens) {
            Ok(Answered::Page(page)) => page,
            Ok(Answered::Error) | Err(_) => {
                tracing::warn!(server = %self.server_name(), "The tools behind the door cannot be listed");
                return self.definitions_are_read(false);
            }
        };
        reading.entries.extend(page.entries);
        match page.next_cursor {
            Some(_) if reading.pages >= PAGES_MAX => self.definitions_are_read(false),
            Some(cursor) => {
                self.ask_for_page(Some(&cursor), reading.entries, reading.pages);
            }
            None => {
                let now = clock::monotonic_milliseconds();
                let catalogue = &self.door.servers[self.server].catalogue;
                let changed = catalogue.replace(&reading.entries, now);
                let noted = self.door.note_changes(self.server, &changed);
                if let Err(error) = &noted {
                    tracing::error!(%error, "Could not record a changed definition");
                    catalogue.forget();
                }
                self.definitions_are_read(noted.is_ok());
            }
        }
    }

    /// Judges what waited for the definitions, or refuses it when there are none.
    pub(super) fn definitions_are_read(&self, is_good: bool) {
        self.state().is_unparking = true;
        loop {
            let parked = {
                let mut state = self.state();
                state.reading = None;
                let Some(parked) = state.parked.pop_front() else {
                    state.is_unparking = false;
                    return;
                };
                parked
            };
            if is_good {
                self.take(&parked.message, parked.key, parked.edits, parked.is_second);
                continue;
            }
            let frame = Frame::read(&parked.message).ok();
            let message = Message::new(&self.door, &self.caller, self.server, &parked.message);
            let refusal = Refusal::new(Code::Blocked, "definitions_unavailable");
            let refusal = match message {
                Ok(message) => message.refuse(frame.as_ref(), "pin", refusal),
                Err(not_recorded) => not_recorded,
            };
            let id = frame.as_ref().and_then(|frame| frame.id_raw());
            if let Some(key) = &parked.key {
                let answer = refusal.json(id);
                self.front.put(To::Answer(key), answer.as_bytes());
            }
        }
    }
}

/// The question for a page of tools. `meta` is what the revision without sessions wants to be told with every
/// message.
fn question(id: &str, cursor: Option<&str>, meta: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, serde_json::Value::from(cursor)));
    let meta = meta.map(|meta| format!(r#""_meta":{meta}"#));
    let params: Vec<_> = [cursor, meta].into_iter().flatten().collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/list","params":{{{}}}}}"#,
        params.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doors_own_question_is_one_it_would_read_itself() {
        for meta in [None, Some(r#"{"a":1}"#)] {
            for cursor in [None, Some("a\"b\n")] {
                let body = question("door-1", cursor, meta);
                let frame = Frame::read(body.as_bytes()).unwrap();
                assert_eq!(frame.method(), Some("tools/list"));
                let found = frame.params().and_then(|params| params.get("cursor"));
                assert_eq!(found.and_then(|value| value.as_str()).as_deref(), cursor);
            }
        }
    }
}
