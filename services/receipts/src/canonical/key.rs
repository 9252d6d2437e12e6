//! Keys of maps: texts, and what has one plain text.

use serde::Serialize;
use serde::ser::{self, Impossible};

use super::{CanonicalError, CanonicalWriter, refuse};

/// Writes a key with its quotes.
pub(super) struct KeySerializer<'a>(pub &'a mut CanonicalWriter);

type No = Impossible<(), CanonicalError>;

const NO_TEXT: &str = "a key of a map is no text";

macro_rules! numbers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), CanonicalError> {
            self.0.text(&value.to_string());
            Ok(())
        })*
    };
}

impl ser::Serializer for KeySerializer<'_> {
    type Ok = ();
    type Error = CanonicalError;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = No;
    type SerializeStructVariant = No;

    numbers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_bool: bool, serialize_char: char);

    fn serialize_str(self, value: &str) -> Result<(), CanonicalError> {
        self.0.text(value);
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CanonicalError> {
        self.0.text(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CanonicalError> {
        value.serialize(self)
    }

    fn serialize_f32(self, _: f32) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_f64(self, _: f64) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_none(self) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_unit(self) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_tuple(self, _: usize) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, CanonicalError> {
        Err(refuse(NO_TEXT))
    }
}
