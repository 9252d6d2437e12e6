//! The head of a server's answer, and how its body is framed (RFC 9112 §6).

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::LineError;

/// Longest head, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Most headers: what nearly every answer has, and what one may have.
const HEADERS: [usize; 2] = [24, 128];

/// How the body of an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// With the last chunk.
    Chunks,
    /// With the connection.
    Close,
}

/// The head of an answer.
#[derive(Debug)]
pub struct Head {
    /// Its status and those of its headers that reach the client.
    pub response: Response<()>,
    pub framing: Framing,
    /// Whether the connection can be used again after the body.
    pub stays: bool,
    /// Its bytes.
    pub length: usize,
}

/// Reads the head at the front of these bytes; none if it is not all there.
///
/// # Errors
/// [`LineError::Head`] when it is no head, or frames its body two ways.
pub fn read(bytes: &[u8]) -> Result<Option<Head>, LineError> {
    let mut few = [httparse::EMPTY_HEADER; HEADERS[0]];
    let found = match parse(bytes, &mut few) {
        Err(httparse::Error::TooManyHeaders) => {
            parse(bytes, &mut [httparse::EMPTY_HEADER; HEADERS[1]])
                .map_err(|_| LineError::Head("it has too many headers, or is none"))?
        }
        Err(_) => return Err(LineError::Head("it is none")),
        Ok(found) => found,
    };
    match found {
        Some(head) => head.map(Some),
        None if bytes.len() >= HEAD_BYTES_MAX => Err(LineError::Head("it is too long")),
        None => Ok(None),
    }
}

fn parse<'b>(
    bytes: &'b [u8],
    headers: &mut [httparse::Header<'b>],
) -> Result<Option<Result<Head, LineError>>, httparse::Error> {
    let mut parsed = httparse::Response::new(headers);
    let length = match parsed.parse(bytes)? {
        httparse::Status::Complete(length) => length,
        httparse::Status::Partial => return Ok(None),
    };
    Ok(Some(understand(&parsed, length)))
}

fn understand(parsed: &httparse::Response<'_, '_>, length: usize) -> Result<Head, LineError> {
    let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.ok_or(LineError::Head("its status is none"))?;
    let is_current = parsed.version == Some(1);
    let mut returned = HeaderMap::with_capacity(4);
    let mut sized = None;
    let mut has_chunks = false;
    let mut stays = is_current;
    for header in &*parsed.headers {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            let size = decimal(header.value).ok_or(LineError::Head("its length is no number"))?;
            if sized.replace(size).is_some() {
                return Err(LineError::Head("it has two lengths"));
            }
        } else if is("transfer-encoding") {
            if has_chunks || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(LineError::Head("its body has an unknown framing"));
            }
            has_chunks = true;
        } else if is("connection") {
            let mut options = header.value.split(|byte| *byte == b',');
            stays &= !options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"));
        } else if is_returned(header.name) {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let value = HeaderValue::from_bytes(header.value);
            if let (Ok(name), Ok(value)) = (name, value) {
                returned.append(name, value);
            }
        }
    }
    let framing = match (sized, has_chunks) {
        (Some(_), true) => return Err(LineError::Head("its body is framed two ways")),
        (None, true) if !is_current => {
            return Err(LineError::Head("its revision has no chunks"));
        }
        _ if has_no_body(status) => Framing::Length(0),
        (Some(size), false) => Framing::Length(size),
        (None, true) => Framing::Chunks,
        (None, false) => Framing::Close,
    };
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.headers_mut() = returned;
    Ok(Head {
        response,
        framing,
        stays: stays && framing != Framing::Close,
        length,
    })
}

fn has_no_body(status: StatusCode) -> bool {
    status.is_informational()
        || status == StatusCode::NO_CONTENT
        || status == StatusCode::NOT_MODIFIED
}

/// Digits and nothing else.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether a header of the server's reaches the client.
pub fn is_returned(name: &str) -> bool {
    const RETURNED: [&str; 5] = [
        "content-type",
        "cache-control",
        "retry-after",
        "allow",
        "x-accel-buffering",
    ];
    RETURNED.iter().any(|one| name.eq_ignore_ascii_case(one))
        || name
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("mcp-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Option<Head>, LineError> {
        read(text.as_bytes())
    }

    #[test]
    fn a_head_says_how_its_body_ends() {
        for (rest, framing, stays) in [
            (
                "200 OK\r\nContent-Length: 12\r\n",
                Framing::Length(12),
                true,
            ),
            (
                "200 OK\r\nTransfer-Encoding: Chunked\r\n",
                Framing::Chunks,
                true,
            ),
            ("200 OK\r\n", Framing::Close, false),
            ("204 No Content\r\n", Framing::Length(0), true),
            (
                "304 Not Modified\r\nContent-Length: 7\r\n",
                Framing::Length(0),
                true,
            ),
            (
                "200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive, Close\r\n",
                Framing::Length(0),
                false,
            ),
        ] {
            let text = format!("HTTP/1.1 {rest}\r\nrest");
            let head = head(&text).expect(rest).expect(rest);
            assert_eq!((head.framing, head.stays), (framing, stays), "{rest}");
            assert_eq!(&text[head.length..], "rest");
            for cut in 0..head.length {
                assert!(matches!(read(&text.as_bytes()[..cut]), Ok(None)), "{cut}");
            }
        }
        let old = head("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n");
        assert!(!old.expect("a head").expect("whole").stays);
    }

    #[test]
    fn what_could_be_framed_two_ways_is_no_answer() {
        for rest in [
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length:\r\n",
            "Content-Length: 18446744073709551621\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Content-Length: 5\r\nX: a\r\n Transfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\nX: a\rTransfer-Encoding: chunked\r\n",
            "Content-Length : 5\r\n",
            "X\0: 1\r\n",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{rest}\r\n");
            assert!(head(&text).is_err(), "{rest:?}");
        }
        let chunks = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert!(head(chunks).is_err());
        for text in [
            "HTTP/2 200 OK\r\n\r\n",
            "HTTP/1.1 99 Odd\r\n\r\n",
            "{}\r\n\r\n",
        ] {
            assert!(head(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn heads_are_bounded() {
        let with = |count: usize| {
            let headers = "X: 1\r\n".repeat(count);
            format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 0\r\n\r\n")
        };
        assert!(head(&with(100)).is_ok_and(|head| head.is_some()));
        assert!(head(&with(200)).is_err());
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(HEAD_BYTES_MAX));
        assert!(head(&long).is_err());
    }

    #[test]
    fn only_what_the_protocol_needs_is_returned() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nSet-Cookie: x\r\nMCP-Session-Id: s\r\n\
                    Server: y\r\nDate: z\r\nAllow: GET\r\nmcp: no\r\nContent-Length: 0\r\n\r\n";
        let head = head(text).expect("a head").expect("whole");
        let mut names: Vec<_> = head
            .response
            .headers()
            .keys()
            .map(HeaderName::as_str)
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["allow", "content-type", "mcp-session-id"]);
    }
}
