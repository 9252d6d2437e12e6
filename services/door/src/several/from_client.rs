//! What the client says to several servers.

use countersign_wire::{Frame, Kind, Value};

use super::gather::{self, Gather};
use super::route::Way;
use super::{Asked, Part, Several};
use crate::judge::asked::{ASKED_MAX, Key};
use crate::judge::edits::Edits;
use crate::judge::message::Message;
use crate::judge::refusal::{Code, Refusal};
use crate::session::{To, key_of};

impl Several {
    /// Takes a message of the client's. What comes of it is sent by [`Several::flush`].
    pub fn take_from_client(&self, bytes: &[u8]) {
        self.take(bytes, None);
    }

    /// Takes a message whose answer the client waits for under another id than it wrote.
    pub fn take_from_client_as(&self, bytes: &[u8], key: Key) {
        self.take(bytes, Some(key));
    }

    /// The client wrote a line that is longer than a message may be.
    pub fn refuse_long_message(&self) {
        self.sessions[0].refuse_long_message();
    }

    /// Nobody waits for the answer any more: the client hung up.
    pub fn abandon(&self, key: &Key) {
        for (server, part) in self.forget(key) {
            self.sessions[server].abandon(&part);
        }
    }

    fn take(&self, bytes: &[u8], key: Option<Key>) {
        let Ok(frame) = Frame::read(bytes) else {
            // Which of them it was for cannot be told; one says what is wrong with it.
            return self.sessions[0].take_from_client(bytes);
        };
        match frame.kind() {
            Kind::Request => {
                if let Some(client) = key.or_else(|| frame.id().map(Key::from)) {
                    self.take_request(&frame, bytes, client);
                }
            }
            Kind::Notification => self.take_notification(&frame, bytes),
            Kind::Answer => {
                let key = frame.id().map(Key::from);
                let asked = |key: &Key| self.sessions.iter().find(|one| one.has_question(key));
                // What nobody asked one of them refuses; or it is the door's own question.
                let session = key.as_ref().and_then(asked).unwrap_or(&self.sessions[0]);
                session.take_from_client(bytes);
            }
        }
    }

    fn take_request(&self, frame: &Frame<'_>, bytes: &[u8], client: Key) {
        let in_use = {
            let state = self.state();
            match (state.asked.contains_key(&client), state.asked.len()) {
                (true, _) => Some(Refusal::malformed(-32_600, "id_in_use")),
                (false, ASKED_MAX..) => Some(Refusal::new(Code::Blocked, "too_many_in_flight")),
                (false, _) => None,
            }
        };
        if let Some(refusal) = in_use {
            return self.refuse(frame, bytes, &client, "frame", refusal);
        }
        match self.way(frame) {
            Way::None(rule, refusal) => self.refuse(frame, bytes, &client, rule, refusal),
            Way::One(server, edits) => {
                let key = Key::Integer(self.ids.next());
                let mut state = self.state();
                state.asked.insert(client.clone(), Asked::One(key.clone()));
                state.parts.insert(key.clone(), part(server, &client));
                drop(state);
                self.sessions[server].take_edited(bytes, Some(key), edits);
            }
            Way::All {
                kind,
                asked,
                absent,
            } => self.ask_all(frame, bytes, client, kind, asked, absent),
        }
    }

    fn ask_all(
        &self,
        frame: &Frame<'_>,
        bytes: &[u8],
        client: Key,
        kind: gather::Kind,
        asked: Vec<(usize, Edits)>,
        absent: Vec<usize>,
    ) {
        if asked.is_empty() {
            let refusal = match absent.is_empty() {
                // They said so themselves.
                true => Refusal::malformed(-32_601, "no_server_can"),
                false => Refusal::new(Code::Upstream, "unreachable"),
            };
            return self.refuse(frame, bytes, &client, "server", refusal);
        }
        let is_handshake = matches!(kind, gather::Kind::Handshake(_));
        let keys: Vec<_> = asked
            .iter()
            .map(|(server, _)| (Key::Integer(self.ids.next()), *server))
            .collect();
        let id = frame.id_raw().unwrap_or("null");
        let mut state = self.state();
        for (key, server) in &keys {
            let part = Part {
                is_handshake,
                ..part(*server, &client)
            };
            state.parts.insert(key.clone(), part);
        }
        let gather = Gather::new(kind, id, &keys, absent);
        state.asked.insert(client, Asked::All(gather));
        drop(state);
        for ((key, server), (_, edits)) in keys.into_iter().zip(asked) {
            self.sessions[server].take_edited(bytes, Some(key), edits);
        }
    }

    /// Records a refusal of a message that reaches no server, and says so.
    fn refuse(&self, frame: &Frame<'_>, bytes: &[u8], client: &Key, rule: &str, refusal: Refusal) {
        let message = Message::new(&self.door, &self.caller, 0, bytes);
        let refusal = match message {
            Ok(message) => message.refuse(Some(frame), rule, refusal),
            Err(not_recorded) => not_recorded,
        };
        let answer = refusal.json(frame.id_raw());
        self.front.put(To::Answer(client), answer.as_bytes());
    }

    fn take_notification(&self, frame: &Frame<'_>, bytes: &[u8]) {
        let named = |member| {
            let value = frame
                .params()
                .and_then(|params: Value<'_>| params.get(member));
            value.and_then(key_of)
        };
        match frame.method() {
            Some("notifications/cancelled") => {
                if let Some(client) = named("requestId") {
                    for (server, key) in self.forget(&client) {
                        self.sessions[server].take_cancellation(bytes, &key);
                    }
                }
            }
            Some("notifications/progress") => {
                let Some(token) = named("progressToken") else {
                    return;
                };
                let mut wanting = self.sessions.iter();
                let mut wanting = wanting.by_ref().filter(|one| one.wants_news_under(&token));
                match (wanting.next(), wanting.next()) {
                    (Some(session), None) => session.take_from_client(bytes),
                    // Nobody wants it, or two would take it for their own.
                    _ => tracing::warn!("News of the client's that no server asked for"),
                }
            }
            method => {
                if method == Some("notifications/initialized") {
                    self.state().is_initialized = true;
                }
                for session in &self.sessions {
                    session.take_from_client(bytes);
                }
            }
        }
    }

    /// What servers were asked for this question, which nobody waits for any more.
    fn forget(&self, client: &Key) -> Vec<(usize, Key)> {
        let mut state = self.state();
        let keys = match state.asked.remove(client) {
            None => Vec::new(),
            Some(Asked::One(key)) => vec![key],
            Some(Asked::All(gather)) => gather.parts.into_iter().map(|(key, _)| key).collect(),
        };
        let parts = keys.into_iter();
        parts
            .filter_map(|key| {
                let part = state.parts.remove(&key)?;
                Some((part.server, key))
            })
            .collect()
    }
}

fn part(server: usize, client: &Key) -> Part {
    Part {
        server,
        client: client.clone(),
        is_handshake: false,
    }
}
