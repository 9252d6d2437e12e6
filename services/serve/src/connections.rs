//! The open connections of a service: bounded, and the longest idle one makes room.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use tokio::sync::Notify;

/// Every open connection of one service.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_age: BTreeMap<u64, Arc<State>>,
}

#[derive(Debug, Default)]
struct State {
    requests_in_progress: AtomicUsize,
    evicted: Notify,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
        })
    }

    /// Takes a new connection in. At the limit the oldest connection without a request in progress is told
    /// to close; where there is none, the new one is refused with `None`.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<Connection> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.by_age.len() >= self.most {
            let idle = open
                .by_age
                .iter()
                .find(|(_, state)| state.requests_in_progress.load(Ordering::Acquire) == 0)
                .map(|(id, _)| *id)?;
            if let Some(state) = open.by_age.remove(&idle) {
                state.evicted.notify_one();
            }
        }
        let id = open.next;
        open.next += 1;
        let state = Arc::new(State::default());
        open.by_age.insert(id, Arc::clone(&state));
        Some(Connection {
            id,
            state,
            all: Arc::clone(self),
        })
    }
}

/// One open connection; leaves the table when it is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    id: u64,
    state: Arc<State>,
    all: Arc<Connections>,
}

impl Connection {
    /// Resolves when this connection has to make room.
    pub(crate) async fn evicted(&self) {
        self.state.evicted.notified().await;
    }

    /// Takes in a request that has arrived whole, until its answer is written.
    pub(crate) fn working(&self) -> Working<'_> {
        let state = &*self.state;
        state.requests_in_progress.fetch_add(1, Ordering::AcqRel);
        Working(state)
    }

    /// Takes in a request whose head has arrived.
    ///
    /// It is in progress from the last byte of its body on: before that nothing has been done for it, and
    /// somebody who announces a body and never sends it must not keep others out.
    pub(crate) fn begin(&self) -> Arc<InProgress> {
        Arc::new(InProgress {
            state: Arc::clone(&self.state),
            is_counted: AtomicBool::new(false),
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.all.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.by_age.remove(&self.id);
    }
}

/// One request that arrived whole.
#[derive(Debug)]
pub(crate) struct Working<'c>(&'c State);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.requests_in_progress.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One request, from its head to the last byte of its answer.
#[derive(Debug)]
pub(crate) struct InProgress {
    state: Arc<State>,
    is_counted: AtomicBool,
}

impl InProgress {
    /// Counts the request as in progress from now on.
    fn count(&self) {
        if !self.is_counted.swap(true, Ordering::AcqRel) {
            self.state
                .requests_in_progress
                .fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Counts the request from the end of its body on.
    pub(crate) fn from_read(self: &Arc<Self>, body: Body) -> Body {
        if body.is_end_stream() {
            self.count();
            return body;
        }
        Body::new(AskedBody {
            body,
            in_progress: Arc::clone(self),
        })
    }

    /// Counts the request until the last byte of its answer is written or given up.
    pub(crate) fn until_written(self: Arc<Self>, body: Body) -> Body {
        self.count();
        Body::new(AnswerBody {
            body,
            _in_progress: self,
        })
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        if *self.is_counted.get_mut() {
            self.state
                .requests_in_progress
                .fetch_sub(1, Ordering::AcqRel);
        }
    }
}

struct AskedBody {
    body: Body,
    in_progress: Arc<InProgress>,
}

impl HttpBody for AskedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.in_progress.count();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

struct AnswerBody {
    body: Body,
    _in_progress: Arc<InProgress>,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_work(connection: &Connection) -> Body {
        connection.begin().until_written(Body::empty())
    }

    #[tokio::test]
    async fn a_request_whose_body_does_not_come_makes_room() {
        let all = Connections::new(1);
        let first = all.admit().expect("room");
        let (sender, body) = tokio::sync::mpsc::channel::<Result<Bytes, axum::Error>>(1);
        let request = first.begin();
        let mut body = request.from_read(Body::from_stream(
            tokio_stream::wrappers::ReceiverStream::new(body),
        ));
        sender
            .send(Ok(Bytes::from_static(b"half")))
            .await
            .expect("sent");
        let next = async |body: &mut Body| http_body_util::BodyExt::frame(body).await;
        assert!(next(&mut body).await.is_some());
        let second = all.admit().expect("the first only announced a body");
        first.evicted().await;
        drop(first);
        let whole = second.begin();
        drop(sender);
        let mut read = whole.from_read(body);
        assert!(next(&mut read).await.is_none());
        assert!(all.admit().is_none(), "a request that was read is at work");
    }

    #[tokio::test]
    async fn the_longest_idle_connection_makes_room() {
        let all = Connections::new(2);
        let (first, second) = (all.admit().expect("room"), all.admit().expect("room"));
        let working = at_work(&first);
        let third = all.admit().expect("the second is idle");
        second.evicted().await;
        drop(second);
        let also_working = at_work(&third);
        assert!(
            all.admit().is_none(),
            "both work, so the new one is refused"
        );
        drop(working);
        let fourth = all.admit().expect("the first is idle now");
        first.evicted().await;
        drop((first, third, fourth, also_working));
        assert!(all.open.lock().expect("lock").by_age.is_empty());
    }
}
