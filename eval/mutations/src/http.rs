//! Requests and answers over HTTP: what is read at all is framed in one way, and the same way in whatever pieces it
//! arrives.

use bytes::BytesMut;

use crate::lines::answer::{self, Framing};
use crate::lines::chunks::Chunks;
use crate::request::{self, Found};

/// The line that plain requests begin with.
const LINE: &[u8] = b"POST /mcp HTTP/1.1\r\n";

/// A plain head is one with every rule of framing kept, and no shorter piece of it is one.
pub fn plain_requests(bytes: &[u8]) -> bool {
    let Found::Head(head) = request::read(LINE, bytes) else {
        return false;
    };
    let text = &bytes[..head.length];
    assert!(
        text.ends_with(b"\r\n\r\n"),
        "a head ends with an empty line"
    );
    let ends = text.windows(4).filter(|four| four == b"\r\n\r\n").count();
    assert_eq!(ends, 1, "and has no other one");
    for (at, byte) in text.iter().enumerate() {
        let is_line_end = match byte {
            b'\r' => text[at + 1] == b'\n',
            b'\n' => text[at - 1] == b'\r',
            _ => true,
        };
        assert!(is_line_end, "a line ends in two bytes");
    }
    for name in ["transfer-encoding", "expect", "upgrade", "te", "trailer"] {
        assert!(!head.headers.contains_key(name), "{name} is not plain");
    }
    let lengths: Vec<_> = head.headers.get_all("content-length").iter().collect();
    assert_eq!(lengths.len(), 1, "one length");
    let length: usize = lengths[0].to_str().map_or(usize::MAX, |text| {
        assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
        text.parse().unwrap_or(usize::MAX)
    });
    assert_eq!(length, head.body);
    for cut in 0..head.length {
        let found = request::read(LINE, &bytes[..cut]);
        assert!(matches!(found, Found::Part), "cut at {cut}");
    }
    true
}

/// What an answer is: its status, its framing, its body, and how many bytes it took.
type Read = Option<(u16, Framing, Vec<u8>, usize)>;

/// An answer comes apart the same way however it arrives, and never takes more than came.
pub fn answers(bytes: &[u8]) -> bool {
    let whole = read(bytes, bytes.len().max(1));
    for size in [1, 3] {
        let pieces = read(bytes, size);
        // What comes too early to be judged whole may be refused in one way and be unfinished in the other.
        assert_eq!(pieces, whole, "in pieces of {size}");
    }
    let Some((_, framing, body, taken)) = whole else {
        return false;
    };
    assert!(taken <= bytes.len());
    if let Framing::Length(length) = framing {
        assert_eq!(length, body.len() as u64);
    }
    true
}

fn read(bytes: &[u8], size: usize) -> Read {
    let (mut arrived, mut found, mut body) = (BytesMut::new(), None, Vec::new());
    for piece in bytes.chunks(size) {
        arrived.extend_from_slice(piece);
        if found.is_none() {
            let Some(head) = answer::read(&arrived).ok()? else {
                continue;
            };
            let _ = arrived.split_to(head.length);
            found = Some((head, Chunks::Size));
        }
        let Some((head, chunks)) = &mut found else {
            continue;
        };
        match head.framing {
            Framing::Length(length) => {
                let rest = usize::try_from(length).ok()?.checked_sub(body.len())?;
                body.extend_from_slice(&arrived.split_to(rest.min(arrived.len())));
                if body.len() as u64 == length {
                    let taken = head.length + body.len();
                    return Some((head.response.status().as_u16(), head.framing, body, taken));
                }
            }
            Framing::Chunks => {
                while let Some(piece) = chunks.take(&mut arrived).ok()? {
                    body.extend_from_slice(&piece);
                }
                if *chunks == Chunks::End {
                    let status = head.response.status().as_u16();
                    return Some((status, head.framing, body, 0));
                }
            }
            Framing::Close => body.extend_from_slice(&arrived.split()),
        }
    }
    let (head, _) = found?;
    let is_closed = head.framing == Framing::Close;
    is_closed.then(|| {
        (
            head.response.status().as_u16(),
            head.framing,
            body,
            bytes.len(),
        )
    })
}
