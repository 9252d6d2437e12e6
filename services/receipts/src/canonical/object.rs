//! Objects, whose members are put into order when they end, and sequences.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::marker::PhantomData;

use serde::ser::{self, Serialize};

use super::key::KeySerializer;
use super::{CanonicalError, CanonicalWriter, refuse};

/// Where one member of an object stands in the buffer: from its key's quote to its value's end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    start: usize,
    key_end: usize,
    end: usize,
}

/// An object that is being written.
pub struct Object<'a> {
    open: usize,
    first: usize,
    writer: &'a mut CanonicalWriter,
}

/// The key between its quotes, as it is without escapes.
fn key<'a>(bytes: &'a [u8], member: &Member) -> Cow<'a, str> {
    let quoted = &bytes[member.start..member.key_end];
    let inner = &quoted[1..quoted.len() - 1];
    if inner.contains(&b'\\') {
        serde_json::from_slice(quoted).map_or_else(|_| String::from_utf8_lossy(inner), Cow::Owned)
    } else {
        String::from_utf8_lossy(inner)
    }
}

/// RFC 8785 §3.2.3: by UTF-16 code units, which for plain ASCII is by bytes.
fn compare(bytes: &[u8], left: &Member, right: &Member) -> Ordering {
    let inner = |member: &Member| &bytes[member.start + 1..member.key_end - 1];
    let (left_bytes, right_bytes) = (inner(left), inner(right));
    let plain = |bytes: &[u8]| bytes.is_ascii() && !bytes.contains(&b'\\');
    // Mostly the first letter decides, and no escape or letter beyond ASCII comes before it.
    if let (Some(left), Some(right)) = (left_bytes.first(), right_bytes.first())
        && left != right
        && left.is_ascii_alphanumeric()
        && right.is_ascii_alphanumeric()
    {
        return left.cmp(right);
    }
    if plain(left_bytes) && plain(right_bytes) {
        return left_bytes.cmp(right_bytes);
    }
    let (left, right) = (key(bytes, left), key(bytes, right));
    left.encode_utf16().cmp(right.encode_utf16())
}

impl<'a> Object<'a> {
    pub(super) fn new(open: usize, writer: &'a mut CanonicalWriter) -> Self {
        let first = writer.members.len();
        Self {
            open,
            first,
            writer,
        }
    }

    /// Begins a member and returns where.
    fn begin(&mut self) -> usize {
        if self.writer.out.len() > self.open + 1 {
            self.writer.out.push(b',');
        }
        self.writer.out.len()
    }

    fn member<T: Serialize + ?Sized>(
        &mut self,
        start: usize,
        value: &T,
    ) -> Result<(), CanonicalError> {
        let key_end = self.writer.out.len();
        self.writer.out.push(b':');
        value.serialize(&mut *self.writer)?;
        let end = self.writer.out.len();
        self.writer.members.push(Member {
            start,
            key_end,
            end,
        });
        Ok(())
    }

    fn close(self) -> Result<(), CanonicalError> {
        let CanonicalWriter {
            out,
            members,
            scratch,
        } = self.writer;
        let own = &mut members[self.first..];
        let mut in_order = true;
        for pair in own.windows(2) {
            in_order &= compare(out, &pair[0], &pair[1]) == Ordering::Less;
        }
        if !in_order {
            own.sort_unstable_by(|left, right| compare(out, left, right));
            for pair in own.windows(2) {
                if compare(out, &pair[0], &pair[1]) == Ordering::Equal {
                    return Err(refuse("a member stands there twice"));
                }
            }
            scratch.clear();
            for member in own.iter() {
                scratch.extend_from_slice(&out[member.start..member.end]);
                scratch.push(b',');
            }
            scratch.pop();
            out.truncate(self.open + 1);
            out.extend_from_slice(scratch);
        }
        out.push(b'}');
        members.truncate(self.first);
        Ok(())
    }
}

impl ser::SerializeMap for Object<'_> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CanonicalError> {
        let start = self.begin();
        key.serialize(KeySerializer(&mut *self.writer))?;
        // The place is kept with the members until the value is there.
        let key_end = self.writer.out.len();
        self.writer.members.push(Member {
            start,
            key_end,
            end: key_end,
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        let begun = self.writer.members.pop();
        let begun = begun.ok_or_else(|| refuse("a value without its key"))?;
        self.member(begun.start, value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        self.close()
    }
}

impl ser::SerializeStruct for Object<'_> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        let start = self.begin();
        self.writer.text(key);
        self.member(start, value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        self.close()
    }
}

/// A sequence that is being written.
pub struct Sequence<'a> {
    empty: bool,
    writer: &'a mut CanonicalWriter,
}

impl<'a> Sequence<'a> {
    pub(super) const fn new(writer: &'a mut CanonicalWriter) -> Self {
        Self {
            empty: true,
            writer,
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        if !self.empty {
            self.writer.out.push(b',');
        }
        self.empty = false;
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> &'a mut CanonicalWriter {
        self.writer.out.push(b']');
        self.writer
    }
}

impl ser::SerializeSeq for Sequence<'_> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeTuple for Sequence<'_> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Sequence<'_> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        self.element(value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        self.close();
        Ok(())
    }
}

/// A variant that carries something: an object of one member, which needs no order.
pub struct Variant<'a, Inner>(Inner, PhantomData<&'a ()>);

impl<Inner> Variant<'_, Inner> {
    pub(super) const fn new(inner: Inner) -> Self {
        Self(inner, PhantomData)
    }
}

impl<'a> ser::SerializeTupleVariant for Variant<'a, Sequence<'a>> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        self.0.element(value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        self.0.close().out.push(b'}');
        Ok(())
    }
}

impl<'a> ser::SerializeStructVariant for Variant<'a, Object<'a>> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        ser::SerializeStruct::serialize_field(&mut self.0, key, value)
    }

    fn end(self) -> Result<(), CanonicalError> {
        let Object {
            open,
            first,
            writer,
        } = self.0;
        Object {
            open,
            first,
            writer: &mut *writer,
        }
        .close()?;
        writer.out.push(b'}');
        Ok(())
    }
}
