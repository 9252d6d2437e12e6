//! Answers on their way back, frame by frame, and how each call ended.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use countersign_receipts::Hash;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::log::DecisionLog;
use crate::record::Outcome;

/// Longest answer that is passed on, in bytes. What is longer is cut and its connection closed.
pub const ANSWER_BYTES_MAX: u64 = 32 << 20;

/// How a forwarded call ends; written down when it is dropped.
///
/// Until somebody says otherwise the call was cancelled: whoever waited for it went away.
pub struct Ending {
    log: Arc<DecisionLog>,
    decision: Hash,
    event: &'static str,
    status: Option<u16>,
    bytes: u64,
}

impl Ending {
    /// The ending of the call whose decision has this leaf.
    pub fn of(log: Arc<DecisionLog>, decision: Hash) -> Self {
        Self {
            log,
            decision,
            event: "cancelled",
            status: None,
            bytes: 0,
        }
    }

    /// The head of the answer is there.
    pub const fn head(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// The whole answer of this many bytes was read.
    pub const fn answered(&mut self, bytes: u64) {
        self.event = "answered";
        self.bytes = bytes;
    }

    /// The server did not answer as it must.
    pub const fn failed(&mut self) {
        self.event = "failed";
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let outcome = Outcome::new(self.event, self.decision, self.status, self.bytes);
        if let Err(error) = self.log.append(&outcome) {
            tracing::error!(%error, "Could not record how a call ended");
        }
    }
}

/// An answer passed on as it arrives. Dropping it ends the request behind the door.
pub struct Relayed {
    body: Incoming,
    passed: u64,
    ending: Ending,
}

impl Relayed {
    /// Passes on this body.
    pub const fn new(body: Incoming, ending: Ending) -> Self {
        Self {
            body,
            passed: 0,
            ending,
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
        let Some(frame) = ready!(Pin::new(&mut relayed.body).poll_frame(context)) else {
            relayed.ending.answered(relayed.passed);
            return Poll::Ready(None);
        };
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                relayed.ending.failed();
                return Poll::Ready(Some(Err(error.into())));
            }
        };
        // Trailers are no part of the protocol and could say anything.
        let Ok(data) = frame.into_data() else {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::new()))));
        };
        relayed.passed += data.len() as u64;
        if relayed.passed > ANSWER_BYTES_MAX {
            relayed.ending.failed();
            return Poll::Ready(Some(Err("the answer is too long".into())));
        }
        if relayed.body.is_end_stream() {
            relayed.ending.answered(relayed.passed);
        }
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
