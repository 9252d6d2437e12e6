//! Values as they stand in the bytes.

use std::borrow::Cow;
use std::ops::Range;

use crate::Document;
use crate::document::Node;
use crate::text::unescape;

/// The largest integer that every reader of JSON keeps exactly.
const EXACT_INTEGER_MAX: i64 = (1 << 53) - 1;

/// What kind of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `null`.
    Null,
    /// `true`.
    True,
    /// `false`.
    False,
    /// A number, kept as it was written.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// The bytes a value was read from.
pub type Span = Range<usize>;

/// One value of a document. Copying it is copying two words.
#[derive(Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    index: u32,
}

impl<'d> Value<'d> {
    pub(crate) const fn new(document: &'d Document<'d>, index: u32) -> Self {
        Self { document, index }
    }

    fn node(&self) -> &'d Node {
        &self.document.nodes[self.index as usize]
    }

    /// What kind of value it is.
    #[must_use]
    pub fn kind(&self) -> Type {
        self.node().kind
    }

    /// The bytes it was read from, quotes and brackets included.
    #[must_use]
    pub fn span(&self) -> Span {
        self.node().start as usize..self.node().end as usize
    }

    /// Its text exactly as written.
    #[must_use]
    pub fn raw(&self) -> &'d str {
        &self.document.text[self.span()]
    }

    /// The characters of a string; borrowed unless it was written with escapes.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'d, str>> {
        let node = self.node();
        if node.kind != Type::String {
            return None;
        }
        let inner = &self.document.text[node.start as usize + 1..node.end as usize - 1];
        Some(if node.escaped {
            Cow::Owned(unescape(inner))
        } else {
            Cow::Borrowed(inner)
        })
    }

    /// Whether it is a string or a member name that was written with at least one escape.
    #[must_use]
    pub fn is_escaped(&self) -> bool {
        self.node().escaped
    }

    /// Whether it is a member name and not a value: a colon follows.
    #[must_use]
    pub fn is_member_name(&self) -> bool {
        let node = self.node();
        node.kind == Type::String
            && self.document.text.as_bytes()[node.end as usize..]
                .iter()
                .find(|byte| !byte.is_ascii_whitespace())
                == Some(&b':')
    }

    /// The text of a number exactly as written.
    #[must_use]
    pub fn as_number_text(&self) -> Option<&'d str> {
        (self.kind() == Type::Number).then(|| self.raw())
    }

    /// An integer written as one (no fraction, no exponent, no `-0`) that every reader keeps
    /// exactly: at most 2^53 − 1 away from zero.
    #[must_use]
    pub fn as_exact_integer(&self) -> Option<i64> {
        let text = self.as_number_text()?;
        let value: i64 = text.parse().ok()?;
        let exact = (-EXACT_INTEGER_MAX..=EXACT_INTEGER_MAX).contains(&value);
        (exact && text != "-0").then_some(value)
    }

    /// A truth value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind() {
            Type::True => Some(true),
            Type::False => Some(false),
            _ => None,
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind() == Type::Null
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind() == Type::Object
    }

    /// The elements of an array, or the values of an object's members; nothing for others.
    ///
    /// For an object, prefer [`Value::members`].
    pub fn elements(&self) -> impl Iterator<Item = Value<'d>> + use<'d> {
        let (document, mut next, end) = match self.kind() {
            Type::Array => (self.document, self.index + 1, self.node().skip),
            _ => (self.document, 0, 0),
        };
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let value = Value::new(document, next);
                next = value.node().skip;
                value
            })
        })
    }

    /// The members of an object in the order they were written; nothing for other values.
    #[must_use]
    pub fn members(&self) -> Members<'d> {
        let (next, end) = match self.kind() {
            Type::Object => (self.index + 1, self.node().skip),
            _ => (0, 0),
        };
        Members {
            document: self.document,
            next,
            end,
        }
    }

    /// The member of an object with exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value<'d>> {
        self.members()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// How many elements or members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.kind() {
            Type::Array => self.elements().count(),
            Type::Object => self.members().count(),
            _ => 0,
        }
    }

    /// Whether it has no elements and no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for Value<'_> {
    /// The kind alone: what a message says does not belong in a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Value::{:?}@{:?}", self.kind(), self.span())
    }
}

/// The members of an object, in order.
#[derive(Clone)]
pub struct Members<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl<'d> Iterator for Members<'d> {
    type Item = (Cow<'d, str>, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let key = Value::new(self.document, self.next);
        let value = Value::new(self.document, key.node().skip);
        self.next = value.node().skip;
        Some((key.as_str().unwrap_or_default(), value))
    }
}
