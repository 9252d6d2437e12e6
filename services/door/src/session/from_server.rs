//! What the server says.

use countersign_wire::{Frame, Kind, Value};

use super::lifecycle::QUESTIONS_MAX;
use super::{Answered, Question, Session, To};
use crate::judge::asked::Key;
use crate::judge::edits::Edits;
use crate::judge::refusal::{Code, Refusal};
use crate::judge::reply;

/// Where a notification names the question that asked for it.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Session {
    /// Takes a message of the server's. What comes of it is sent by [`Session::flush_answers`]; how
    /// calls ended is noted when `answered` is dropped after that.
    pub fn take_from_server(&self, bytes: &[u8], answered: &mut Answered) {
        let Ok(frame) = reply::read(bytes) else {
            return self.note_unreadable("is no message");
        };
        match frame.kind() {
            Kind::Answer => self.take_reply(&frame, bytes, answered),
            Kind::Notification => {
                let judged = reply::judge_notification(&self.door, self.server, &frame, bytes);
                if let Some(shown) = judged {
                    self.put_notification(&frame, &shown);
                }
            }
            Kind::Request => {
                answered.had_more = true;
                self.take_question(&frame, bytes);
            }
        }
    }

    fn note_unreadable(&self, what: &str) {
        let mut state = self.state();
        state.unreadable += 1;
        let count = state.unreadable;
        drop(state);
        if reply::is_worth_a_word(count) {
            let server = self.server_name();
            tracing::warn!(%server, count, "A line of {server} {what} and is not passed on");
        }
    }

    fn take_reply(&self, frame: &Frame<'_>, bytes: &[u8], answered: &mut Answered) {
        let Some(key) = frame.id().map(Key::from) else {
            return;
        };
        let mut state = self.state();
        if state
            .reading
            .as_ref()
            .is_some_and(|reading| reading.is_asked_under(&key))
        {
            drop(state);
            answered.had_more = true;
            return self.take_page(frame, bytes);
        }
        if state.handshake.is_replayed_under(&key) {
            drop(state);
            answered.had_more = true;
            return self.take_replayed(frame);
        }
        let Some(mut asked) = state.open.take(&key) else {
            drop(state);
            return self.note_unreadable("answers what nobody asked");
        };
        drop(state);
        match reply::judge_answer(&self.door, &self.caller, &asked, frame, bytes) {
            Ok(shown) => {
                asked.ending.answered(bytes.len() as u64);
                self.front.put(To::Answer(&key), &shown);
            }
            Err(refusal) => {
                asked.ending.failed();
                let answer = refusal.json(Some(&asked.id));
                self.front.put(To::Answer(&key), answer.as_bytes());
            }
        }
        answered.calls.push(asked);
    }

    /// Passes a notification on to whoever it is about, under the name they know it by.
    fn put_notification(&self, frame: &Frame<'_>, bytes: &[u8]) {
        let about = match frame.method() {
            Some("notifications/progress") => frame
                .params()
                .and_then(|params| params.get("progressToken")),
            _ => frame
                .params()
                .and_then(|params| params.get("_meta"))
                .and_then(|meta| meta.get(SUBSCRIPTION)),
        };
        let Some((about, key)) = about.and_then(|about| Some((about, key_of(about)?))) else {
            return self.front.put(To::Client, bytes);
        };
        let mut edits = Edits::NONE;
        let state = self.state();
        if self.ids.is_some() && state.open.get(&key).is_none() {
            drop(state);
            // One server has nothing to say about what another was asked.
            return self.note_unreadable("is about what nobody asked of it");
        }
        if let Some(asked) = state.open.get(&key) {
            let written = match frame.method() {
                Some("notifications/progress") => asked.progress.as_deref(),
                _ => Some(&*asked.id),
            };
            if let Some(written) = written.filter(|written| *written != about.raw()) {
                edits.replace(about.span(), written);
            }
        }
        drop(state);
        self.front.put(To::About(&key), &edits.apply(bytes));
    }

    fn take_question(&self, frame: &Frame<'_>, bytes: &[u8]) {
        let Some((key, raw)) = frame.id().map(Key::from).zip(frame.id_raw()) else {
            return;
        };
        match reply::judge_question(&self.door, &self.caller, self.server, frame, bytes) {
            Ok(shown) => {
                let own = self
                    .ids
                    .as_ref()
                    .map(|ids| format!("server-{}", ids.next()));
                let meta = frame.params().and_then(|params| params.get("_meta"));
                let question = Question {
                    id: own.as_ref().map(|_| raw.into()),
                    progress: meta.and_then(|meta| key_of(meta.get("progressToken")?)),
                };
                let key = own.as_deref().map_or(key, |own| Key::Text(own.into()));
                let mut state = self.state();
                if state.questions.len() < QUESTIONS_MAX {
                    state.questions.insert(key, question);
                    drop(state);
                    match own {
                        None => self.front.put(To::Client, &shown),
                        Some(own) => self.front.put(To::Client, &renamed(&shown, &own)),
                    }
                } else {
                    drop(state);
                    let refusal = Refusal::new(Code::Blocked, "too_many_in_flight");
                    self.back.put(refusal.json(Some(raw)).as_bytes());
                }
            }
            Err(refusal) => self.back.put(refusal.json(Some(raw)).as_bytes()),
        }
    }
}

/// A message under another id. What cannot be read any more was judged all the same: it stays.
fn renamed(message: &[u8], id: &str) -> Vec<u8> {
    let mut edits = Edits::NONE;
    if let Ok(frame) = reply::read(message)
        && let Some(written) = frame.root().get("id")
    {
        edits.replace(written.span(), format!("\"{id}\""));
    }
    edits.apply(message).into_owned()
}

/// The id or token that a value is, if it is one.
pub fn key_of(value: Value<'_>) -> Option<Key> {
    match value.as_str() {
        Some(text) => Some(Key::Text((*text).into())),
        None => value.as_exact_integer().map(Key::Integer),
    }
}
