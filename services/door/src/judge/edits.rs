//! Changes to the bytes of a message: spans replaced, everything else as it came.

use std::borrow::Cow;

use countersign_wire::{Span, Value};

/// The named changes to one message. Whatever no change covers keeps its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits(Vec<(Span, Vec<u8>)>);

impl Edits {
    /// No change.
    pub const NONE: Self = Self(Vec::new());

    /// Puts these bytes in the place of a span.
    pub fn replace(&mut self, span: Span, bytes: impl Into<Vec<u8>>) {
        self.0.push((span, bytes.into()));
    }

    /// Adds the changes of another to the same bytes.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Takes members out of an object in these bytes; the others keep theirs, commas included.
    pub fn without_members(object: Value<'_>, bytes: &[u8], goes: impl Fn(&str) -> bool) -> Self {
        let mut edits = Self::NONE;
        let mut end_before = object.span().start + 1;
        let mut anything_stays = false;
        for (name, value) in object.members() {
            let end = value.span().end;
            if !goes(&name) {
                anything_stays = true;
            } else if anything_stays {
                // With the comma before it.
                edits.replace(end_before..end, "");
            } else {
                // With the comma after it, where there is one.
                let rest = &bytes[end..];
                let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
                let space = space.count();
                let comma = rest.get(space) == Some(&b',');
                let end = if comma { end + space + 1 } else { end };
                edits.replace(end_before..end, "");
            }
            end_before = end;
        }
        edits
    }

    /// Whether a change covers any of a span.
    pub fn touches(&self, span: &Span) -> bool {
        self.0
            .iter()
            .any(|(changed, _)| changed.start < span.end && span.start < changed.end)
    }

    /// Whether the message stays as it came.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes with the changes made.
    ///
    /// Where spans overlap, what any of them covers goes.
    pub fn apply<'b>(mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if self.0.is_empty() {
            return Cow::Borrowed(bytes);
        }
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let mut changed = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for (span, new) in &self.0 {
            if span.start > at {
                changed.extend_from_slice(&bytes[at..span.start]);
            }
            changed.extend_from_slice(new);
            at = at.max(span.end);
        }
        changed.extend_from_slice(&bytes[at..]);
        Cow::Owned(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(edits: &[(Span, &str)]) -> String {
        let mut all = Edits::NONE;
        for (span, new) in edits {
            all.replace(span.clone(), *new);
        }
        String::from_utf8(all.apply(b"0123456789").into_owned()).unwrap()
    }

    #[test]
    fn only_the_spans_change() {
        assert_eq!(edited(&[]), "0123456789");
        assert_eq!(edited(&[(5..6, "five"), (0..1, "")]), "1234five6789");
        assert_eq!(edited(&[(10..10, "!"), (0..0, "!")]), "!0123456789!");
    }

    #[test]
    fn nothing_of_overlapping_spans_stays() {
        assert_eq!(edited(&[(2..8, "-"), (4..6, "x")]), "01-x89");
        assert_eq!(edited(&[(2..5, "-"), (4..9, "x")]), "01-x9");
    }
}
