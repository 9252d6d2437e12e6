//! What the client says.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_journal::Mode;
use countersign_policy::Counted;
use countersign_wire::{Frame, Kind};

use super::{PARKED_MAX, Parked, Session, Staged, To};
use crate::judge::asked::{Key, NotOpened};
use crate::judge::edits::Edits;
use crate::judge::hold::Decided;
use crate::judge::message::{Message, OnHold, Passage, Ruling};
use crate::judge::refusal::{Code, Refusal};

impl Session {
    /// Takes a message of the client's. What comes of it is sent by [`Session::flush`].
    pub fn take_from_client(&self, bytes: &[u8]) {
        self.take(bytes, None, Edits::NONE, false);
    }

    /// Takes a message that the server is asked under another id, which is the door's own: several
    /// clients share the server.
    pub fn take_from_client_as(&self, bytes: &[u8], key: Key) {
        self.take(bytes, Some(key), Edits::NONE, false);
    }

    /// As [`Session::take_from_client_as`], with more that changes on its way: what it names has
    /// another name at this server.
    pub fn take_edited(&self, bytes: &[u8], key: Option<Key>, edits: Edits) {
        self.take(bytes, key, edits, false);
    }

    /// Takes the client's word that it no longer waits for what the server is asked under this id.
    pub fn take_cancellation(&self, bytes: &[u8], key: &Key) {
        let mut edits = Edits::NONE;
        let frame = Frame::read(bytes);
        let frame = frame.as_ref().ok();
        let named = frame.and_then(|frame| frame.params()?.get("requestId"));
        if let (Some(named), Key::Integer(number)) = (named, key) {
            edits.replace(named.span(), number.to_string());
        }
        self.forget(key);
        self.take(bytes, None, edits, false);
    }

    /// Whether the client was shown a question under this id and has not answered it.
    pub fn has_question(&self, key: &Key) -> bool {
        self.state().questions.contains_key(key)
    }

    /// Whether the server wants to hear under this token how a question of its own goes.
    pub fn wants_news_under(&self, token: &Key) -> bool {
        let state = self.state();
        let mut questions = state.questions.values();
        questions.any(|question| question.progress.as_ref() == Some(token))
    }

