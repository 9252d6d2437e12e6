//! A body in chunks (RFC 9112 §7.1), taken apart as it arrives. Extensions and trailers are passed over.

use bytes::{Buf as _, Bytes, BytesMut};

use super::LineError;

/// Longest line of a chunk's size, with its extensions.
const SIZE_LINE_BYTES_MAX: usize = 256;
/// Most bytes of trailers.
const TRAILER_BYTES_MAX: usize = 8 * 1024;

/// Where in its chunks a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunks {
    /// Before a size.
    Size,
    /// Before so many bytes of a chunk.
    Data(u64),
    /// Before the line's end that follows a chunk.
    DataEnd,
    /// After the last chunk, with so many bytes of trailers seen.
    Trailers(usize),
    /// At the end.
    End,
}

impl Chunks {
    /// The next piece of the body; none if more has to arrive first, or at the end.
    ///
    /// # Errors
    /// [`LineError::Chunk`] when this is no chunk.
    pub fn take(&mut self, bytes: &mut BytesMut) -> Result<Option<Bytes>, LineError> {
        loop {
            match *self {
                Self::Size => {
                    let Some(line) = line(bytes, SIZE_LINE_BYTES_MAX)? else {
                        return Ok(None);
                    };
                    let size = size(&bytes[..line - 2]).ok_or(LineError::Chunk)?;
                    bytes.advance(line);
                    *self = match size {
                        0 => Self::Trailers(0),
                        size => Self::Data(size),
                    };
                }
                Self::Data(rest) => {
                    let there = bytes.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
                    if there == 0 {
                        return Ok(None);
                    }
                    *self = match rest - there as u64 {
                        0 => Self::DataEnd,
                        rest => Self::Data(rest),
                    };
                    return Ok(Some(bytes.split_to(there).freeze()));
                }
                Self::DataEnd => {
                    let there = bytes.len().min(2);
                    if bytes[..there] != b"\r\n"[..there] {
                        return Err(LineError::Chunk);
                    }
                    if there < 2 {
                        return Ok(None);
                    }
                    bytes.advance(2);
                    *self = Self::Size;
                }
                Self::Trailers(seen) => {
                    let Some(line) = line(bytes, TRAILER_BYTES_MAX - seen)? else {
                        return Ok(None);
                    };
                    if line > 2 && !is_field(&bytes[..line - 2]) {
                        return Err(LineError::Chunk);
                    }
                    bytes.advance(line);
                    *self = match line {
                        2 => Self::End,
                        line => Self::Trailers(seen + line),
                    };
                }
                Self::End => return Ok(None),
            }
        }
    }
}

/// The length of the line at the front, which ends in CR and LF.
fn line(bytes: &[u8], longest: usize) -> Result<Option<usize>, LineError> {
    match memchr::memchr(b'\n', bytes) {
        Some(end) if end >= longest => Err(LineError::Chunk),
        Some(end) if end > 0 && bytes[end - 1] == b'\r' => {
            match memchr::memchr(b'\r', &bytes[..end - 1]) {
                None => Ok(Some(end + 1)),
                Some(_) => Err(LineError::Chunk),
            }
        }
        Some(_) => Err(LineError::Chunk),
        None if bytes.len() > longest => Err(LineError::Chunk),
        None => Ok(None),
    }
}

/// Whether a line has the form of a header: a name, a colon, a value.
fn is_field(line: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', line) else {
        return false;
    };
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(byte);
    let in_value = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    colon > 0 && line[..colon].iter().all(in_name) && line[colon..].iter().all(in_value)
}

/// The size that a line says, in at most fifteen hexadecimal digits.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?;
    let digits = digits.trim_ascii_end();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a body in these pieces is, and what is left behind it.
    fn body(pieces: &[&[u8]]) -> Result<(Vec<u8>, Chunks, Vec<u8>), LineError> {
        let (mut chunks, mut bytes, mut body) = (Chunks::Size, BytesMut::new(), Vec::new());
        for piece in pieces {
            bytes.extend_from_slice(piece);
            while let Some(piece) = chunks.take(&mut bytes)? {
                body.extend_from_slice(&piece);
            }
        }
        Ok((body, chunks, bytes.to_vec()))
    }

    #[test]
    fn a_body_is_the_same_however_it_is_cut() {
        let text = b"4\r\nWiki\r\n00E;a=\"b\"\r\n in\r\n\r\nchunks.\r\n5 \r\n12345\r\n0\r\nX: y\r\n\r\nrest";
        let whole = b"Wiki in\r\n\r\nchunks.12345".to_vec();
        for cut in 0..=text.len() {
            let (before, after) = text.split_at(cut);
            let read = body(&[before, after]).expect("chunks");
            assert_eq!(
                read,
                (whole.clone(), Chunks::End, b"rest".to_vec()),
                "{cut}"
            );
        }
        let bytes: Vec<_> = text.iter().map(std::slice::from_ref).collect();
        assert_eq!(body(&bytes).expect("chunks").0, whole);
    }

    #[test]
    fn what_could_end_in_two_places_is_no_chunk() {
        for text in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "+1\r\n",
            "0x1\r\n",
            " 1\r\na\r\n",
            "1\na\r\n",
            "1\ra\r\n",
            "1;\ra\r\nb",
            "1\r\nab\r\n",
            "1\r\na\n",
            "1\r\na\rb",
            "1111111111111111\r\n",
            "ffffffffffffffffff\r\n",
            "0\r\nX: y\n\r\n",
            "0\r\n\n",
            "0\r\n: y\r\n\r\n",
            "0\r\nX\r\n\r\n",
            "0\r\n X: y\r\n\r\n",
            "0\r\nX: \0\r\n\r\n",
        ] {
            assert!(body(&[text.as_bytes()]).is_err(), "{text:?}");
        }
        let long = format!("1;{}", "x".repeat(SIZE_LINE_BYTES_MAX));
        assert!(body(&[long.as_bytes()]).is_err());
        let trailers = format!("0\r\n{}", "X: y\r\n".repeat(2_000));
        assert!(body(&[trailers.as_bytes()]).is_err());
    }
}
