//! Server-sent events: a stream taken apart event by event, as it arrives.

/// Longest event, in bytes.
pub const EVENT_BYTES_MAX: usize = crate::judge::reply::REPLY_BYTES_MAX + 4_096;

/// The stream's current event is longer than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read a stream of events: an event is too long")]
pub struct TooLong;

/// Takes bytes and gives whole events.
#[derive(Debug, Default)]
pub struct Splitter {
    buffer: Vec<u8>,
    /// How far the buffer was looked through.
    seen: usize,
    /// Whether the line that ends next is empty so far.
    line_is_empty: bool,
}

impl Splitter {
    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.buffer.is_empty() {
            self.line_is_empty = true;
            self.seen = 0;
        }
        self.buffer.extend_from_slice(bytes);
        match self.buffer.len() > EVENT_BYTES_MAX + bytes.len() {
            true => Err(TooLong),
            false => Ok(()),
        }
    }

    /// The next whole event, blank line included. What the stream ends in without one is no event.
    pub fn next(&mut self) -> Option<Event> {
        while self.seen < self.buffer.len() {
            let byte = self.buffer[self.seen];
            self.seen += 1;
            let after_return = self.seen >= 2 && self.buffer[self.seen - 2] == b'\r';
            match byte {
                b'\n' if after_return => {
                    // The second half of one line's end.
                }
                b'\n' | b'\r' if self.line_is_empty => {
                    if byte == b'\r' && self.buffer.get(self.seen) == Some(&b'\n') {
                        self.seen += 1;
                    }
                    let raw: Vec<u8> = self.buffer.drain(..self.seen).collect();
                    self.seen = 0;
                    return Some(Event { raw });
                }
                b'\n' | b'\r' => self.line_is_empty = true,
                _ => self.line_is_empty = false,
            }
        }
        None
    }
}

/// One event, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    raw: Vec<u8>,
}

impl Event {
    /// An event that holds this message.
    pub fn of(message: &[u8]) -> Self {
        let mut event = Self {
            raw: b"\n".to_vec(),
        };
        event.raw = event.with_data(message);
        event
    }

    /// The event as it came, or with another message in the place of its own.
    pub fn with_shown(self, shown: std::borrow::Cow<'_, [u8]>) -> Vec<u8> {
        match shown {
            std::borrow::Cow::Borrowed(_) => self.into_raw(),
            std::borrow::Cow::Owned(shown) => self.with_data(&shown),
        }
    }

    /// Its bytes.
    pub fn into_raw(self) -> Vec<u8> {
        self.raw
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.raw[..];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = rest
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .unwrap_or(rest.len());
            let (line, tail) = rest.split_at(end);
            let ending = if tail.starts_with(b"\r\n") { 2 } else { 1 };
            rest = tail.get(ending..).unwrap_or_default();
            Some(line)
        })
    }

    /// The message it holds; none where it is a sign of life, or a place to resume from.
    pub fn data(&self) -> Option<Vec<u8>> {
        let mut data: Option<Vec<u8>> = None;
        for line in self.lines() {
            let Some(value) = field(line, b"data") else {
                continue;
            };
            match &mut data {
                None => data = Some(value.to_vec()),
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            }
        }
        data.filter(|data| !data.is_empty())
    }

    /// The event with another message in it, or with none. Its other lines stay.
    pub fn with_data(&self, message: &[u8]) -> Vec<u8> {
        let mut event = Vec::with_capacity(message.len() + 32);
        for line in self.lines() {
            if field(line, b"data").is_none() && !line.is_empty() {
                event.extend_from_slice(line);
                event.push(b'\n');
            }
        }
        for line in message.split(|byte| matches!(byte, b'\n' | b'\r')) {
            event.extend_from_slice(b"data: ");
            event.extend_from_slice(line);
            event.push(b'\n');
        }
        event.push(b'\n');
        event
    }
}

/// The value of a line of this field.
fn field<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        "id: 0\ndata:\n\n: alive\n\nevent: message\r\ndata: {\r\ndata:}\r\n\r\ndata: last";

    fn events(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut splitter = Splitter::default();
        let mut events = Vec::new();
        for piece in pieces {
            splitter.feed(piece).unwrap();
            while let Some(event) = splitter.next() {
                events.push(event.into_raw());
            }
        }
        events
    }

    #[test]
    fn events_are_the_same_however_they_arrive() {
        let whole = events(&[STREAM.as_bytes()]);
        assert_eq!(whole.len(), 3);
        let joined: Vec<u8> = whole.concat();
        assert!(STREAM.as_bytes().starts_with(&joined));
        let bytes: Vec<_> = STREAM.as_bytes().chunks(1).collect();
        let meaning = |events: Vec<Vec<u8>>| {
            let data = events.into_iter().map(|raw| Event { raw }.data());
            data.flatten().collect::<Vec<_>>()
        };
        assert_eq!(meaning(events(&bytes)), meaning(whole));
    }

    #[test]
    fn only_the_message_changes() {
        let all = events(&[STREAM.as_bytes()]);
        let event = |number: usize| Event {
            raw: all[number].clone(),
        };
        assert_eq!(event(0).data(), None);
        assert_eq!(event(1).data(), None);
        assert_eq!(event(2).data().as_deref(), Some(&b"{\n}"[..]));
        assert_eq!(
            String::from_utf8(event(2).with_data(b"{}\n[]")).unwrap(),
            "event: message\ndata: {}\ndata: []\n\n"
        );
        assert_eq!(Event::of(b"{}").into_raw(), b"data: {}\n\n");
    }

    #[test]
    fn an_event_without_end_is_given_up() {
        let mut splitter = Splitter::default();
        let piece = vec![b'a'; 1 << 20];
        let fed = (0..64).map(|_| splitter.feed(&piece)).find(Result::is_err);
        assert_eq!(fed, Some(Err(TooLong)));
    }
}
