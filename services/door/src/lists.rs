//! Answers that list something: read strictly, and cut down to what would pass.
//!
//! The entries that stay keep their bytes; those that go are cut out. An answer that cannot be read
//! is not shown.

use countersign_policy::{Pin, definition_pin};
use countersign_wire::{Caps, Frame, Kind, Span, Type, Value, fold};

use crate::methods::{List, TOOLS};

/// Most entries of one page.
const ENTRIES_MAX: usize = 4_096;

/// An answer that cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The strict reader refuses it, or it is no answer to this question.
    #[error("read a list: not a well-formed answer to the question")]
    Malformed,
}

/// One entry of a list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name; of tools alone, and only where it is a string.
    pub name: Option<String>,
    /// The hash of its whole definition, where it has one that every reader agrees on.
    pub pin: Option<Pin>,
    span: Span,
}

/// A list as the server answered it.
#[derive(Debug)]
pub enum Answered {
    /// An error, to be shown as it is.
    Error,
    /// A page.
    Page(Page),
}

/// One page of a list, over the bytes of the answer.
#[derive(Debug)]
pub struct Page {
    /// Its entries, in order.
    pub entries: Vec<Entry>,
    /// Where to ask for the next page.
    pub next_cursor: Option<String>,
    array: Span,
}

/// Reads an answer to a list question asked under this id.
///
/// # Errors
/// [`ListError`] when it is not such an answer.
pub fn read(body: &[u8], id: &str, list: List) -> Result<Answered, ListError> {
    let frame = Frame::read_within(body, &Caps::ANSWER).map_err(|_| ListError::Malformed)?;
    if frame.kind() != Kind::Answer || frame.id_raw() != Some(id) {
        return Err(ListError::Malformed);
    }
    let Some(result) = frame.root().get("result") else {
        return Ok(Answered::Error);
    };
    let (entries, array) = entries(result, list)?;
    let next_cursor = result.get("nextCursor").and_then(|cursor| cursor.as_str());
    Ok(Answered::Page(Page {
        entries,
        next_cursor: next_cursor.map(String::from),
        array,
    }))
}

/// The entries of a `tools/list` result, or of its list alone.
///
/// # Errors
/// [`ListError`] when it is neither.
pub fn tools(result: Value<'_>) -> Result<Vec<Entry>, ListError> {
    match result.kind() {
        Type::Array => entries_of(result, TOOLS),
        _ => entries(result, TOOLS).map(|(entries, _)| entries),
    }
}

/// The entries of a result, and where their array stands.
fn entries(result: Value<'_>, list: List) -> Result<(Vec<Entry>, Span), ListError> {
    // A reader that ignores case would show another list than the one that was judged.
    let shadowed = result
        .members()
        .any(|(name, _)| name != list.member && fold(&name).eq_ignore_ascii_case(list.member));
    let array = result.get(list.member).ok_or(ListError::Malformed)?;
    if shadowed {
        return Err(ListError::Malformed);
    }
    Ok((entries_of(array, list)?, array.span()))
}

fn entries_of(array: Value<'_>, list: List) -> Result<Vec<Entry>, ListError> {
    if array.kind() != Type::Array {
        return Err(ListError::Malformed);
    }
    let mut entries = Vec::new();
    for element in array.elements() {
        if entries.len() == ENTRIES_MAX || !element.is_object() {
            return Err(ListError::Malformed);
        }
        let judged = list.read_by.is_none();
        entries.push(Entry {
            name: element
                .get("name")
                .filter(|_| judged)
                .and_then(|name| name.as_str())
                .map(String::from),
            pin: judged.then(|| definition_pin(element.raw()).ok()).flatten(),
            span: element.span(),
        });
    }
    Ok(entries)
}

impl Page {
    /// The answer with only the entries that stay; none when all of them do.
    pub fn cut(&self, body: &[u8], stays: impl Fn(&Entry) -> bool) -> Option<Vec<u8>> {
        let kept: Vec<_> = self.entries.iter().filter(|entry| stays(entry)).collect();
        if kept.len() == self.entries.len() {
            return None;
        }
        let mut cut = Vec::with_capacity(body.len());
        cut.extend_from_slice(&body[..self.array.start]);
        cut.push(b'[');
        for (position, entry) in kept.iter().enumerate() {
            if position > 0 {
                cut.push(b',');
            }
            cut.extend_from_slice(&body[entry.span.clone()]);
        }
        cut.push(b']');
        cut.extend_from_slice(&body[self.array.end..]);
        Some(cut)
    }
}

