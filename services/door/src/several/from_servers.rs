//! What several servers say to one client.

use std::time::Instant;

use super::gather::{Gather, Kind};
use super::merge::{self, Part, Term};
use super::{ABSENCE, Asked, Several};
use crate::approval::DEFINITIONS;
use crate::judge::asked::Key;
use crate::judge::refusal::{Code, Refusal};
use crate::judge::reply;
use crate::session::To;

impl Several {
    /// Takes what the session with a server lets pass.
    pub(super) fn take_from(&self, server: usize, to: To<'_>, message: &[u8]) {
        match to {
            To::Client if self.speaks_of_anothers_task(server, message) => {
                tracing::warn!("News of a task that is another server's were dropped");
            }
            To::Client => self.front.put(To::Client, message),
            To::Answer(key) => self.take_answer(server, key, message),
            To::About(key) | To::Question(key) => {
                let client = {
                    let state = self.state();
                    let part = state.parts.get(key);
                    part.filter(|part| part.server == server)
                        .map(|part| part.client.clone())
                };
                if let Some(client) = client {
                    self.front.put(To::Question(&client), message);
                }
            }
        }
    }

    fn take_answer(&self, server: usize, key: &Key, message: &[u8]) {
        let mut state = self.state();
        let part = state.parts.get(key).filter(|part| part.server == server);
        let Some(part) = part.cloned() else { return };
        state.parts.remove(key);
        let done = match state.asked.get_mut(&part.client) {
            // The handshake was answered without it: it comes late.
            None => {
                drop(state);
                if part.is_handshake {
                    self.takes_part_late(server, message);
                }
                return;
            }
            Some(Asked::One(asked)) if asked == key => {
                state.asked.remove(&part.client);
                drop(state);
                self.learn_tasks(server, message);
                return self.front.put(To::Answer(&part.client), message);
            }
            // The client asks something else under this id by now.
            Some(Asked::One(_)) => return,
            Some(Asked::All(gather)) => {
                gather.take(key, message);
                gather.is_complete()
            }
        };
        if done && let Some(Asked::All(gather)) = state.asked.remove(&part.client) {
            drop(state);
            self.answer_gathered(&part.client, gather);
        }
    }

    /// Answers what has waited long enough without those who have not answered.
    pub fn tick(&self) {
        for session in &self.sessions {
            session.tick();
        }
        let mut late = Vec::new();
        {
            let mut state = self.state();
            let is_late = |asked: &Asked| matches!(asked, Asked::All(all) if all.is_late());
            let keys: Vec<_> = state
                .asked
                .iter()
                .filter(|(_, asked)| is_late(asked))
                .map(|(key, _)| key.clone())
                .collect();
            for client in keys {
                if let Some(Asked::All(gather)) = state.asked.remove(&client) {
                    late.push((client, gather));
                }
            }
        }
        for (client, gather) in late {
            let mut given_up = Vec::new();
            {
                let mut state = self.state();
                let silent = gather.parts.iter();
                for (key, part) in silent.filter(|(_, part)| part.answer.is_none()) {
                    state.known[part.server].absent_until = Some(Instant::now() + ABSENCE);
                    if !matches!(gather.kind, Kind::Handshake(_)) {
                        state.parts.remove(key);
                        given_up.push((part.server, key.clone()));
                    }
                }
            }
            for (server, key) in given_up {
                let name = self.name(server);
                tracing::warn!(server = %name, "The server {name} did not answer in time and is not waited for");
                self.sessions[server].abandon(&key);
            }
            self.answer_gathered(&client, gather);
            self.flush();
        }
    }

