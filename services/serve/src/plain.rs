//! Connections that say one thing: a direct route's requests in their plainest form, answered whole. What is
//! anything else goes to hyper with every byte that was read of it, and stays there.
//!
//! It is what nearly every call looks like, and a call at a time has cold caches: what hyper keeps ready for
//! all that a connection could do is most of what such a call costs.

mod answer;
mod head;

use std::pin::pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use axum::response::Response;
use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

pub use answer::{Answer, Whole};
pub(crate) use head::BODY_BYTES_MAX;

use self::head::{Found, Head};
use crate::connections::Connection;
use crate::direct::Direct;
use crate::eager::{self, AtWork};
use crate::limits::Limits;
use crate::patience::Patience;
use crate::server::until_true;

/// What is read at once.
const READ_BYTES: usize = 8 * 1024;
/// How much of later requests is read while one is at work.
const AHEAD_BYTES_MAX: usize = 128 * 1024;

/// How the plain part of a connection ended.
pub(crate) enum Ended {
    /// With the connection.
    Closed,
    /// With a request for hyper, or with one that was answered with what only hyper sends.
    Other {
        /// What was read and is to be read again: the request, and what came after it.
        read: BytesMut,
        /// Its answer, where it has one.
        answer: Option<Response>,
    },
}

/// Answers a connection's plain requests, one after the other.
pub(crate) async fn serve(
    stream: &mut TcpStream,
    direct: &Direct,
    limits: &Limits,
    connection: &Connection,
    stopped: &watch::Receiver<bool>,
) -> Ended {
    let mut coming = Coming {
        stream,
        buffer: BytesMut::new(),
        patience: Patience::new(limits.head_read_time_out),
    };
    let mut stopping = stopped.clone();
    let mut out = Vec::new();
    loop {
        let head = {
            let mut stop = pin!(until_true(&mut stopping));
            let mut evicted = pin!(connection.evicted());
            std::future::poll_fn(|context| {
                let found = coming.poll_head(direct, context);
                let ends = found.is_pending()
                    && (coming.patience.poll_end(context).is_ready()
                        || evicted.as_mut().poll(context).is_ready()
                        || stop.as_mut().poll(context).is_ready());
                if ends {
                    Poll::Ready(Next::Closed)
                } else {
                    found
                }
            })
            .await
        };
        let head = match head {
            Next::Head(head) if direct.admits(&head.headers) => head,
            Next::Head(_) | Next::Other => {
                return Ended::Other {
                    read: coming.buffer,
                    answer: None,
                };
            }
            Next::Closed => return Ended::Closed,
        };
        eager::note();
        let end = head.length + head.body;
        if coming.buffer.len() < end {
            coming.patience.renew(limits.body_read_time_out);
            let mut evicted = pin!(connection.evicted());
            let arrived = std::future::poll_fn(|context| {
                let arrived = coming.poll_until(end, context);
                if arrived.is_pending() && evicted.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Arrived::Closed);
                }
                if arrived.is_pending() && coming.patience.poll_end(context).is_ready() {
                    return Poll::Ready(Arrived::TooSlow);
                }
                arrived
            });
            match arrived.await {
                Arrived::Whole => {}
                Arrived::Closed => return Ended::Closed,
                Arrived::TooSlow => {
                    return Ended::Other {
                        read: coming.buffer,
                        answer: Some(Direct::too_slow()),
                    };
                }
            }
        }
        let working = connection.working();
        let at_work = AtWork::begin();
        let body = Bytes::copy_from_slice(&coming.buffer[head.length..end]);
        let mut answering = pin!(direct.answer_plain(head.headers, body));
        let answer = std::future::poll_fn(|context| {
            if let Poll::Ready(answer) = answering.as_mut().poll(context) {
                return Poll::Ready(Some(answer));
            }
            // Whoever asked may go away, which takes the question back.
            coming.poll_gone(end, context).map(|()| None)
        });
        let answer = answer.await;
        eager::note();
        let whole = match answer {
            None => return Ended::Closed,
            Some(Answer::Whole(whole)) => whole,
            Some(Answer::Response(response)) => match answer::whole(response).await {
                Ok(whole) => whole,
                Err(response) => {
                    return Ended::Other {
                        read: coming.buffer,
                        answer: Some(response),
                    };
                }
            },
        };
        let closes = answer::closes(&whole.headers) || *stopped.borrow();
        out.clear();
        answer::write(&mut out, &whole, closes);
        let written = coming.stream.write_all(&out).await;
        if written.is_err() || closes {
            let _ = coming.stream.shutdown().await;
            return Ended::Closed;
        }
        drop((whole, working, at_work));
        coming.buffer.advance(end);
        if coming.buffer.is_empty() && coming.buffer.capacity() > 2 * READ_BYTES {
            coming.buffer = BytesMut::new();
        }
        if out.capacity() > 2 * READ_BYTES {
            out = Vec::new();
        }
        coming.patience.renew(limits.head_read_time_out);
    }
}

/// What comes next on a connection.
enum Next {
    Head(Head),
    Other,
    Closed,
}

/// How a body came.
enum Arrived {
    Whole,
    TooSlow,
    Closed,
}

/// A connection as it is read.
struct Coming<'s> {
    stream: &'s mut TcpStream,
    buffer: BytesMut,
    patience: Patience,
}

impl Coming<'_> {
    fn poll_head(&mut self, direct: &Direct, context: &mut Context<'_>) -> Poll<Next> {
        loop {
            if !self.buffer.is_empty() {
                match head::read(direct.line(), &self.buffer) {
                    Found::Head(head) => return Poll::Ready(Next::Head(head)),
                    Found::Other => return Poll::Ready(Next::Other),
                    Found::Part => {}
                }
            }
            match self.poll_read(context) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(Next::Closed),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Reads until there are so many bytes.
    fn poll_until(&mut self, end: usize, context: &mut Context<'_>) -> Poll<Arrived> {
        while self.buffer.len() < end {
            match self.poll_read(context) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(Arrived::Closed),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Arrived::Whole)
    }

    /// Ready once the other side is gone. What it says behind `end` meanwhile is kept.
    fn poll_gone(&mut self, end: usize, context: &mut Context<'_>) -> Poll<()> {
        while self.buffer.len() < end + AHEAD_BYTES_MAX {
            match self.poll_read(context) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    /// Reads once; false at the end of what the other side says.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES / 4 {
            self.buffer.reserve(READ_BYTES);
        }
        let reading = pin!(self.stream.read_buf(&mut self.buffer));
        let read = reading.poll(context);
        read.map(|read| read.is_ok_and(|bytes| bytes > 0))
    }
}

#[cfg(test)]
mod against_hyper;
#[cfg(test)]
mod tests;