/// Applies a change to the one answer in a stream of server-sent events; other events stay.
///
/// # Errors
/// [`ListError`] when the stream is no such stream, or an event's data cannot be judged.
pub fn in_events(
    stream: &[u8],
    change: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, ListError>,
) -> Result<Vec<u8>, ListError> {
    let text = std::str::from_utf8(stream).map_err(|_| ListError::Malformed)?;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut changed = Vec::with_capacity(text.len());
    for event in text.split_inclusive("\n\n") {
        let data: Vec<_> = event
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|data| data.strip_prefix(' ').unwrap_or(data))
            .collect();
        let data = data.join("\n");
        // An event without data is a sign of life; a notification of progress, say, is no list.
        let is_answer = !data.is_empty()
            && Frame::read_within(data.as_bytes(), &Caps::ANSWER)
                .map_err(|_| ListError::Malformed)?
                .kind()
                == Kind::Answer;
        match is_answer {
            false => changed.extend_from_slice(event.as_bytes()),
            true => {
                let new = change(data.as_bytes())?;
                let new = new.map_or(data, |new| String::from_utf8_lossy(&new).into_owned());
                for line in event.lines().filter(|line| !line.starts_with("data:")) {
                    if !line.is_empty() {
                        changed.extend_from_slice(line.as_bytes());
                        changed.push(b'\n');
                    }
                }
                for line in new.lines() {
                    changed.extend_from_slice(b"data: ");
                    changed.extend_from_slice(line.as_bytes());
                    changed.push(b'\n');
                }
                changed.push(b'\n');
            }
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::TOOLS;

    const BODY: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[ {"name":"a","x":1} , {"name":"b"},{"title":"nameless"}],"nextCursor":"c","ttlMs":5}}"#;

    fn page(body: &str) -> Page {
        match read(body.as_bytes(), "7", TOOLS).unwrap() {
            Answered::Page(page) => page,
            Answered::Error => panic!("an error"),
        }
    }

    #[test]
    fn entries_that_stay_keep_their_bytes() {
        let page = page(BODY);
        let names: Vec<_> = page
            .entries
            .iter()
            .map(|entry| entry.name.as_deref())
            .collect();
        assert_eq!(names, [Some("a"), Some("b"), None]);
        assert_eq!(page.next_cursor.as_deref(), Some("c"));
        let cut = page
            .cut(BODY.as_bytes(), |entry| entry.name.as_deref() == Some("a"))
            .unwrap();
        assert_eq!(
            String::from_utf8(cut).unwrap(),
            r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a","x":1}],"nextCursor":"c","ttlMs":5}}"#
        );
        let none = page.cut(BODY.as_bytes(), |_| false).unwrap();
        assert!(String::from_utf8(none).unwrap().contains(r#""tools":[],"#));
        assert_eq!(page.cut(BODY.as_bytes(), |_| true), None);
    }

    #[test]
    fn what_cannot_be_judged_is_not_shown() {
        for body in [
            BODY.replace("\"id\":7", "\"id\":\"7\""),
            BODY.replace("\"id\":7", "\"id\":8"),
            BODY.replace("\"tools\":", "\"Tools\":"),
            BODY.replace("\"ttlMs\":5", "\"Tools\":[]"),
            BODY.replace("\"ttlMs\":5", "\"tools\":[]"),
            BODY.replace("{\"name\":\"b\"}", "\"b\""),
            BODY.replace("\"x\":1", "\"name\":\"b\""),
            BODY.replace("\"x\":1", "\"x\":NaN"),
            BODY.replace("\"result\"", "\"Result\""),
            BODY[1..].to_owned(),
            format!("{BODY}{BODY}"),
        ] {
            assert!(read(body.as_bytes(), "7", TOOLS).is_err(), "{body}");
        }
        let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m"}}"#;
        assert!(matches!(
            read(error.as_bytes(), "7", TOOLS),
            Ok(Answered::Error)
        ));
    }

    #[test]
    fn a_list_in_a_stream_of_events_is_cut_too() {
        let stream = format!(
            "id: 0\ndata:\n\n: alive\n\nevent: message\r\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}}\r\n\r\ndata: {BODY}\n\n"
        );
        let cut = in_events(stream.as_bytes(), |data| match read(data, "7", TOOLS)? {
            Answered::Page(page) => Ok(page.cut(data, |_| false)),
            Answered::Error => Ok(None),
        });
        let cut = String::from_utf8(cut.unwrap()).unwrap();
        assert!(
            cut.starts_with("id: 0\ndata:\n\n: alive\n\nevent: message\n"),
            "{cut}"
        );
        assert!(cut.contains(r#""tools":[],"#), "{cut}");
        assert!(!cut.contains("\"a\""), "{cut}");
        let broken = format!("data: {}\n\n", BODY.replace("\"ttlMs\":5", "\"tools\":[]"));
        assert!(
            in_events(broken.as_bytes(), |data| read(data, "7", TOOLS)
                .map(|_| None))
            .is_err()
        );
    }
}
