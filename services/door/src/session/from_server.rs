//! What the server says.

use std::borrow::Cow;

use countersign_wire::{Frame, Kind};

use super::lifecycle::QUESTIONS_MAX;
use super::{Answered, Session, To};
use crate::judge::asked::Key;
use crate::judge::refusal::{Code, Refusal};
use crate::judge::reply;

impl Session {
    /// Takes a message of the server's. What comes of it is sent by [`Session::flush`]; how calls
    /// ended is written when `answered` is dropped after that.
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
            Kind::Request => self.take_question(&frame, bytes),
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
            return self.take_page(frame, bytes);
        }
        if state.handshake.is_replayed_under(&key) {
            drop(state);
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
                let shown = under_the_id_as_written(frame, &asked.id, bytes, shown);
                self.front.put(To::Answer(&key), &shown);
            }
            Err(refusal) => {
                asked.ending.failed();
                let answer = refusal.json(Some(&asked.id));
                self.front.put(To::Answer(&key), answer.as_bytes());
            }
        }
        answered.0.push(asked);
    }

    fn put_notification(&self, frame: &Frame<'_>, bytes: &[u8]) {
        let token = frame
            .params()
            .filter(|_| frame.method() == Some("notifications/progress"))
            .and_then(|params| params.get("progressToken"))
            .and_then(|token| {
                token
                    .as_str()
                    .map(|text| Key::Text((*text).into()))
                    .or_else(|| token.as_exact_integer().map(Key::Integer))
            });
        match &token {
            Some(token) => self.front.put(To::Progress(token), bytes),
            None => self.front.put(To::Client, bytes),
        }
    }

    fn take_question(&self, frame: &Frame<'_>, bytes: &[u8]) {
        let Some((key, raw)) = frame.id().map(Key::from).zip(frame.id_raw()) else {
            return;
        };
        match reply::judge_question(&self.door, &self.caller, self.server, frame, bytes) {
            Ok(shown) => {
                let mut state = self.state();
                if state.questions.len() < QUESTIONS_MAX {
                    state.questions.insert(key);
                    drop(state);
                    self.front.put(To::Client, &shown);
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

/// A client that compares ids by their spelling gets its own back.
fn under_the_id_as_written<'b>(
    frame: &Frame<'_>,
    id: &str,
    bytes: &'b [u8],
    shown: Cow<'b, [u8]>,
) -> Cow<'b, [u8]> {
    match (frame.root().get("id"), &shown) {
        (Some(found), Cow::Borrowed(_)) if found.raw() != id => {
            let mut edits = crate::judge::edits::Edits::NONE;
            edits.replace(found.span(), id);
            edits.apply(bytes)
        }
        _ => shown,
    }
}
