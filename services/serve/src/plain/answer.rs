//! A whole answer, and its bytes.

use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};

use crate::Problem;
use crate::finish::Verbatim;

/// An answer that is all there.
pub struct Whole {
    /// Its status.
    pub status: StatusCode,
    /// Its headers, without those of the framing.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// Dropped once the answer is on its way: nobody waits for that.
    pub afterwards: Option<Box<dyn Send>>,
}

/// What a handler answers.
pub enum Answer {
    /// All of it; it reaches the client as it stands.
    Whole(Whole),
    /// Whatever else.
    Response(Response),
}

impl From<Response> for Answer {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

impl Answer {
    /// The answer as one of axum's.
    #[must_use]
    pub fn into_response(self) -> Response {
        let whole = match self {
            Self::Response(response) => return response,
            Self::Whole(whole) => whole,
        };
        let mut response = Response::new(Body::from(whole.body));
        *response.status_mut() = whole.status;
        *response.headers_mut() = whole.headers;
        response.extensions_mut().insert(Verbatim);
        if let Some(afterwards) = whole.afterwards {
            tokio::spawn(async move { drop(afterwards) });
        }
        response
    }
}

/// Longest body that is taken for a whole one.
const WHOLE_BYTES_MAX: u64 = 64 * 1024;

/// A response as a whole answer, where it is one; else as it came.
pub(super) async fn whole(response: Response) -> Result<Whole, Response> {
    let size = response.body().size_hint().exact();
    let has_body = !response.status().is_informational()
        && response.status() != StatusCode::NO_CONTENT
        && response.status() != StatusCode::NOT_MODIFIED;
    if !has_body || size.is_none_or(|size| size > WHOLE_BYTES_MAX) {
        return Err(response);
    }
    let (head, body) = response.into_parts();
    match axum::body::to_bytes(body, WHOLE_BYTES_MAX as usize).await {
        Ok(body) => Ok(Whole {
            status: head.status,
            headers: head.headers,
            body,
            afterwards: None,
        }),
        Err(_) => Err(Problem::internal().into_response()),
    }
}

/// Writes an answer as it goes over the connection.
pub(super) fn write(to: &mut Vec<u8>, whole: &Whole, closes: bool) {
    to.extend_from_slice(b"HTTP/1.1 ");
    to.extend_from_slice(whole.status.as_str().as_bytes());
    to.push(b' ');
    let reason = whole.status.canonical_reason().unwrap_or("Unknown");
    to.extend_from_slice(reason.as_bytes());
    to.extend_from_slice(b"\r\n");
    for (name, value) in &whole.headers {
        let is_framing = *name == header::CONTENT_LENGTH
            || *name == header::TRANSFER_ENCODING
            || *name == header::CONNECTION
            || *name == header::DATE;
        if !is_framing {
            to.extend_from_slice(name.as_str().as_bytes());
            to.extend_from_slice(b": ");
            to.extend_from_slice(value.as_bytes());
            to.extend_from_slice(b"\r\n");
        }
    }
    if closes {
        to.extend_from_slice(b"connection: close\r\n");
    }
    to.extend_from_slice(b"content-length: ");
    write_number(to, whole.body.len());
    to.extend_from_slice(b"\r\ndate: ");
    write_date(to);
    to.extend_from_slice(b"\r\n\r\n");
    to.extend_from_slice(&whole.body);
}

/// Whether a handler wants the connection closed.
pub(super) fn closes(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::CONNECTION)
        .iter()
        .any(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
}

fn write_number(to: &mut Vec<u8>, mut number: usize) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[first..]);
}

/// The time of day, written anew once a second on every thread.
fn write_date(to: &mut Vec<u8>) {
    thread_local! {
        static WRITTEN: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
    }
    let now = SystemTime::now();
    let now = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    WRITTEN.with_borrow_mut(|(second, text)| {
        if *second != now || text.is_empty() {
            *text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(now));
            *second = now;
        }
        to.extend_from_slice(text.as_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_framed_by_its_length_alone() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("content-type", "application/json"),
            ("content-length", "7"),
            ("transfer-encoding", "chunked"),
            ("connection", "keep-alive"),
            ("mcp-session-id", "s"),
        ] {
            headers.insert(name, value.parse().expect("a value"));
        }
        let whole = Whole {
            status: StatusCode::OK,
            headers,
            body: Bytes::from_static(b"{}"),
            afterwards: None,
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &whole, true);
        let text = String::from_utf8(bytes).expect("text");
        let (before, after) = text.split_once("date: ").expect("a date");
        assert_eq!(
            before,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s\r\n\
             connection: close\r\ncontent-length: 2\r\n"
        );
        let (date, rest) = after.split_at(29);
        assert!(httpdate::parse_http_date(date).is_ok(), "{date}");
        assert_eq!(rest, "\r\n\r\n{}");
    }

    #[tokio::test]
    async fn what_has_no_length_or_no_body_is_left_to_hyper() {
        let text = |status: u16| {
            let mut response = Response::new(Body::from("text"));
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            response
        };
        assert!(whole(text(200)).await.is_ok());
        assert!(whole(text(429)).await.is_ok());
        assert!(whole(text(204)).await.is_err());
        assert!(whole(text(304)).await.is_err());
        let endless = tokio_stream::pending::<Result<Bytes, std::io::Error>>();
        assert!(
            whole(Response::new(Body::from_stream(endless)))
                .await
                .is_err()
        );
        let long = Body::from(vec![b'x'; 64 * 1024 + 1]);
        assert!(whole(Response::new(long)).await.is_err());
    }
}
