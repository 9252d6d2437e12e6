//! An answer that a person has to allow first: an event stream of comments until it is there.
//!
//! A connection that is silent for a quarter of an hour is one that something in between closes.
//! Comments are part of the stream's form and say nothing; whoever reads events skips them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_serve::Verbatim;
use http::{HeaderMap, HeaderValue, header};
use http_body::{Body as HttpBody, Frame};

use super::events::Event;
use super::gate::is_event_stream;

/// How often a comment is sent.
const COMMENT_INTERVAL: Duration = Duration::from_secs(15);
/// The comment.
const COMMENT: &[u8] = b": held\n\n";
/// Longest whole answer that is put into an event, in bytes.
const WHOLE_BYTES_MAX: usize = 16 << 20;

/// The answer, once it is there.
pub type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Whether a client reads event streams: its `Accept` says so.
pub fn reads_events(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|kind| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("text/event-stream")
        })
}

/// Answers at once with a stream that ends in the answer; a question of the door's own comes before it,
/// where there is one. Dropping it drops the answer.
pub fn respond_later(answer: Answer, question: Option<String>) -> Response {
    respond_with_comments(answer, question, COMMENT_INTERVAL)
}

fn respond_with_comments(answer: Answer, question: Option<String>, interval: Duration) -> Response {
    let question = question.map(|question| Event::of(question.as_bytes()).into_raw().into());
    let mut response = Body::new(Waiting {
        question,
        state: State::Answer(answer),
        comments: tokio::time::interval(interval),
    })
    .into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.extensions_mut().insert(Verbatim);
    response
}

struct Waiting {
    question: Option<Bytes>,
    state: State,
    comments: tokio::time::Interval,
}

enum State {
    Answer(Answer),
    Event(Pin<Box<dyn Future<Output = Bytes> + Send>>),
    Body(Body),
    Done,
}

impl HttpBody for Waiting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let waiting = self.get_mut();
        if let Some(question) = waiting.question.take() {
            return Poll::Ready(Some(Ok(Frame::data(question))));
        }
        loop {
            match &mut waiting.state {
                State::Answer(answer) => match answer.as_mut().poll(context) {
                    Poll::Ready(response) if is_event_stream(response.headers()) => {
                        waiting.state = State::Body(response.into_body());
                    }
                    Poll::Ready(response) => {
                        waiting.state = State::Event(Box::pin(event(response.into_body())));
                    }
                    Poll::Pending => break,
                },
                State::Event(event) => match event.as_mut().poll(context) {
                    Poll::Ready(event) => {
                        waiting.state = State::Done;
                        return Poll::Ready(Some(Ok(Frame::data(event))));
                    }
                    Poll::Pending => break,
                },
                State::Body(body) => return Pin::new(body).poll_frame(context),
                State::Done => return Poll::Ready(None),
            }
        }
        match waiting.comments.poll_tick(context) {
            Poll::Ready(_) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(COMMENT))))),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// A whole answer as one event: every line of it a line of the event's data.
async fn event(body: Body) -> Bytes {
    let whole = axum::body::to_bytes(body, WHOLE_BYTES_MAX).await;
    let whole = whole.unwrap_or_default();
    let mut event = Vec::with_capacity(whole.len() + 32);
    event.extend_from_slice(b"event: message\n");
    // A line may end in CR, LF or both; between a document's tokens all three mean the same.
    for line in whole.split(|byte| matches!(byte, b'\n' | b'\r')) {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    async fn text(response: Response) -> String {
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn comments_come_until_the_answer_is_there() {
        let (answer, answered) = tokio::sync::oneshot::channel::<&str>();
        let answered = async { answered.await.unwrap().into_response() };
        let response = respond_with_comments(Box::pin(answered), None, Duration::from_millis(1));
        assert!(is_event_stream(response.headers()));
        let mut body = response.into_body();
        for _ in 0..3 {
            let frame = body.frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), COMMENT);
        }
        answer.send("{\n\"id\":1}").unwrap();
        let rest = body.collect().await.unwrap().to_bytes();
        assert_eq!(rest, "event: message\ndata: {\ndata: \"id\":1}\n\n");
    }

    #[tokio::test]
    async fn a_stream_stays_the_stream_it_is() {
        let answer = async {
            let kind = [(header::CONTENT_TYPE, "text/event-stream")];
            (kind, "data: 1\n\ndata: 2\n\n").into_response()
        };
        let response = respond_later(Box::pin(answer), Some("{}".to_owned()));
        assert_eq!(
            text(response).await,
            "data: {}\n\ndata: 1\n\ndata: 2\n\n",
            "the question first"
        );
    }

    #[test]
    fn only_a_client_that_reads_events_gets_them() {
        let reads = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            reads_events(&headers)
        };
        assert!(reads("application/json, text/event-stream"));
        assert!(reads("Text/Event-Stream;q=0.5"));
        for accept in ["application/json", "*/*", "text/event-streams"] {
            assert!(!reads(accept), "{accept}");
        }
        assert!(!reads_events(&HeaderMap::new()));
    }
}