    /// Nobody waits for the answer any more: the client hung up.
    pub fn abandon(&self, key: &Key) {
        let (was_open, held) = {
            let mut state = self.state();
            state
                .parked
                .retain(|parked| parked.key.as_ref() != Some(key));
            (state.open.take(key), state.held.remove(key))
        };
        if let (Some(call), Some(holds)) = (held, self.door.holds()) {
            holds.withdraw(&call);
        }
        if was_open.is_some() {
            let id = match key {
                Key::Integer(number) => number.to_string(),
                Key::Text(text) => serde_json::Value::from(&**text).to_string(),
            };
            self.back.put(
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                )
                .as_bytes(),
            );
        }
    }

    /// The client wrote a line that is longer than a message may be.
    pub fn refuse_long_message(&self) {
        if let Ok(message) = self.message(b"") {
            let refusal = Refusal::malformed(-32_600, "too_long");
            self.refuse(None, None, &message.refuse(None, "frame", refusal));
        }
    }

    fn message<'m>(&'m self, bytes: &'m [u8]) -> Result<Message<'m>, Refusal> {
        Message::new(&self.door, &self.caller, self.server, bytes)
    }

    pub(super) fn take(&self, bytes: &[u8], key: Option<Key>, edits: Edits, is_second: bool) {
        let message = match self.message(bytes) {
            Ok(message) => message,
            Err(refusal) => return self.refuse(None, key, &refusal),
        };
        if self.counts_messages && message.count() != Counted::Within {
            let refusal = Refusal::new(Code::Blocked, "flood");
            let frame = Frame::read(bytes);
            return self.refuse(frame.as_ref().ok(), key, &refusal);
        }
        let frame = match Frame::read(bytes) {
            Ok(frame) => frame,
            Err(error) => {
                let refusal = message.malformed(&error);
                let answer = refusal.json(error.id.as_deref());
                let to = key.as_ref().map_or(To::Client, To::Answer);
                return self.front.put(to, answer.as_bytes());
            }
        };
        let taken = match frame.kind() {
            Kind::Answer => self.take_answer(&message, &frame),
            Kind::Notification => self.take_notification(&message, &frame, edits),
            Kind::Request => self.take_request(&message, &frame, key.clone(), edits, is_second),
        };
        if let Err(refusal) = taken {
            self.refuse(Some(&frame), key, &refusal);
        }
    }

    /// Answers a request with a refusal. Nothing else is answered, besides what could not be read.
    fn refuse(&self, frame: Option<&Frame<'_>>, key: Option<Key>, refusal: &Refusal) {
        let Some(frame) = frame else {
            let to = key.as_ref().map_or(To::Client, To::Answer);
            return self.front.put(to, refusal.json(None).as_bytes());
        };
        if frame.kind() != Kind::Request {
            return;
        }
        if let Some(key) = key.or_else(|| frame.id().map(Key::from)) {
            let answer = refusal.json(frame.id_raw());
            self.front.put(To::Answer(&key), answer.as_bytes());
        }
    }

    /// An answer passes when the server asked.
    fn take_answer(&self, message: &Message<'_>, frame: &Frame<'_>) -> Result<(), Refusal> {
        let holds = self.door.holds();
        if holds.is_some_and(|holds| holds.take_answer(&self.caller.identity, frame)) {
            return Ok(());
        }
        let asked = frame
            .id()
            .and_then(|id| self.state().questions.remove(&Key::from(id)));
        let Some(asked) = asked else {
            let refusal = Refusal::malformed(-32_600, "answer_not_asked_for");
            return Err(message.refuse(Some(frame), "frame", refusal));
        };
        message.pass_answer(frame)?;
        let mut edits = Edits::NONE;
        if let Some((written, id)) = asked.id.zip(frame.root().get("id")) {
            edits.replace(id.span(), written.as_bytes());
        }
        self.back.put(&edits.apply(message.bytes));
        Ok(())
    }

    fn take_notification(
        &self,
        message: &Message<'_>,
        frame: &Frame<'_>,
        edits: Edits,
    ) -> Result<(), Refusal> {
        let mut passage = match message.judge(frame) {
            Ruling::Pass(passage) => passage,
            Ruling::Refuse(refusal) => return Err(refusal),
            Ruling::Hold(passage, on_hold) => {
                passage.never_went_on(&self.door);
                return Err(on_hold.refusal);
            }
            Ruling::ReadDefinitions => return Ok(()),
        };
        match frame.method() {
            Some("notifications/initialized") => self.state().handshake.initialized(),
            // Where ids are the door's own, whoever made them has forgotten this one already.
            Some("notifications/cancelled") if self.ids.is_none() => self.cancel(frame),
            _ => {}
        }
        passage.edits.extend(edits);
        self.pass_on(message, None, passage);
        Ok(())
    }

    /// The client no longer waits for an answer: whatever comes all the same is not passed on.
    fn cancel(&self, frame: &Frame<'_>) {
        let id = frame
            .params()
            .and_then(|params| params.get("requestId"))
            .and_then(|id| {
                id.as_str()
                    .map(|text| Key::Text((*text).into()))
                    .or_else(|| id.as_exact_integer().map(Key::Integer))
            });
        if let Some(key) = id {
            self.forget(&key);
        }
    }

    /// Nobody waits for this any more: its answer would not be passed on.
    fn forget(&self, key: &Key) {
        let mut state = self.state();
        let cancelled = state.open.take(key);
        state
            .parked
            .retain(|parked| parked.key.as_ref() != Some(key));
        let held = state.held.remove(key);
        drop(state);
        drop(cancelled);
        if let (Some(call), Some(holds)) = (held, self.door.holds()) {
            holds.withdraw(&call);
        }
    }

    fn take_request(
        &self,
        message: &Message<'_>,
        frame: &Frame<'_>,
        key: Option<Key>,
        edits: Edits,
        is_second: bool,
    ) -> Result<(), Refusal> {
        let is_renamed = key.is_some();
        let Some(key) = key.or_else(|| frame.id().map(Key::from)) else {
            return Ok(());
        };
        self.check_id(message, frame, &key)?;
        if !is_second && frame.method() == Some("tools/call") && self.state().has_parked() {
            return self.park(message, frame, key, edits, false);
        }
        let mut ruling = message.judge(frame);
        if let Ruling::Pass(passage) | Ruling::Hold(passage, _) = &mut ruling {
            if is_renamed {
                rename(frame, &key, passage);
            }
            passage.edits.extend(edits.clone());
        }
        match ruling {
            Ruling::Pass(passage) => {
                self.forward(message, frame, key, passage);
                Ok(())
            }
            Ruling::Refuse(refusal) => Err(refusal),
            Ruling::Hold(passage, on_hold) => self.hold(message, frame, key, passage, on_hold),
            Ruling::ReadDefinitions => self.park(message, frame, key, edits, is_second),
        }
    }

    fn check_id(&self, message: &Message<'_>, frame: &Frame<'_>, key: &Key) -> Result<(), Refusal> {
        let mut state = self.state();
        let waits = state.held.contains_key(key)
            || state
                .parked
                .iter()
                .any(|parked| parked.key.as_ref() == Some(key));
        let checked = match waits {
            true => Err(NotOpened::IdInUse),
            false => state.open.check(key),
        };
        let is_down = state.is_down;
        if is_down && frame.method() == Some("initialize") {
            // It is said again when the server comes up.
            state.handshake.note_request(frame, message.bytes);
        }
        drop(state);
        let refusal = match checked {
            Ok(()) if !is_down => return Ok(()),
            Ok(()) => Refusal::new(Code::Upstream, "unreachable"),
            Err(NotOpened::IdInUse) => Refusal::malformed(-32_600, "id_in_use"),
            Err(NotOpened::TooMany) => Refusal::new(Code::Blocked, "too_many_in_flight"),
        };
        Err(message.refuse(Some(frame), "frame", refusal))
    }

    fn forward(&self, message: &Message<'_>, frame: &Frame<'_>, key: Key, passage: Passage) {
        let mut passage = passage;
        let mut state = self.state();
        if let Some(asked) = passage.asked.take() {
            // Before the server can have it: the answer may be there at once.
            state.open.insert(key.clone(), asked);
        }
        state.handshake.note_request(frame, message.bytes);
        drop(state);
        self.pass_on(message, Some(key), passage);
    }

    /// Passes a message on, when its line is settled.
    fn pass_on(&self, message: &Message<'_>, key: Option<Key>, passage: Passage) {
        let bytes = passage.edits.apply(message.bytes);
        match passage.ticket {
            None => self.back.put(&bytes),
            Some(ticket) => self.staged().push(Staged {
                ticket,
                key,
                message: bytes.into_owned(),
                counted: passage.counted,
            }),
        }
    }

    fn staged(&self) -> std::sync::MutexGuard<'_, Vec<Staged>> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles the lines of what was taken in together, and passes it on.
    pub(super) fn settle_staged(&self) {
        let _one_at_a_time = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        // What comes while the disk works waits for the next round.
        let mut staged = std::mem::take(&mut *self.staged());
        let Some(last) = staged.last() else { return };
        let last = last.ticket;
        let together = match self.door.log.mode() {
            Mode::SignEach => None,
            Mode::Written | Mode::Durable => Some(self.door.settle(&last).is_ok()),
        };
        for staged in staged.drain(..) {
            let is_settled = match together {
                Some(is_settled) => is_settled && staged.ticket.is_settled_with(&last),
                None => self.door.settle(&staged.ticket).is_ok(),
            };
            if is_settled {
                self.back.put(&staged.message);
                continue;
            }
            self.door.caps.give_back(staged.counted);
            let asked = staged.key.and_then(|key| {
                let asked = self.state().open.take(&key)?;
                Some((key, asked))
            });
            if let Some((key, asked)) = asked {
                let refusal = Refusal::new(Code::NotRecorded, "not_recorded");
                let answer = refusal.json(Some(&asked.id));
                asked.ending.never_went_on();
                self.front.put(To::Answer(&key), answer.as_bytes());
            }
        }
    }

    /// Leaves a call with whoever asks a person.
    fn hold(
        &self,
        message: &Message<'_>,
        frame: &Frame<'_>,
        key: Key,
        passage: Passage,
        on_hold: OnHold,
    ) -> Result<(), Refusal> {
        let Some(holds) = self.door.holds() else {
            passage.never_went_on(&self.door);
            return Err(on_hold.refusal);
        };
        let bytes = passage.edits.clone().apply(message.bytes).into_owned();
        let (tool, leaf) = (passage.tool(), passage.leaf);
        let mut held = message.held(frame, tool.as_deref(), &on_hold, leaf, &bytes);
        held.client_takes_questions = self.state().handshake.takes_questions();
        self.state().held.insert(key.clone(), message.call);
        let waiting = Arc::new(Mutex::new(Some((passage, bytes.clone()))));
        let take = |waiting: &Mutex<Option<(Passage, Vec<u8>)>>| {
            waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
        };
        let (me, slot, its_key) = (self.me.clone(), Arc::clone(&waiting), key.clone());
        let tell = Box::new(move |decided| {
            if let (Some(session), Some((passage, bytes))) = (me.upgrade(), take(&slot)) {
                session.decided(&its_key, passage, &bytes, decided);
                session.flush();
            }
        });
        holds.hold(&held, tell).inspect_err(|_| {
            self.state().held.remove(&key);
            if let Some((passage, _)) = take(&waiting) {
                passage.never_went_on(&self.door);
            }
        })?;
        if let Some(question) = holds.question(&message.call) {
            self.front.put(To::Client, question.as_bytes());
        }
        Ok(())
    }

    /// A person decided about a held call.
    fn decided(&self, key: &Key, passage: Passage, bytes: &[u8], decided: Decided) {
        if self.state().held.remove(key).is_none() {
            // It was taken back in the meantime.
            return passage.never_went_on(&self.door);
        }
        let id = passage.asked.as_ref().map(|asked| asked.id.clone());
        let refusal = match decided {
            Decided::Released(leaf) => {
                let passage = passage.under(leaf, &self.door);
                let mut state = self.state();
                if state.is_down {
                    drop(state);
                    passage.never_went_on(&self.door);
                    Refusal::new(Code::Upstream, "unreachable").with_receipt(leaf)
                } else {
                    if let Some(asked) = passage.asked {
                        state.open.insert(key.clone(), asked);
                    }
                    drop(state);
                    return self.back.put(bytes);
                }
            }
            Decided::Refused(refusal) => {
                passage.never_went_on(&self.door);
                refusal
            }
        };
        let answer = refusal.json(id.as_deref());
        self.front.put(To::Answer(key), answer.as_bytes());
    }

    /// Keeps a message until the definitions are there, and asks for them.
    fn park(
        &self,
        message: &Message<'_>,
        frame: &Frame<'_>,
        key: Key,
        edits: Edits,
        is_second: bool,
    ) -> Result<(), Refusal> {
        let mut state = self.state();
        if is_second || state.parked.len() >= PARKED_MAX {
            drop(state);
            let refusal = Refusal::new(Code::Blocked, "definitions_unavailable");
            return Err(message.refuse(Some(frame), "pin", refusal));
        }
        state.parked.push_back(Parked {
            message: message.bytes.to_vec(),
            key: Some(key),
            edits,
            is_second: true,
        });
        state.handshake.note_request(frame, message.bytes);
        let will_be_judged = state.is_unparking;
        drop(state);
        if !will_be_judged {
            self.read_definitions();
        }
        Ok(())
    }
}

/// The edits that let several clients share a server: another id, and the same in the place of the
/// token for news of how it goes.
fn rename(frame: &Frame<'_>, key: &Key, passage: &mut Passage) {
    let Key::Integer(number) = key else { return };
    let number = number.to_string();
    if let Some(id) = frame.root().get("id") {
        passage.edits.replace(id.span(), number.as_str());
    }
    let meta = frame.params().and_then(|params| params.get("_meta"));
    if let Some(token) = meta.and_then(|meta| meta.get("progressToken")) {
        passage.edits.replace(token.span(), number.as_str());
        if let Some(asked) = &mut passage.asked {
            asked.progress = Some(token.raw().into());
        }
    }
}
