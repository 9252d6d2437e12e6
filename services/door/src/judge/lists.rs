//! Answers that list something: read strictly, and cut down to what would pass.
//!
//! The entries that stay keep their bytes; those that go are cut out. An answer that cannot be read
//! is not shown.

use countersign_policy::{Pin, definition_pin};
use countersign_wire::{Frame, Span, Type, Value, fold};

use super::edits::Edits;
use super::header_names::{self, Repeated};
use super::methods::{List, TOOLS};
use crate::door::BETWEEN_NAMES;
use crate::screen::Screens;

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
    /// Its name, or its address where it is known by one; only where that is a string.
    pub name: Option<String>,
    /// Where that stands.
    name_span: Option<Span>,
    /// The hash of its whole definition, where it has one that every reader agrees on.
    pub pin: Option<Pin>,
    /// The rule of injection screening for which it is not to be used.
    pub blocked: Option<&'static str>,
    /// The arguments that headers of a call repeat.
    pub repeated: Vec<Repeated>,
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

/// Reads an answer to a list question. A tool whose definition screening blocks has no pin: nothing
/// lets it be called.
///
/// # Errors
/// [`ListError`] when it is not such an answer.
pub fn read(frame: &Frame<'_>, list: List, screens: &Screens) -> Result<Answered, ListError> {
    let Some(result) = frame.root().get("result") else {
        return Ok(Answered::Error);
    };
    let (mut entries, array) = entries(result, list)?;
    for entry in entries.iter_mut().filter(|_| list.read_by.is_none()) {
        entry.blocked = screens.blocks_definition(frame, &entry.span);
        entry.pin = entry.pin.filter(|_| entry.blocked.is_none());
    }
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
        let name = element.get(list.named_by);
        let text = name.and_then(|name| name.as_str()).map(String::from);
        let (pin, repeated) = judged.then(|| judge(element)).flatten().unzip();
        let repeated = repeated.unwrap_or_default();
        entries.push(Entry {
            name_span: name.filter(|_| text.is_some()).map(|name| name.span()),
            name: text,
            pin,
            repeated,
            blocked: None,
            span: element.span(),
        });
    }
    Ok(entries)
}

/// The hash of a definition that every reader agrees on, and that asks for no header it may not; with the
/// headers it asks for.
fn judge(definition: Value<'_>) -> Option<(Pin, Vec<Repeated>)> {
    let pin = definition_pin(definition.raw()).ok()?;
    Some((pin, header_names::repeated(definition)?))
}

impl Page {
    /// What to change so that more stands at the list's end.
    pub fn append(&self, text: String) -> Edits {
        let end = self.array.end - 1;
        let mut edits = Edits::NONE;
        edits.replace(end..end, text);
        edits
    }

    /// What to change so that each of these entries is called by its server's name as well.
    pub fn prefix(&self, server: &str, stays: impl Fn(&Entry) -> bool) -> Edits {
        let mut edits = Edits::NONE;
        for entry in self.entries.iter().filter(|entry| stays(entry)) {
            if let Some(span) = &entry.name_span {
                // Behind the quote; a server's name is plain and needs no escape.
                let at = span.start + 1;
                edits.replace(at..at, format!("{server}{BETWEEN_NAMES}"));
            }
        }
        edits
    }

    /// What to change so that only the entries that stay are there; they keep their bytes.
    pub fn cut(&self, stays: impl Fn(&Entry) -> bool) -> Edits {
        let mut edits = Edits::NONE;
        let kept: Vec<_> = self.entries.iter().filter(|entry| stays(entry)).collect();
        if kept.len() == self.entries.len() {
            return edits;
        }
        let mut at = self.array.start + 1;
        for (position, entry) in kept.iter().enumerate() {
            let between: &[u8] = if position == 0 { b"" } else { b"," };
            edits.replace(at..entry.span.start, between);
            at = entry.span.end;
        }
        edits.replace(at..self.array.end - 1, b"");
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::Caps;

    const BODY: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[ {"name":"a","x":1} , {"name":"b"},{"title":"nameless"}],"nextCursor":"c","ttlMs":5}}"#;

    fn page(body: &str) -> Page {
        let frame = Frame::read_within(body.as_bytes(), &Caps::ANSWER).unwrap();
        match read(&frame, TOOLS, &Screens::default()).unwrap() {
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
        let named = page.prefix("s", |entry| entry.name.as_deref() != Some("b"));
        let named = String::from_utf8(named.apply(BODY.as_bytes()).into_owned()).unwrap();
        assert_eq!(named, BODY.replace("\"a\",\"x\"", "\"s__a\",\"x\""));
        assert_eq!(page.next_cursor.as_deref(), Some("c"));
        let cut = |stays: fn(&Entry) -> bool| {
            let cut = page.cut(stays).apply(BODY.as_bytes()).into_owned();
            String::from_utf8(cut).unwrap()
        };
        assert_eq!(
            cut(|entry| entry.name.as_deref() == Some("a")),
            r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a","x":1}],"nextCursor":"c","ttlMs":5}}"#
        );
        assert_eq!(
            cut(|entry| entry.name.as_deref() != Some("b")),
            r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a","x":1},{"title":"nameless"}],"nextCursor":"c","ttlMs":5}}"#
        );
        assert!(cut(|_| false).contains(r#""tools":[],"#));
        assert!(page.cut(|_| true).is_empty());
    }

    #[test]
    fn what_cannot_be_judged_is_not_shown() {
        for body in [
            BODY.replace("\"tools\":", "\"Tools\":"),
            BODY.replace("\"ttlMs\":5", "\"Tools\":[]"),
            BODY.replace("{\"name\":\"b\"}", "\"b\""),
        ] {
            let frame = Frame::read_within(body.as_bytes(), &Caps::ANSWER).unwrap();
            assert!(read(&frame, TOOLS, &Screens::default()).is_err(), "{body}");
        }
        let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m"}}"#;
        let frame = Frame::read(error.as_bytes()).unwrap();
        assert!(matches!(
            read(&frame, TOOLS, &Screens::default()),
            Ok(Answered::Error)
        ));
    }
}
