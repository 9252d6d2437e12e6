//! One connection: a request is written, and the head of its answer read.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use countersign_serve::Patience;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;

use super::answer::{self, Head};
use super::{HEAD_TIME_OUT, LineError};

type Stream = TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>;

/// What is read at once.
const READ_BYTES: usize = 8 * 1024;
/// Most answers that only say that another follows.
const INTERIM_MAX: usize = 8;

/// Why a request got no answer.
#[derive(Debug)]
pub(super) enum Asked {
    /// Nothing of it was written.
    NotSent(LineError),
    /// It may have reached the server.
    Failed(LineError),
}

/// A connection with what was read of it.
pub(super) struct Line<S = Stream> {
    stream: S,
    /// What arrived and nobody took.
    pub(super) bytes: BytesMut,
    patience: Patience,
}

impl Line {
    pub(super) fn new(stream: MaybeHttpsStream<TokioIo<TcpStream>>) -> Self {
        Self::over(TokioIo::new(stream))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    pub(super) fn over(stream: S) -> Self {
        Self {
            stream,
            bytes: BytesMut::new(),
            patience: Patience::new(HEAD_TIME_OUT),
        }
    }

    /// Whether the server says nothing, as it should when it is not asked: not even that it is gone.
    pub(super) fn is_quiet(&mut self, context: &mut Context<'_>) -> bool {
        self.bytes.is_empty() && self.poll_read(0, context).is_pending()
    }

    /// Sends a request and reads the head of its answer.
    pub(super) async fn ask(&mut self, head: &[u8], body: &[u8]) -> Result<Head, Asked> {
        self.patience.renew(HEAD_TIME_OUT);
        let mut sending = Sending {
            head,
            body,
            written: 0,
            is_flushed: false,
            failed: None,
        };
        let mut interim = 0;
        std::future::poll_fn(|context| {
            sending.poll(&mut self.stream, context);
            let answered = ready!(self.poll_head(&mut interim, context));
            Poll::Ready(match (answered, sending.failed.take()) {
                (Ok(mut head), failed) => {
                    // Whoever answers before it was asked reads no further.
                    head.stays &= failed.is_none() && sending.is_flushed;
                    Ok(head)
                }
                (Err(_), Some(error)) if sending.written == 0 => {
                    Err(Asked::NotSent(LineError::Io(error)))
                }
                (Err(error), _) => Err(Asked::Failed(error)),
            })
        })
        .await
    }

    fn poll_head(
        &mut self,
        interim: &mut usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<Head, LineError>> {
        loop {
            if !self.bytes.is_empty()
                && let Some(head) = answer::read(&self.bytes)?
            {
                self.bytes.advance(head.length);
                if !head.response.status().is_informational() {
                    return Poll::Ready(Ok(head));
                }
                *interim += 1;
                if *interim > INTERIM_MAX || head.response.status() == 101 {
                    let error = LineError::Head("nobody asked for another protocol");
                    return Poll::Ready(Err(error));
                }
                continue;
            }
            match self.poll_read(0, context) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(LineError::Closed)),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Pending => break,
            }
        }
        self.patience
            .poll_end(context)
            .map(|()| Err(LineError::Late))
    }

    /// Reads once, into room for `wanted` bytes where they are many.
    pub(super) fn poll_read(
        &mut self,
        wanted: usize,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<usize>> {
        let spare = self.bytes.capacity() - self.bytes.len();
        if spare < READ_BYTES / 4 || spare < wanted {
            self.bytes.reserve(wanted.max(READ_BYTES));
        }
        pin!(self.stream.read_buf(&mut self.bytes)).poll(context)
    }
}

/// A request on its way out.
struct Sending<'r> {
    head: &'r [u8],
    body: &'r [u8],
    written: usize,
    is_flushed: bool,
    failed: Option<std::io::Error>,
}

impl Sending<'_> {
    /// Writes what can be written now.
    fn poll(&mut self, stream: &mut (impl AsyncWrite + Unpin), context: &mut Context<'_>) {
        while !self.is_flushed && self.failed.is_none() {
            let rest = match self.head.get(self.written..) {
                Some(rest) if !rest.is_empty() => rest,
                _ => &self.body[self.written - self.head.len()..],
            };
            let written = match rest.is_empty() {
                true => Pin::new(&mut *stream).poll_flush(context).map_ok(|()| 0),
                false => Pin::new(&mut *stream).poll_write(context, rest),
            };
            match written {
                Poll::Pending => return,
                Poll::Ready(Ok(0)) if rest.is_empty() => self.is_flushed = true,
                Poll::Ready(Ok(0)) => self.failed = Some(std::io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(bytes)) => self.written += bytes,
                Poll::Ready(Err(error)) => self.failed = Some(error),
            }
        }
    }
}
