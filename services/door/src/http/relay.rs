//! A stream of a server's events on its way to a client, judged event by event as it arrives.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use countersign_wire::Kind;
use http_body::{Body, Frame, SizeHint};

use super::events::{Event, Splitter};
use super::gate::Gate;
use super::lines::Coming;
use super::sessions::{Session, Streaming};
use super::streams;
use crate::caller::Caller;
use crate::judge::asked::{Asked, Key, Open};
use crate::judge::refusal::{Code, Refusal};
use crate::judge::reply;

/// Longest stream that is passed on, in bytes. What is longer is cut and its connection closed.
pub const STREAM_BYTES_MAX: u64 = 256 << 20;

/// The questions that a stream may answer.
pub enum Questions {
    /// The one it was opened for; it ends with the stream.
    One(Open),
    /// Those of a session: what one stream leaves open another one may answer.
    Session(Streaming),
}

impl Questions {
    /// The questions of a session.
    pub const fn of(streaming: Streaming) -> Self {
        Self::Session(streaming)
    }

    fn take(&mut self, key: &Key) -> Option<Asked> {
        match self {
            Self::One(open) => open.take(key),
            Self::Session(streaming) => streaming.session().open().take(key),
        }
    }

    const fn session(&self) -> Option<&Arc<Session>> {
        match self {
            Self::One(_) => None,
            Self::Session(streaming) => Some(streaming.session()),
        }
    }

    /// The stream ended in order or not: what was opened for it alone is not answered any more.
    fn fail(&mut self) {
        if let Self::One(open) = self {
            for (_, mut asked) in open.take_all() {
                asked.ending.failed();
            }
        }
    }
}

/// A stream passed on as it arrives. Dropping it ends the request behind the door.
pub struct Relayed {
    gate: Arc<Gate>,
    caller: Caller,
    body: Coming,
    splitter: Splitter,
    questions: Questions,
    ready: VecDeque<Bytes>,
    passed: u64,
    ended: bool,
}

impl Relayed {
    /// Passes on this body; `questions` are those it may answer.
    pub fn new(gate: Arc<Gate>, caller: Caller, body: Coming, questions: Questions) -> Self {
        Self {
            gate,
            caller,
            body,
            splitter: Splitter::default(),
            questions,
            ready: VecDeque::new(),
            passed: 0,
            ended: false,
        }
    }

    /// Takes the next bytes and queues what reaches the client.
    fn take(&mut self, bytes: &[u8]) -> Result<(), axum::BoxError> {
        self.splitter.feed(bytes)?;
        while let Some(event) = self.splitter.next() {
            if let Some(shown) = self.judge(event) {
                self.ready.push_back(shown.into());
            }
        }
        Ok(())
    }

    /// What the client is shown of a question of the server's. If nothing, the server is told.
    fn judge_question<'b>(
        &self,
        frame: &countersign_wire::Frame<'_>,
        data: &'b [u8],
    ) -> Option<std::borrow::Cow<'b, [u8]>> {
        let session = self.questions.session();
        let judged = reply::judge_question(&self.gate.door, &self.caller, 0, frame, data);
        let refusal = match (judged, session, frame.id().map(Key::from)) {
            (Ok(shown), Some(session), Some(key)) if session.ask(key.clone()) => {
                return Some(shown);
            }
            // Outside a session nobody could answer.
            (Ok(_), _, _) => Refusal::new(Code::Blocked, "too_many_in_flight"),
            (Err(refusal), _, _) => refusal,
        };
        tracing::warn!(?refusal, "A server's question is not passed on");
        if let Some(session) = session {
            let answer = refusal.json(frame.id_raw());
            tokio::spawn(streams::refuse_question(
                Arc::clone(&self.gate),
                Arc::clone(session),
                answer,
            ));
        }
        None
    }

    /// What of an event reaches the client.
    fn judge(&mut self, event: Event) -> Option<Vec<u8>> {
        let Some(data) = event.data() else {
            return Some(event.into_raw());
        };
        let Ok(frame) = reply::read(&data) else {
            tracing::warn!("An event that is no message is not passed on");
            return None;
        };
        let door = &self.gate.door;
        match frame.kind() {
            Kind::Notification => {
                let shown = reply::judge_notification(door, 0, &frame, &data)?;
                Some(event.with_shown(shown))
            }
            Kind::Request => {
                let shown = self.judge_question(&frame, &data)?;
                Some(event.with_shown(shown))
            }
            Kind::Answer => {
                let key = frame.id().map(Key::from)?;
                let Some(mut asked) = self.questions.take(&key) else {
                    tracing::warn!("An answer that nobody asked for is not passed on");
                    return None;
                };
                match reply::judge_answer(door, &self.caller, &asked, &frame, &data) {
                    Ok(shown) => {
                        asked.ending.answered(self.passed);
                        Some(event.with_shown(shown))
                    }
                    Err(refusal) => {
                        asked.ending.failed();
                        Some(event.with_data(refusal.json(Some(&asked.id)).as_bytes()))
                    }
                }
            }
        }
    }
}

impl Body for Relayed {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let relayed = self.get_mut();
        loop {
            if let Some(event) = relayed.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(event))));
            }
            if relayed.ended {
                return Poll::Ready(None);
            }
            let taken = match ready!(Pin::new(&mut relayed.body).poll_frame(context)) {
                None => {
                    relayed.ended = true;
                    relayed.questions.fail();
                    continue;
                }
                Some(Err(error)) => Err(error.into()),
                // Trailers are no part of the protocol and could say anything.
                Some(Ok(frame)) => match frame.into_data() {
                    Err(_) => continue,
                    Ok(data) => {
                        relayed.passed += data.len() as u64;
                        match relayed.passed > STREAM_BYTES_MAX {
                            true => Err("the stream is too long".into()),
                            false => relayed.take(&data),
                        }
                    }
                },
            };
            if let Err(error) = taken {
                relayed.ended = true;
                relayed.questions.fail();
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.ready.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
