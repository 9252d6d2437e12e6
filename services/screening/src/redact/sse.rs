//! Server-sent events whose data is looked at whole, however the bytes were cut.

use std::convert::Infallible;

use super::Redactor;

/// Longest event that is held until it is whole, in bytes.
pub const EVENT_BYTES_MAX: usize = 32 << 20;

/// An event that does not end within [`EVENT_BYTES_MAX`]. Nothing of it was passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hold an event until it is whole: it is longer than {EVENT_BYTES_MAX} bytes")]
pub struct EventTooLong;

/// A stream of events under way: bytes that do not make an event yet are held back.
#[derive(Debug, Default)]
pub struct Events {
    held: Vec<u8>,
    /// Where the line under way begins, and how much of it was searched for its end.
    line: usize,
    searched: usize,
}

/// Why a stream of events cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventError<E> {
    /// An event has no end.
    TooLong(EventTooLong),
    /// An event may not be passed on.
    Refused(E),
}

impl Events {
    /// Takes the next bytes and returns the events that are whole by now, each after a change to its data.
    ///
    /// An event whose data does not change keeps its bytes; of another the other lines do.
    ///
    /// # Errors
    /// What `change` says, or [`EventTooLong`]; the stream ends there.
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        mut change: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Vec<u8>, EventError<E>> {
        self.held.extend_from_slice(bytes);
        let mut passed = Vec::new();
        let mut begin = 0;
        while let Some((end, next)) = self.line_end() {
            let is_blank = end == self.line;
            self.line = next;
            self.searched = next;
            if is_blank {
                changed(&self.held[begin..next], &mut change, &mut passed)
                    .map_err(EventError::Refused)?;
                begin = next;
            }
        }
        self.held.drain(..begin);
        self.line -= begin;
        self.searched -= begin;
        if self.held.len() > EVENT_BYTES_MAX {
            return Err(EventError::TooLong(EventTooLong));
        }
        Ok(passed)
    }

    /// Where the line under way ends and the next one begins.
    fn line_end(&mut self) -> Option<(usize, usize)> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let end = self.held[self.searched..].iter().position(is_end);
        let Some(end) = end.map(|length| self.searched + length) else {
            self.searched = self.held.len();
            return None;
        };
        match (self.held[end], self.held.get(end + 1)) {
            (b'\r', Some(b'\n')) => Some((end, end + 2)),
            // The other half of the line end may come with the next bytes.
            (b'\r', None) => {
                self.searched = end;
                None
            }
            _ => Some((end, end + 1)),
        }
    }
}

/// Passes one event on, its data changed.
fn changed<E>(
    event: &[u8],
    change: &mut impl FnMut(&str) -> Result<Option<String>, E>,
    passed: &mut Vec<u8>,
) -> Result<(), E> {
    // The format is UTF-8; what is not would be read as replacement characters.
    let text = String::from_utf8_lossy(event);
    let data: Vec<&str> = lines(&text).filter_map(data_of).collect();
    let new = match data.as_slice() {
        [] => None,
        [one] => change(one)?,
        many => change(&many.join("\n"))?,
    };
    let Some(new) = new else {
        passed.extend_from_slice(event);
        return Ok(());
    };
    let mut is_written = false;
    for line in lines(&text) {
        if data_of(line).is_none() {
            passed.extend_from_slice(line.as_bytes());
            passed.push(b'\n');
        } else if !is_written {
            is_written = true;
            for line in new.split('\n') {
                passed.extend_from_slice(b"data: ");
                passed.extend_from_slice(line.as_bytes());
                passed.push(b'\n');
            }
        }
    }
    Ok(())
}

/// The lines of an event, its closing blank line among them.
fn lines(event: &str) -> impl Iterator<Item = &str> {
    let mut rest = event;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let line = &rest[..end];
        let length = if rest[end..].starts_with("\r\n") {
            2
        } else {
            1
        };
        rest = rest.get(end + length..).unwrap_or_default();
        Some(line)
    })
}

fn data_of(line: &str) -> Option<&str> {
    if line == "data" {
        return Some("");
    }
    let data = line.strip_prefix("data:")?;
    Some(data.strip_prefix(' ').unwrap_or(data))
}

/// Takes secrets out of the data of a stream of events.
#[derive(Debug)]
pub struct EventRedactor {
    redactor: Redactor,
    events: Events,
}

impl EventRedactor {
    /// Begins a stream.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            events: Events::default(),
        }
    }

    /// Takes the next bytes and returns what may be passed on by now. Data that is JSON stays JSON.
    ///
    /// # Errors
    /// [`EventTooLong`]; the stream ends there.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, EventTooLong> {
        let redactor = &self.redactor;
        let pushed = self.events.push(bytes, |data| {
            let redacted = redactor
                .redact_json(data.as_bytes())
                .unwrap_or_else(|_| redactor.redact_text(data));
            Ok::<_, Infallible>((!redacted.edits.is_empty()).then(|| redacted.text.into_owned()))
        });
        pushed.map_err(|error| match error {
            EventError::TooLong(error) => error,
            EventError::Refused(never) => match never {},
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rules;
    use super::*;

    const STREAM: &str = ": alive\n\nevent: message\r\nid: 1\r\ndata: {\"text\":\"key AKIAIOSFODNN7EXAMPLE\"}\r\n\r\ndata: plain AKIA\ndata: IOSFODNN7EXAMPLE\n\ndata:ghp_abcdefghijklmnopqrst\r\rdata: {\"a\":\ndata: \"4111111111111111\"}\n\ndata: {\"n\":1}\n\n";

    fn run(pieces: &[&[u8]]) -> String {
        let mut redactor = EventRedactor::new(Redactor::new(&Rules::standard()));
        let passed: Vec<u8> = pieces
            .iter()
            .flat_map(|piece| redactor.push(piece).unwrap())
            .collect();
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn the_data_of_every_event_is_redacted_and_the_rest_stays() {
        assert_eq!(
            run(&[STREAM.as_bytes()]),
            ": alive\n\nevent: message\nid: 1\ndata: {\"text\":\"key [redacted: cloud_key]\"}\n\ndata: plain AKIA\ndata: IOSFODNN7EXAMPLE\n\ndata: [redacted: forge_token]\n\ndata: {\"a\":\ndata: \"[redacted: card ending 1111]\"}\n\ndata: {\"n\":1}\n\n"
        );
    }

    #[test]
    fn a_cut_at_any_byte_changes_nothing() {
        let whole = run(&[STREAM.as_bytes()]);
        for cut in 0..STREAM.len() {
            let (one, other) = STREAM.as_bytes().split_at(cut);
            assert_eq!(run(&[one, other]), whole, "{cut}");
        }
        let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(run(&bytes), whole);
    }

    #[test]
    fn an_event_that_never_ends_is_not_passed_on() {
        let mut redactor = EventRedactor::new(Redactor::new(&Rules::standard()));
        assert_eq!(redactor.push(b"data: AKIAIOSFODNN7EXAMPLE").unwrap(), b"");
        let long = vec![b'x'; EVENT_BYTES_MAX + 1];
        assert_eq!(redactor.push(&long), Err(EventTooLong));
    }
}
