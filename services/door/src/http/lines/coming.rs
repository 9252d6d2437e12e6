//! The body of an answer, with the connection that brings it.

use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use http_body::{Body, Frame, SizeHint};

use super::answer::Framing;
use super::chunks::Chunks;
use super::line::Line;
use super::{LineError, Shards, keep};

/// Most room that is made for one read.
const READ_BYTES_MAX: u64 = 64 * 1024;
/// A body up to here is copied, so that the connection's buffer stays its own.
const COPIED_BYTES_MAX: usize = 4 * 1024;

/// The body of an answer. Dropping it before its end closes its connection, which tells the server that
/// nobody waits any more.
pub struct Coming {
    line: Option<Line>,
    rest: Rest,
    stays: bool,
    idle: Weak<Shards>,
}

/// What is left of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Length(u64),
    Chunks(Chunks),
    UntilClose,
}

impl Coming {
    pub(super) fn new(line: Line, framing: Framing, stays: bool, idle: Weak<Shards>) -> Self {
        let rest = match framing {
            Framing::Length(length) => Rest::Length(length),
            Framing::Chunks => Rest::Chunks(Chunks::Size),
            Framing::Close => Rest::UntilClose,
        };
        Self {
            line: Some(line),
            rest,
            stays,
            idle,
        }
    }

    /// The whole body, where it came with the head and is all there.
    pub fn take_whole(&mut self, longest: usize) -> Option<Bytes> {
        let Rest::Length(length) = self.rest else {
            return None;
        };
        let bytes = &mut self.line.as_mut()?.bytes;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= longest)?;
        let whole = match bytes.get(..length)? {
            whole if length <= COPIED_BYTES_MAX => {
                let whole = Bytes::copy_from_slice(whole);
                bytes.advance(length);
                whole
            }
            _ => bytes.split_to(length).freeze(),
        };
        self.rest = Rest::Length(0);
        self.give_back();
        Some(whole)
    }

    const fn is_end(&self) -> bool {
        matches!(self.rest, Rest::Length(0) | Rest::Chunks(Chunks::End))
    }

    /// Everything was read: the connection is free for the next request. One on which more came than an
    /// answer is closed, since nobody knows whose that is.
    fn give_back(&mut self) {
        if let Some(line) = self.line.take()
            && self.stays
            && line.bytes.is_empty()
        {
            keep(&self.idle, line);
        }
    }

    /// The next piece that is there.
    fn take_piece(&mut self) -> Result<Option<Bytes>, LineError> {
        let Some(line) = &mut self.line else {
            return Ok(None);
        };
        let bytes = &mut line.bytes;
        match &mut self.rest {
            Rest::Length(rest) => {
                let there = bytes
                    .len()
                    .min(usize::try_from(*rest).unwrap_or(usize::MAX));
                *rest -= there as u64;
                Ok((there > 0).then(|| bytes.split_to(there).freeze()))
            }
            Rest::Chunks(chunks) => chunks.take(bytes),
            Rest::UntilClose => Ok((!bytes.is_empty()).then(|| bytes.split().freeze())),
        }
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, LineError>> {
        loop {
            if let Some(piece) = self.take_piece()? {
                if self.is_end() {
                    self.give_back();
                }
                return Poll::Ready(Ok(Some(piece)));
            }
            if self.is_end() {
                self.give_back();
                return Poll::Ready(Ok(None));
            }
            let Some(line) = &mut self.line else {
                return Poll::Ready(Ok(None));
            };
            let wanted = match self.rest {
                Rest::Length(rest) => usize::try_from(rest.min(READ_BYTES_MAX)).unwrap_or(0),
                Rest::Chunks(_) | Rest::UntilClose => 0,
            };
            match line.poll_read(wanted, context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Ready(Ok(0)) if self.rest == Rest::UntilClose => {
                    self.line = None;
                    return Poll::Ready(Ok(None));
                }
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(LineError::Closed)),
                Poll::Ready(Ok(_)) => {}
            }
        }
    }
}

impl Body for Coming {
    type Data = Bytes;
    type Error = LineError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, LineError>>> {
        let coming = self.get_mut();
        let polled = coming.poll_piece(context);
        if let Poll::Ready(Err(_)) = &polled {
            coming.line = None;
        }
        polled.map(|piece| piece.transpose().map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_end() || self.line.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.rest {
            Rest::Length(length) => SizeHint::with_exact(length),
            Rest::Chunks(_) | Rest::UntilClose => SizeHint::default(),
        }
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        // An answer without a body is never polled; one that is not at its end ends its connection.
        if self.is_end() {
            self.give_back();
        }
    }
}
