//! Lines from a pipe: bounded, and as many at once as are there.

use std::io::Read;

/// What is read at once, in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// A buffer that grew for one long line is given back above this many bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Lines as they arrive. Ends are LF or CRLF and are not part of the line.
pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// How far the buffer was searched for a line's end.
    searched: usize,
    longest: usize,
    /// A line was too long: what is left of it is not kept.
    skipping: bool,
    ended: bool,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// All of it.
    Whole(&'l [u8]),
    /// It is longer than it may be; nothing of it is kept.
    TooLong,
}

impl<R: Read> Lines<R> {
    /// Lines of at most so many bytes.
    pub fn new(from: R, longest: usize) -> Self {
        Self {
            from,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
            searched: 0,
            longest,
            skipping: false,
            ended: false,
        }
    }

    /// Where the lines come from.
    pub const fn source(&self) -> &R {
        &self.from
    }

    /// Waits for more bytes with one read. False when there are no more and no line is left.
    ///
    /// # Errors
    /// What the pipe says.
    pub fn fill(&mut self) -> std::io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.len() > KEPT_BYTES_MAX && self.end < CHUNK_BYTES {
            self.buffer.truncate(2 * CHUNK_BYTES);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.len() - self.end < CHUNK_BYTES / 2 {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => {
                    self.ended = true;
                    // A last line without its end may still be a whole message.
                    return Ok(self.end > self.start);
                }
                Ok(read) => {
                    self.end += read;
                    return Ok(true);
                }
            }
        }
    }

    /// The next line among the bytes that are there.
    pub fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]);
            let Some(at) = found else {
                self.searched = self.end;
                return self.rest();
            };
            let (from, to) = (self.start, self.searched + at);
            self.start = to + 1;
            self.searched = self.start;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let line = &self.buffer[from..to];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            return Some(match line.len() > self.longest {
                true => Line::TooLong,
                false => Line::Whole(line),
            });
        }
    }

    /// What to do with bytes that have no end of a line yet.
    fn rest(&mut self) -> Option<Line<'_>> {
        let length = self.end - self.start;
        if self.skipping {
            (self.start, self.end, self.searched) = (0, 0, 0);
            return None;
        }
        if length > self.longest {
            (self.start, self.end, self.searched) = (0, 0, 0);
            self.skipping = true;
            return Some(Line::TooLong);
        }
        if self.ended && length > 0 {
            let from = self.start;
            self.start = self.end;
            let line = &self.buffer[from..self.end];
            return Some(Line::Whole(line.strip_suffix(b"\r").unwrap_or(line)));
        }
        None
    }
}

/// A message as one line: what ends lines can only stand between values there, where a space says
/// the same.
///
/// A reader that also takes a lone CR for the end of a line must not see another message inside.
pub fn push_line(to: &mut Vec<u8>, message: &[u8]) {
    let from = to.len();
    to.extend_from_slice(message);
    if memchr::memchr2(b'\r', b'\n', message).is_some() {
        for byte in &mut to[from..] {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
    }
    to.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pieces<'p>(std::slice::Iter<'p, &'p [u8]>);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some(piece) = self.0.next() else {
                return Ok(0);
            };
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn read(pieces: &[&[u8]], longest: usize) -> Vec<String> {
        let mut lines = Lines::new(Pieces(pieces.iter()), longest);
        let mut read = Vec::new();
        while lines.fill().unwrap() {
            while let Some(line) = lines.next() {
                read.push(match line {
                    Line::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                    Line::TooLong => "too long".into(),
                });
            }
        }
        read
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = b"one\r\n\ntwo\nthree";
        let whole = read(&[text], 10);
        assert_eq!(whole, ["one", "", "two", "three"]);
        let bytes: Vec<_> = text.chunks(1).collect();
        assert_eq!(read(&bytes, 10), whole);
    }

    #[test]
    fn nothing_of_a_line_that_is_too_long_is_kept() {
        let long = [b'x'; 40];
        assert_eq!(
            read(&[&long, &long, b"x\nshort\n", &long, b"\nend\n"], 30),
            ["too long", "short", "too long", "end"]
        );
        let mut lines = Lines::new(std::io::repeat(b'x').take(64 << 20), 1 << 20);
        let mut too_long = 0;
        while lines.fill().unwrap() {
            while let Some(line) = lines.next() {
                too_long += usize::from(line == Line::TooLong);
            }
            assert!(lines.buffer.len() <= 4 << 20, "{}", lines.buffer.len());
        }
        assert_eq!(too_long, 1);
    }

    #[test]
    fn a_message_is_one_line_for_every_reader() {
        let mut line = Vec::new();
        push_line(&mut line, b"{\"a\":\r{\"b\":1}\r\n}");
        assert_eq!(line, b"{\"a\": {\"b\":1}  }\n");
    }
}
