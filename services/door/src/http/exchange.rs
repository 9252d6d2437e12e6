//! One message from a client over HTTP: judged, forwarded, answered.

mod held;

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_journal::Mode;
use countersign_policy::Counted;
use countersign_serve::{Answer, Problem, Verbatim, Whole, eager};
use countersign_wire::{Frame, Kind};
use http::{HeaderMap, StatusCode, header};

use super::arrival::{Arrived, arrive, identify};
use super::definitions;
use super::gate::{Gate, is_event_stream};
use super::lines::Coming;
use super::mirrored;
use super::relay::{Questions, Relayed};
use super::sessions::{Found, SESSION, Session, Streaming};
use super::streams;
use super::upstream::read_whole;
use crate::caller::Caller;
use crate::judge::asked::{Asked, Key, NotOpened, Open};
use crate::judge::message::{Message, OnHold, Passage, Ruling};
use crate::judge::refusal::{Code, Refusal};
use crate::judge::reply;
use crate::telemetry::Parent;

/// `POST /mcp`.
pub async fn post_message(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    match arrive(&gate.identity, request).await {
        Ok(arrived) => answer(&gate, arrived).await.into_response(),
        Err(response) => *response,
    }
}

/// `POST /mcp`, where all of the message is there.
pub async fn post_whole(gate: Arc<Gate>, headers: HeaderMap, body: Bytes) -> Answer {
    match identify(&gate.identity, headers, body) {
        Ok(arrived) => answer(&gate, arrived).await,
        Err(response) => Answer::Response(*response),
    }
}

async fn answer(gate: &Arc<Gate>, arrived: Arrived) -> Answer {
    let Arrived {
        headers,
        body,
        caller,
    } = arrived;
    let (caller, session) = match gate.sessions.find(&headers, &caller) {
        Found::None => (caller, None),
        Found::Session(session) => (caller.in_session(&session.name), Some(session)),
        Found::Unknown => return streams::unknown_session().into(),
    };
    let message = match Message::new(&gate.door, &caller, 0, &body) {
        Ok(message) => message.sent_in(Parent::of_headers(&headers)),
        Err(refusal) => return refused(&refusal, None),
    };
    if message.count() != Counted::Within {
        return Problem::too_many_requests().into_response().into();
    }
    match &Frame::read(&body) {
        Err(error) => refused(&message.malformed(error), error.id.as_deref()),
        Ok(frame) => {
            let exchange = Exchange {
                gate,
                caller: &caller,
                session: session.as_ref(),
                message: &message,
                frame,
                headers: &headers,
                body: &body,
            };
            match exchange.pass().await {
                Ok(answer) => answer,
                Err(refusal) => refused(&refusal, frame.id_raw()),
            }
        }
    }
}

fn refused(refusal: &Refusal, id: Option<&str>) -> Answer {
    respond_refusal(refusal, id).into()
}

/// A refusal as a response. `id` is the raw JSON of the id to answer under.
pub fn respond_refusal(refusal: &Refusal, id: Option<&str>) -> Response {
    let mut response = Body::from(refusal.json(id)).into_response();
    *response.status_mut() = refusal.status();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/json"),
    );
    response.extensions_mut().insert(Verbatim);
    response
}

/// A message that is well-formed, and everything that goes with it.
struct Exchange<'a> {
    gate: &'a Arc<Gate>,
    caller: &'a Caller,
    session: Option<&'a Arc<Session>>,
    message: &'a Message<'a>,
    frame: &'a Frame<'a>,
    headers: &'a HeaderMap,
    body: &'a Bytes,
}

