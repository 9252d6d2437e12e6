//! An answer's bytes cut into frames: server-sent events, or the event stream of AWS.

use aws_smithy_eventstream::{
    frame::{DecodedFrame, MessageFrameDecoder},
    smithy::parse_response_headers,
};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use sse_stream::SseStream;

use crate::ModelError;

/// Most bytes of one answer, frames and all.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// A frame of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Its kind, where the wire names one.
    pub(crate) name: String,
    /// Its content, JSON as a rule.
    pub(crate) data: String,
}

/// Why an answer's bytes come to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the connection broke off")]
    Off(#[source] reqwest::Error),
    #[error("the answer is too long")]
    TooMuch,
}

type Bodies = BoxStream<'static, Result<Bytes, Broken>>;

/// The frames of one answer.
pub(crate) enum Frames {
    Events(BoxStream<'static, Result<sse_stream::Sse, sse_stream::Error>>),
    Aws {
        body: Bodies,
        decoder: MessageFrameDecoder,
        buffer: BytesMut,
    },
}

/// How an answer is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Events,
    Aws,
}

impl Cut {
    /// The content type of such an answer.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Aws => "application/vnd.amazon.eventstream",
        }
    }
}

impl Frames {
    /// The frames of an answer.
    pub(crate) fn of(response: reqwest::Response, cut: Cut) -> Self {
        let mut bytes = 0;
        let body = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(Broken::Off)?;
            bytes += piece.len();
            if bytes > ANSWER_BYTES_MAX {
                return Err(Broken::TooMuch);
            }
            Ok(piece)
        });
        Self::of_bytes(body, cut)
    }

    fn of_bytes(
        body: impl Stream<Item = Result<Bytes, Broken>> + Send + 'static,
        cut: Cut,
    ) -> Self {
        match cut {
            Cut::Events => Self::Events(SseStream::from_bytes_stream(body.boxed()).boxed()),
            Cut::Aws => Self::Aws {
                body: body.boxed(),
                decoder: MessageFrameDecoder::new(),
                buffer: BytesMut::new(),
            },
        }
    }

    /// The next frame; none when the answer ended where a frame ends.
    ///
    /// # Errors
    /// [`ModelError`] when the bytes are no frames, too many, or break off.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, ModelError> {
        match self {
            Self::Events(events) => match events.next().await {
                None => Ok(None),
                Some(Ok(event)) => Ok(Some(Frame {
                    name: event.event.unwrap_or_default(),
                    data: event.data.unwrap_or_default(),
                })),
                Some(Err(sse_stream::Error::Body(error))) => {
                    Err(match error.downcast_ref::<Broken>() {
                        Some(Broken::TooMuch) => ModelError::TooMuch,
                        _ => ModelError::Unavailable,
                    })
                }
                Some(Err(_)) => Err(ModelError::Malformed),
            },
            Self::Aws {
                body,
                decoder,
                buffer,
            } => loop {
                match decoder.decode_frame(&mut *buffer) {
                    Err(_) => return Err(ModelError::Malformed),
                    Ok(DecodedFrame::Complete(message)) => {
                        let headers =
                            parse_response_headers(&message).map_err(|_| ModelError::Malformed)?;
                        let data = std::str::from_utf8(message.payload())
                            .map_err(|_| ModelError::Malformed)?;
                        return Ok(Some(Frame {
                            name: headers.smithy_type.as_str().to_owned(),
                            data: data.to_owned(),
                        }));
                    }
                    Ok(DecodedFrame::Incomplete) => {}
                }
                match body.next().await {
                    Some(Ok(piece)) => buffer.extend_from_slice(&piece),
                    Some(Err(Broken::TooMuch)) => return Err(ModelError::TooMuch),
                    Some(Err(Broken::Off(_))) => return Err(ModelError::Unavailable),
                    None if buffer.is_empty() => return Ok(None),
                    None => return Err(ModelError::Unavailable),
                }
            },
        }
    }
}
