//! Writing RFC 8785 into a buffer that is kept, without a tree of values in between.
//!
//! Members are written as they come and put into order when their object ends, so that a line
//! whose members come in order is written once and never moved. Numbers that two readers could
//! round differently are refused; fractions are left to the library that knows their one spelling.

mod key;
mod object;

use serde::ser::{self, Serialize};

use object::{Member, Object, Sequence, Variant};

use crate::PayloadError;

/// The largest integer that every JSON reader holds exactly, 2^53.
const INTEGER_MAX: u64 = 1 << 53;

/// Names that serde's own libraries give to values which are not what they look like.
const PRIVATE_NAMES: &str = "$serde_json::private::";

/// Writes canonical JSON again and again into the same buffers.
#[derive(Debug, Default)]
pub struct CanonicalWriter {
    out: Vec<u8>,
    members: Vec<Member>,
    scratch: Vec<u8>,
}

/// Why a value has no canonical form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CanonicalError(String);

impl ser::Error for CanonicalError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

fn refuse(what: &str) -> CanonicalError {
    CanonicalError(what.to_owned())
}

impl CanonicalWriter {
    /// A writer without anything written.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a value and returns its bytes, which stand until the next one is written.
    ///
    /// # Errors
    /// [`PayloadError::Write`] when the value has no canonical form: a fraction that is no number,
    /// an integer beyond 2^53, a member twice, a key that is no text.
    pub fn write(&mut self, value: &impl Serialize) -> Result<&mut Vec<u8>, PayloadError> {
        self.out.clear();
        self.members.clear();
        value.serialize(&mut *self).map_err(PayloadError::Write)?;
        Ok(&mut self.out)
    }

    /// The bytes of the value that was written last.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.out.reserve(bytes.len() + 2);
        self.out.push(b'"');
        // Almost every text is plain; looking at all of it without stopping is the fast way to see.
        let plain = bytes
            .iter()
            .fold(true, |plain, byte| plain & !is_escaped(*byte));
        if plain {
            self.out.extend_from_slice(bytes);
        } else {
            self.escaped(bytes);
        }
        self.out.push(b'"');
    }

    fn escaped(&mut self, bytes: &[u8]) {
        let mut from = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if !is_escaped(*byte) {
                continue;
            }
            self.out.extend_from_slice(&bytes[from..at]);
            from = at + 1;
            match byte {
                b'"' => self.out.extend_from_slice(b"\\\""),
                b'\\' => self.out.extend_from_slice(b"\\\\"),
                0x08 => self.out.extend_from_slice(b"\\b"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                0x0c => self.out.extend_from_slice(b"\\f"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                other => {
                    let mut digits = [0; 2];
                    if hex::encode_to_slice([*other], &mut digits).is_ok() {
                        self.out.extend_from_slice(b"\\u00");
                        self.out.extend_from_slice(&digits);
                    }
                }
            }
        }
        self.out.extend_from_slice(&bytes[from..]);
    }

    fn integer(&mut self, negative: bool, magnitude: u64) -> Result<(), CanonicalError> {
        if magnitude > INTEGER_MAX {
            return Err(refuse(
                "an integer beyond 2^53 is not one number to all readers",
            ));
        }
        if negative && magnitude > 0 {
            self.out.push(b'-');
        }
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = magnitude;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.out.extend_from_slice(&digits[at..]);
        Ok(())
    }

    fn fraction(&mut self, number: f64) -> Result<(), CanonicalError> {
        let bytes = serde_json_canonicalizer::to_vec(&number)
            .map_err(|error| CanonicalError(error.to_string()))?;
        self.out.extend_from_slice(&bytes);
        Ok(())
    }

    fn object(&mut self) -> Object<'_> {
        let open = self.out.len();
        self.out.push(b'{');
        Object::new(open, self)
    }

    fn sequence(&mut self) -> Sequence<'_> {
        self.out.push(b'[');
        Sequence::new(self)
    }
}

const fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

impl<'a> ser::Serializer for &'a mut CanonicalWriter {
    type Ok = ();
    type Error = CanonicalError;
    type SerializeSeq = Sequence<'a>;
    type SerializeTuple = Sequence<'a>;
    type SerializeTupleStruct = Sequence<'a>;
    type SerializeTupleVariant = Variant<'a, Sequence<'a>>;
    type SerializeMap = Object<'a>;
    type SerializeStruct = Object<'a>;
    type SerializeStructVariant = Variant<'a, Object<'a>>;

    fn serialize_bool(self, value: bool) -> Result<(), CanonicalError> {
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), CanonicalError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), CanonicalError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), CanonicalError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), CanonicalError> {
        self.integer(value < 0, value.unsigned_abs())
    }

    fn serialize_u8(self, value: u8) -> Result<(), CanonicalError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), CanonicalError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), CanonicalError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), CanonicalError> {
        self.integer(false, value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), CanonicalError> {
        self.fraction(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), CanonicalError> {
        self.fraction(value)
    }

    fn serialize_char(self, value: char) -> Result<(), CanonicalError> {
        self.text(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), CanonicalError> {
        self.text(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), CanonicalError> {
        value.iter().collect::<Vec<_>>().serialize(self)
    }

    fn serialize_none(self) -> Result<(), CanonicalError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CanonicalError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), CanonicalError> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CanonicalError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CanonicalError> {
        self.text(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.out.push(b'{');
        self.text(variant);
        self.out.push(b':');
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, CanonicalError> {
        Ok(self.sequence())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, CanonicalError> {
        Ok(self.sequence())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, CanonicalError> {
        Ok(self.sequence())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, CanonicalError> {
        self.out.push(b'{');
        self.text(variant);
        self.out.push(b':');
        Ok(Variant::new(self.sequence()))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, CanonicalError> {
        Ok(self.object())
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, CanonicalError> {
        if name.starts_with(PRIVATE_NAMES) {
            return Err(refuse("raw JSON has no canonical form"));
        }
        Ok(self.object())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, CanonicalError> {
        self.out.push(b'{');
        self.text(variant);
        self.out.push(b':');
        Ok(Variant::new(self.object()))
    }
}

#[cfg(test)]
mod tests;
