//! The head of a request in its plainest form. Whatever is not exactly that is left to hyper, from its first
//! byte on: here nothing is repaired, guessed or refused.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Longest head that is read here.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// Most headers in it.
const HEADERS_MAX: usize = 32;
/// Longest body that is read here.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;

/// A head, and what it says of its body.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) headers: HeaderMap,
    /// Its bytes, with the empty line.
    pub(super) length: usize,
    /// The bytes of the body that follows.
    pub(super) body: usize,
}

/// What stands at the front of the bytes that arrived.
#[derive(Debug)]
pub(super) enum Found {
    Head(Head),
    /// The beginning of what may become one.
    Part,
    /// Something for hyper.
    Other,
}

/// Reads a head that begins with exactly this line, its end included.
pub(super) fn read(line: &[u8], bytes: &[u8]) -> Found {
    let begins = bytes.len().min(line.len());
    if bytes[..begins] != line[..begins] {
        return Found::Other;
    }
    let Some(length) = end(bytes) else {
        return match bytes.len() < HEAD_BYTES_MAX {
            true => Found::Part,
            false => Found::Other,
        };
    };
    match headers(&bytes[line.len()..length]) {
        Some((headers, body)) => Found::Head(Head {
            headers,
            length,
            body,
        }),
        None => Found::Other,
    }
}

/// Where the first empty line ends.
fn end(bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}

/// The headers up to the empty line, and the length they give the body.
fn headers(block: &[u8]) -> Option<(HeaderMap, usize)> {
    if !lines_end_in_pairs(block) {
        return None;
    }
    let mut parsed = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let Ok(httparse::Status::Complete((length, parsed))) =
        httparse::parse_headers(block, &mut parsed)
    else {
        return None;
    };
    if length != block.len() {
        return None;
    }
    let mut headers = HeaderMap::with_capacity(parsed.len());
    let mut body = None;
    for one in parsed {
        let name = HeaderName::from_bytes(one.name.as_bytes()).ok()?;
        if name == header::CONTENT_LENGTH {
            if body.is_some() {
                return None;
            }
            body = Some(decimal(one.value)?);
        } else if !is_plain(&name, one.value) {
            return None;
        }
        headers.append(name, HeaderValue::from_bytes(one.value).ok()?);
    }
    // A request without a length has no body, and a message without one is nothing: hyper says so.
    body.filter(|length| *length <= BODY_BYTES_MAX)
        .map(|length| (headers, length))
}

/// No line ends in less than CR and LF, and neither stands anywhere else.
fn lines_end_in_pairs(block: &[u8]) -> bool {
    let mut before = 0;
    for byte in block {
        if (before == b'\r') != (*byte == b'\n') {
            return false;
        }
        before = *byte;
    }
    before == b'\n'
}

/// Whether a header leaves the connection and the framing as they are.
fn is_plain(name: &HeaderName, value: &[u8]) -> bool {
    match *name {
        header::TRANSFER_ENCODING
        | header::TE
        | header::TRAILER
        | header::UPGRADE
        | header::EXPECT => false,
        header::CONNECTION => value.eq_ignore_ascii_case(b"keep-alive"),
        _ => true,
    }
}

/// A number of at most five digits, and nothing else.
fn decimal(text: &[u8]) -> Option<usize> {
    if text.is_empty() || text.len() > 5 {
        return None;
    }
    text.iter().try_fold(0, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| usize::from(byte - b'0'))?;
        Some(number * 10 + digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"POST /mcp HTTP/1.1\r\n";

    fn found(rest: &str) -> Found {
        read(LINE, format!("POST /mcp HTTP/1.1\r\n{rest}").as_bytes())
    }

    #[test]
    fn a_plain_head_is_read_in_any_pieces() {
        let whole = "POST /mcp HTTP/1.1\r\nHost: a:1\r\nAccept: x, y\r\nconnection: Keep-Alive\r\n\
                     CONTENT-LENGTH: 12\r\n\r\n{}";
        let length = whole.len() - 2;
        for cut in 0..length {
            assert!(
                matches!(read(LINE, &whole.as_bytes()[..cut]), Found::Part),
                "{cut}"
            );
        }
        for cut in length..=whole.len() {
            let Found::Head(head) = read(LINE, &whole.as_bytes()[..cut]) else {
                panic!("{cut}");
            };
            assert_eq!((head.length, head.body), (length, 12));
            assert_eq!(head.headers["host"], "a:1");
            assert_eq!(head.headers["accept"], "x, y");
        }
    }

    /// Everything by which two readers have been known to disagree about where a request ends.
    #[test]
    fn what_could_be_framed_two_ways_is_not_read_here() {
        for rest in [
            "Host: a\r\n\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n",
            "Content-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n",
            "Content-Length: 5\r\nTransfer-Encoding\t: chunked\r\n\r\n",
            "Content-Length: 5\r\n Transfer-Encoding: chunked\r\n\r\n",
            "Content-Length: 5\r\nX: a\r\n b\r\n\r\n",
            "Content-Length: 5\r\nX: a\r\n\tb\r\n\r\n",
            "Content-Length: 5\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n",
            "Content-Length: 5\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n",
            "X: a\nContent-Length: 5\r\n\r\n",
            "Content-Length: 5\r\n\nX: a\r\n\r\n",
            "Content-Length: 5\r\nX: a\0b\r\n\r\n",
            "Content-Length: 5\n\r\n\r\n",
            "Content-Length: +5\r\n\r\n",
            "Content-Length: -5\r\n\r\n",
            "Content-Length: 0x5\r\n\r\n",
            "Content-Length: 5, 5\r\n\r\n",
            "Content-Length: 5;\r\n\r\n",
            "Content-Length: 5 5\r\n\r\n",
            "Content-Length:\r\n\r\n",
            "Content-Length: 99999\r\n\r\n",
            "Content-Length: 18446744073709551621\r\n\r\n",
            "Content-Length : 5\r\n\r\n",
            ": 5\r\nContent-Length: 5\r\n\r\n",
            "Content-Length 5\r\n\r\n",
            "Content-Length: 5\r\nTrailer: x\r\n\r\n",
            "Content-Length: 5\r\nTE: trailers\r\n\r\n",
            "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
            "Content-Length: 5\r\nUpgrade: h2c\r\n\r\n",
            "Content-Length: 5\r\nConnection: close\r\n\r\n",
            "Content-Length: 5\r\nConnection: keep-alive, content-length\r\n\r\n",
        ] {
            assert!(matches!(found(rest), Found::Other), "{rest:?}");
        }
        let long = format!("X: {}", "x".repeat(HEAD_BYTES_MAX));
        assert!(matches!(found(&long), Found::Other));
        let many = format!(
            "Content-Length: 5\r\n{}\r\n",
            "X: 1\r\n".repeat(HEADERS_MAX)
        );
        assert!(matches!(found(&many), Found::Other));
    }

    #[test]
    fn another_request_line_is_not_read_here() {
        for line in [
            "GET /mcp HTTP/1.1\r\n",
            "POST /mcp HTTP/1.0\r\n",
            "POST  /mcp HTTP/1.1\r\n",
            "POST /mcp?x HTTP/1.1\r\n",
            "POST http://a/mcp HTTP/1.1\r\n",
            "POST /mcp HTTP/1.1\n",
            "\r\nPOST /mcp HTTP/1.1\r\n",
            "post /mcp HTTP/1.1\r\n",
        ] {
            let text = format!("{line}Content-Length: 5\r\n\r\n");
            assert!(
                matches!(read(LINE, text.as_bytes()), Found::Other),
                "{line:?}"
            );
        }
    }
}