    /// Makes one answer of all.
    fn answer_gathered(&self, client: &Key, gather: Gather) {
        for (_, part) in &gather.parts {
            if let (Kind::List(..), Some(answer)) = (&gather.kind, &part.answer) {
                self.learn_tasks(part.server, answer);
            }
        }
        let Gather {
            kind,
            id,
            parts,
            unasked,
            ..
        } = gather;
        let mut parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
        let name = |server: usize| self.name(server).to_owned();
        let answer = match &kind {
            Kind::Handshake(asked) => {
                let agreed = merge::handshake(&parts, &id, asked.as_deref(), name);
                self.comes_to_terms(&parts, agreed.as_ref().map(|(_, terms)| &terms[..]));
                agreed.map(|(answer, _)| answer)
            }
            Kind::Discovery(asked) => {
                let absent = unasked.iter().map(|server| Part {
                    server: *server,
                    answer: None,
                });
                parts.extend(absent);
                let said = merge::discovery(&parts, &id, asked.as_deref(), name);
                said.map(|(answer, _)| answer)
            }
            Kind::List(list, method) => {
                let silent = parts.iter().filter(|part| is_not_there(part));
                let silent = silent.map(|part| part.server).chain(unasked);
                let unavailable: Vec<_> = silent.map(|server| self.name(server)).collect();
                let own = self.door.own_tools();
                let last = own.filter(|_| list.read_by.is_none()).map(|_| DEFINITIONS);
                let seal = |cursors: &[(usize, String)]| self.sealed(method, cursors);
                let listed = merge::list(*list, &parts, &unavailable, seal, last);
                listed.answer
            }
            Kind::Told | Kind::News => parts.iter().find_map(|part| {
                let answer = part.answer.as_ref()?;
                let frame = reply::read(answer).ok()?;
                frame.root().get("result").map(|_| answer.clone())
            }),
        };
        let answer = answer.or_else(|| merge::error(&parts)).unwrap_or_else(|| {
            let refusal = Refusal::new(Code::Upstream, "unreachable");
            refusal.json(Some(&id)).into_bytes()
        });
        self.front.put(To::Answer(client), &answer);
    }

    /// Remembers who takes part, and gives up on who does not.
    fn comes_to_terms(&self, parts: &[Part], terms: Option<&[Term]>) {
        for part in parts {
            let term = terms
                .unwrap_or_default()
                .iter()
                .find(|term| term.server == part.server);
            let mut state = self.state();
            let known = &mut state.known[part.server];
            match term {
                Some(term) => {
                    known.capabilities = Some(term.capabilities.clone());
                    known.absent_until = None;
                    drop(state);
                }
                None => {
                    // Without an answer yet it may still come late.
                    let refused = part.answer.is_some();
                    drop(state);
                    let name = self.name(part.server);
                    tracing::warn!(server = %name, "The server {name} takes no part: its tools are absent");
                    if refused && !self.sessions[part.server].is_down() {
                        self.sessions[part.server].server_is_down();
                    }
                }
            }
        }
    }

    /// A server came to terms after the others.
    fn takes_part_late(&self, server: usize, message: &[u8]) {
        let part = Part {
            server,
            answer: Some(message.to_vec()),
        };
        let name = |server: usize| self.name(server).to_owned();
        let agreed = merge::handshake(&[part], "0", None, name);
        let Some((_, terms)) = agreed else { return };
        if let Some(term) = terms.into_iter().next() {
            let mut state = self.state();
            state.known[server].capabilities = Some(term.capabilities);
            state.known[server].absent_until = None;
        }
        self.server_changed(server);
    }

    /// Tells a client that is ready that the lists are not what they were.
    pub(super) fn server_changed(&self, server: usize) {
        let (is_initialized, known) = {
            let mut state = self.state();
            state.known[server].absent_until = None;
            (state.is_initialized, state.known[server].clone())
        };
        if !is_initialized {
            return;
        }
        for list in ["tools", "prompts", "resources"] {
            if !known.cannot(list) {
                let message =
                    format!(r#"{{"jsonrpc":"2.0","method":"notifications/{list}/list_changed"}}"#);
                self.front.put(To::Client, message.as_bytes());
            }
        }
    }
}

/// Whether a server is not there, besides having nothing of the kind.
fn is_not_there(part: &Part) -> bool {
    let Some(answer) = &part.answer else {
        return true;
    };
    let Ok(frame) = reply::read(answer) else {
        return true;
    };
    let error = frame.root().get("error");
    let code = error.and_then(|error| error.get("code")?.as_exact_integer());
    error.is_some() && code != Some(-32_601)
}