impl Exchange<'_> {
    async fn pass(&self) -> Result<Answer, Refusal> {
        if self.frame.kind() == Kind::Answer {
            return self.pass_answer().await;
        }
        if let Err(refusal) = mirrored::check(self.headers, self.frame) {
            return Err(self.message.refuse(Some(self.frame), "headers", refusal));
        }
        if let Some((session, id)) = self.session.zip(self.frame.id()) {
            let key = Key::from(id);
            let checked = match session.is_held(&key) {
                true => Err(NotOpened::IdInUse),
                false => session.open().check(&key),
            };
            if let Err(error) = checked {
                let refusal = match error {
                    NotOpened::IdInUse => Refusal::malformed(-32_600, "id_in_use"),
                    NotOpened::TooMany => Refusal::new(Code::Blocked, "too_many_in_flight"),
                };
                return Err(self.message.refuse(Some(self.frame), "frame", refusal));
            }
        }
        let begins_session = self.session.is_none() && self.frame.method() == Some("initialize");
        if begins_session && !self.gate.sessions.has_room() {
            let refusal = Refusal::new(Code::Blocked, "too_many_sessions");
            return Err(self.message.refuse(Some(self.frame), "sessions", refusal));
        }
        match self.judge().await? {
            (passage, None) => self.forward(passage).await,
            (passage, Some(on_hold)) => self.wait_for_a_person(passage, on_hold).await,
        }
    }

    /// Passes the client's answer on, when the server asked for it in this session.
    async fn pass_answer(&self) -> Result<Answer, Refusal> {
        let holds = self.gate.door.holds().filter(|_| self.session.is_some());
        if holds.is_some_and(|holds| holds.take_answer(&self.caller.identity, self.frame)) {
            // The door's own question about a held call.
            return Ok(StatusCode::ACCEPTED.into_response().into());
        }
        let asked = self
            .session
            .zip(self.frame.id())
            .is_some_and(|(session, id)| session.take_question(&Key::from(id)));
        if !asked {
            let refusal = Refusal::malformed(-32_600, "answer_not_asked_for");
            return Err(self.message.refuse(Some(self.frame), "frame", refusal));
        }
        let leaf = self.message.pass_answer(self.frame)?;
        let call = &self.message.call;
        let body = self.body.clone();
        let sent = self.gate.send(self.headers, self.caller, call, leaf, body);
        match sent.await {
            Ok(answer) => Ok(acknowledged(answer.into_parts().0)),
            Err(error) => Err(error.refusal().with_receipt(leaf)),
        }
    }

    /// Takes note of what a notification ends: a call that the client no longer waits for.
    fn note_notification(&self) {
        let Some(session) = self.session else { return };
        if self.frame.method() == Some("notifications/cancelled")
            && let Some(key) = cancelled(self.frame)
        {
            drop(session.open().take(&key));
            if let (Some(call), Some(holds)) = (session.take_held(&key), self.gate.door.holds()) {
                holds.withdraw(&call);
            }
        }
    }

    /// Judges the message; the definitions are read first where that matters.
    async fn judge(&self) -> Result<(Passage, Option<OnHold>), Refusal> {
        for may_read in [true, false] {
            match self.message.judge(self.frame) {
                Ruling::Pass(passage) => return Ok((passage, None)),
                Ruling::Hold(passage, on_hold) => return Ok((passage, Some(on_hold))),
                Ruling::Refuse(refusal) => return Err(refusal),
                Ruling::ReadDefinitions if !may_read => break,
                Ruling::ReadDefinitions => {
                    if let Err(error) =
                        definitions::read(self.gate, self.caller, self.headers).await
                    {
                        tracing::warn!(%error, "The tools behind the door cannot be listed");
                        break;
                    }
                }
            }
        }
        let refusal = Refusal::new(Code::Blocked, "definitions_unavailable");
        Err(self.message.refuse(Some(self.frame), "pin", refusal))
    }

    async fn forward(&self, passage: Passage) -> Result<Answer, Refusal> {
        let Passage {
            leaf,
            ticket,
            edits,
            asked,
            counted,
        } = passage;
        if let Some(ticket) = ticket {
            let door = &self.gate.door;
            let mode = door.log.mode();
            if mode == Mode::Written && eager::has_several() {
                // Those that came together are judged first: one write settles all of them.
                tokio::task::yield_now().await;
            }
            let settled = match mode {
                Mode::Written | Mode::SignEach => door.settle(&ticket).is_ok(),
                // The disk may take its time; other calls go on meanwhile.
                Mode::Durable => {
                    let door = Arc::clone(door);
                    let settled = tokio::task::spawn_blocking(move || door.settle(&ticket));
                    settled.await.is_ok_and(|settled| settled.is_ok())
                }
            };
            if !settled {
                door.caps.give_back(counted);
                if let Some(asked) = asked {
                    asked.ending.never_went_on();
                }
                return Err(Refusal::new(Code::NotRecorded, "not_recorded"));
            }
        }
        let body = match edits.is_empty() {
            true => self.body.clone(),
            false => Bytes::from(edits.apply(self.body).into_owned()),
        };
        let call = &self.message.call;
        let sent = self.gate.send(self.headers, self.caller, call, leaf, body);
        let mut asked = asked;
        let answer = match sent.await {
            Ok(answer) => answer,
            Err(error) => {
                if let Some(asked) = &mut asked {
                    asked.ending.failed();
                }
                tracing::warn!(%error, "A call did not reach the server behind the door");
                return Err(error.refusal().with_receipt(leaf));
            }
        };
        let Some(mut asked) = asked else {
            self.note_notification();
            return Ok(acknowledged(answer.into_parts().0));
        };
        let session = match self.session {
            Some(session) => Some(Arc::clone(session)),
            None => self.begin_session(&answer)?,
        };
        asked.ending.head(answer.status().as_u16());
        let (head, body) = answer.into_parts();
        if is_event_stream(&head.headers) {
            let key = self.frame.id().map(Key::from);
            let questions = match (session, key) {
                (Some(session), Some(key)) => {
                    session.open().insert(key, asked);
                    Questions::of(Streaming::new(session))
                }
                (_, key) => {
                    let mut open = Open::default();
                    if let Some(key) = key {
                        open.insert(key, asked);
                    }
                    Questions::One(open)
                }
            };
            let relayed = Relayed::new(Arc::clone(self.gate), self.caller.clone(), body, questions);
            return Ok(respond(head.status, head.headers, Body::new(relayed)).into());
        }
        self.answer_whole(head, body, asked).await
    }

    /// The session that the server begins with its answer, if it does.
    fn begin_session(
        &self,
        answer: &http::Response<Coming>,
    ) -> Result<Option<Arc<Session>>, Refusal> {
        if self.frame.method() != Some("initialize") || !answer.headers().contains_key(SESSION) {
            return Ok(None);
        }
        let begun = self.gate.sessions.insert(answer.headers(), self.caller);
        match begun {
            Some(session) => {
                session.note_client(self.frame);
                Ok(Some(session))
            }
            None => {
                tracing::warn!("A server named a session that is another's, or too many");
                Err(Refusal::new(Code::Upstream, "bad_session"))
            }
        }
    }

    /// Answers with a whole JSON answer, judged.
    async fn answer_whole(
        &self,
        head: http::response::Parts,
        body: Coming,
        mut asked: Asked,
    ) -> Result<Answer, Refusal> {
        let leaf = asked.ending.leaf();
        let whole = read_whole(body).await.map_err(|error| {
            asked.ending.failed();
            tracing::warn!(%error, "An answer could not be read whole");
            Refusal::new(Code::Upstream, "outcome_unknown").with_receipt(leaf)
        })?;
        let unreadable = |reason: &str| {
            let refusal = Refusal::new(Code::Upstream, reason).with_receipt(leaf);
            match head.status.is_success() {
                true => refusal,
                false => refusal.with_status(head.status),
            }
        };
        let reason = match asked.list {
            Some(_) => "unreadable_list",
            None => "unreadable_answer",
        };
        let judged = reply::read(&whole).ok().and_then(|frame| {
            let is_the_answer = frame.id() == self.frame.id();
            is_the_answer.then(|| {
                let judged =
                    reply::judge_answer(&self.gate.door, self.caller, &asked, &frame, &whole);
                judged.map(|shown| match shown {
                    Cow::Borrowed(shown) => whole.slice_ref(shown),
                    Cow::Owned(shown) => shown.into(),
                })
            })
        });
        match judged {
            Some(Ok(shown)) => {
                asked.ending.answered(whole.len() as u64);
                Ok(Answer::Whole(Whole {
                    status: head.status,
                    headers: head.headers,
                    body: shown,
                    // How the call ended is noted when its answer is on its way.
                    afterwards: Some(Box::new(asked)),
                }))
            }
            Some(Err(refusal)) => {
                asked.ending.failed();
                Err(match head.status.is_success() {
                    true => refusal,
                    false => refusal.with_status(head.status),
                })
            }
            None => {
                asked.ending.failed();
                tracing::warn!(status = %head.status, "An answer is no answer to the question");
                Err(unreadable(reason))
            }
        }
    }
}

/// The question that a notification takes back.
fn cancelled(frame: &Frame<'_>) -> Option<Key> {
    let id = frame.params()?.get("requestId")?;
    match id.as_str() {
        Some(text) => Some(Key::Text((*text).into())),
        None => id.as_exact_integer().map(Key::Integer),
    }
}

/// The answer to whoever asks for no message: its status, and none of its words.
pub fn acknowledged(mut head: http::response::Parts) -> Answer {
    head.headers.remove(header::CONTENT_TYPE);
    Answer::Whole(Whole {
        status: head.status,
        headers: head.headers,
        body: Bytes::new(),
        afterwards: None,
    })
}

/// An answer of the server's.
pub fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = body.into_response();
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.extensions_mut().insert(Verbatim);
    response
}
