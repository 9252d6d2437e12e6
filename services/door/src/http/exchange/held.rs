//! Calls that a person has to decide about, on their way over HTTP.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use countersign_serve::Answer;
use countersign_wire::Frame;
use http::HeaderMap;

use super::{Exchange, respond_refusal};
use crate::caller::Caller;
use crate::door::{Door, Rules};
use crate::http::gate::Gate;
use crate::http::sessions::Session;
use crate::http::waiting;
use crate::judge::asked::Key;
use crate::judge::hold::Decided;
use crate::judge::message::{Message, OnHold, Passage};
use crate::judge::refusal::Refusal;

impl Exchange<'_> {
    /// Leaves a call with whoever asks a person.
    fn leave(&self, passage: Passage, on_hold: OnHold) -> Result<Held, Refusal> {
        let door = &self.gate.door;
        let Some(holds) = door.holds() else {
            passage.never_went_on(door);
            return Err(on_hold.refusal);
        };
        let (tell, told) = tokio::sync::oneshot::channel();
        let bytes = passage.edits.clone().apply(self.body).into_owned();
        let tool = passage.tool();
        let mut held =
            self.message
                .held(self.frame, tool.as_deref(), &on_hold, passage.leaf, &bytes);
        // A question needs a stream it comes on, and a session its answer comes back in.
        held.client_takes_questions = waiting::reads_events(self.headers)
            && self
                .session
                .is_some_and(|session| session.takes_questions());
        let tell = Box::new(move |decided| {
            // Whoever waited may be gone.
            let _ = tell.send(decided);
        });
        if let Err(refusal) = holds.hold(&held, tell) {
            passage.never_went_on(door);
            return Err(refusal);
        }
        Ok(Held {
            told,
            question: holds
                .question(&self.message.call)
                .filter(|_| held.client_takes_questions),
            waits: Waits {
                door: Arc::clone(door),
                call: self.message.call,
                passage: Some(passage),
                session: self.note_held(),
            },
            unheld: on_hold.refusal,
        })
    }

    /// Remembers that this call waits, so that its client can take it back.
    fn note_held(&self) -> Option<(Arc<Session>, Key)> {
        let session = self.session?;
        let key = Key::from(self.frame.id()?);
        session.hold(key.clone(), self.message.call);
        Some((Arc::clone(session), key))
    }

    /// Answers once somebody has decided; at once with a stream where the client reads one.
    pub(super) async fn wait_for_a_person(
        &self,
        passage: Passage,
        on_hold: OnHold,
    ) -> Result<Answer, Refusal> {
        let mut held = self.leave(passage, on_hold)?;
        let question = held.question.take();
        if !waiting::reads_events(self.headers) {
            return self.forward(held.decided().await?).await;
        }
        let later = Later {
            gate: Arc::clone(self.gate),
            caller: self.caller.clone(),
            session: self.session.cloned(),
            rules: Arc::clone(&self.message.rules),
            call: self.message.call,
            server: self.message.server,
            headers: self.headers.clone(),
            body: self.body.clone(),
        };
        let later = Box::pin(later.answer(held));
        Ok(waiting::respond_later(later, question).into())
    }
}

/// A call that somebody has to decide about.
struct Held {
    told: tokio::sync::oneshot::Receiver<Decided>,
    /// What the client is asked about it, where its rule takes the client's word.
    question: Option<String>,
    waits: Waits,
    /// The answer when whoever holds the call is gone.
    unheld: Refusal,
}

impl Held {
    /// Waits until somebody has decided.
    async fn decided(mut self) -> Result<Passage, Refusal> {
        let decided = (&mut self.told).await;
        let Some(passage) = self.waits.passage.take() else {
            return Err(self.unheld);
        };
        let refusal = match decided {
            Ok(Decided::Released(leaf)) => return Ok(passage.under(leaf, &self.waits.door)),
            Ok(Decided::Refused(refusal)) => refusal,
            Err(_) => self.unheld,
        };
        passage.never_went_on(&self.waits.door);
        Err(refusal)
    }
}

/// A call that waits. Where its client goes away, whoever holds it is told, and what it would have
/// used up is there again.
struct Waits {
    door: Arc<Door>,
    call: [u8; 16],
    passage: Option<Passage>,
    /// The session in which the client may take the call back, and under which id.
    session: Option<(Arc<Session>, Key)>,
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some((session, key)) = &self.session {
            session.take_held(key);
        }
        if let Some(passage) = self.passage.take() {
            if let Some(holds) = self.door.holds() {
                holds.withdraw(&self.call);
            }
            passage.never_went_on(&self.door);
        }
    }
}

/// Everything about a message whose answer comes later.
struct Later {
    gate: Arc<Gate>,
    caller: Caller,
    session: Option<Arc<Session>>,
    rules: Arc<Rules>,
    call: [u8; 16],
    server: usize,
    headers: HeaderMap,
    body: Bytes,
}

impl Later {
    async fn answer(self, held: Held) -> Response {
        // It was read when it came; these are the same bytes.
        let frame = match Frame::read(&self.body) {
            Ok(frame) => frame,
            Err(error) => {
                let refusal = Refusal::malformed(error.code(), "malformed");
                return respond_refusal(&refusal, error.id.as_deref());
            }
        };
        let message = Message::again(
            &self.gate.door,
            self.rules,
            &self.caller,
            self.call,
            self.server,
            &self.body,
        );
        let exchange = Exchange {
            gate: &self.gate,
            caller: &self.caller,
            session: self.session.as_ref(),
            message: &message,
            frame: &frame,
            headers: &self.headers,
            body: &self.body,
        };
        let answered = match held.decided().await {
            Ok(passage) => exchange.forward(passage).await,
            Err(refusal) => Err(refusal),
        };
        match answered {
            Ok(answer) => answer.into_response(),
            Err(refusal) => respond_refusal(&refusal, frame.id_raw()),
        }
    }
}
