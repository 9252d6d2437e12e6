//! A document: its bytes, and the flat list of nodes they were read into.

use crate::reader::Reader;
use crate::value::{Type, Value};
use crate::{Caps, Position, Problem, WireError};

/// One value or member name: where it stands, and where its successor is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Index of the first node after this one and everything inside it.
    pub skip: u32,
    pub kind: Type,
    /// A string spelled with at least one escape.
    pub escaped: bool,
}

/// A JSON document that was read strictly, over the bytes it was read from.
pub struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) nodes: Vec<Node>,
}

impl<'a> Document<'a> {
    /// Reads one document and nothing else.
    ///
    /// # Errors
    /// The first thing in the bytes that is not strict JSON or is beyond a cap.
    pub fn read(bytes: &'a [u8], caps: &Caps) -> Result<Self, WireError> {
        let refuse = |problem, position| {
            Err(WireError {
                problem,
                position: Position(position),
            })
        };
        if bytes.len() > caps.bytes as usize {
            return refuse(Problem::TooLarge, caps.bytes as usize);
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return refuse(Problem::ByteOrderMark, 0);
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return refuse(Problem::InvalidUtf8, error.valid_up_to()),
        };
        let mut reader = Reader::new(text, caps);
        match reader.document() {
            Ok(()) => Ok(Self {
                text,
                nodes: reader.into_nodes(),
            }),
            Err(problem) => refuse(problem, reader.at()),
        }
    }

    /// The outermost value.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value::new(self, 0)
    }

    /// Every value and member name in the order written, whatever holds it.
    pub fn nodes(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.nodes.len()).map(|index| Value::new(self, index as u32))
    }

    /// The text the document was read from.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Document({} nodes)", self.nodes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(bytes: &[u8]) -> Problem {
        Document::read(bytes, &Caps::MESSAGE)
            .expect_err("must be refused")
            .problem
    }

    #[test]
    fn every_kind_of_value_is_read_with_its_span() {
        let text = r#" {"a":[1,-2.5e3,true,false,null],"b":{"c":"d\u0065"}} "#;
        let document = Document::read(text.as_bytes(), &Caps::MESSAGE).unwrap();
        let root = document.root();
        assert_eq!(root.raw(), text.trim());
        let raw: Vec<_> = root.get("a").unwrap().elements().map(|v| v.raw()).collect();
        assert_eq!(raw, ["1", "-2.5e3", "true", "false", "null"]);
        let inner = root.get("b").unwrap().get("c").unwrap();
        assert_eq!(inner.raw(), r#""d\u0065""#);
        assert_eq!(inner.as_str().unwrap(), "de");
        assert_eq!(root.len(), 2);
    }

    #[test]
    fn a_member_given_twice_is_refused_in_any_spelling_and_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"amount":5,"\u0061mount":99999}"#,
            r#"{"x":[{"y":{"z":1,"q":2,"z":3}}]}"#,
            r#"{"":1,"":2}"#,
        ] {
            assert_eq!(problem(text.as_bytes()), Problem::DuplicateMember, "{text}");
        }
        let many: Vec<_> = (0..40).map(|n| format!("\"k{n}\":0")).collect();
        let mut text = format!("{{{}}}", many.join(","));
        assert!(Document::read(text.as_bytes(), &Caps::MESSAGE).is_ok());
        text.insert_str(1, "\"k39\":1,");
        assert_eq!(problem(text.as_bytes()), Problem::DuplicateMember);
    }

    #[test]
    fn what_parsers_disagree_about_is_refused() {
        for (bytes, expected) in [
            (&b"\xef\xbb\xbf{}"[..], Problem::ByteOrderMark),
            (b"", Problem::Empty),
            (b" \n", Problem::Empty),
            (b"{}{}", Problem::TrailingBytes),
            (b"{} x", Problem::TrailingBytes),
            (b"\"\xc3\x28\"", Problem::InvalidUtf8),
            (b"\"\xed\xa0\x80\"", Problem::InvalidUtf8),
            (br#""\ud800""#, Problem::LoneSurrogate),
            (br#""\udc00""#, Problem::LoneSurrogate),
            (br#""\udc00\ud800""#, Problem::LoneSurrogate),
            (br#""\ud800\u0041""#, Problem::LoneSurrogate),
            (br#""\u0000""#, Problem::Nul),
            (b"\"\0\"", Problem::Nul),
            (b"\"a\nb\"", Problem::ControlCharacter),
            (br#""\x41""#, Problem::BadEscape),
            (br#""\u00g0""#, Problem::BadEscape),
            (b"NaN", Problem::UnexpectedByte),
            (b"Infinity", Problem::UnexpectedByte),
            (b"-Infinity", Problem::BadNumber),
            (b"nan", Problem::UnexpectedByte),
            (b"007", Problem::BadNumber),
            (b"1.", Problem::BadNumber),
            (b"-", Problem::BadNumber),
            (b"1e", Problem::BadNumber),
            (b"0x10", Problem::TrailingBytes),
            (b"+5", Problem::UnexpectedByte),
            (b"1e400", Problem::NumberOutOfRange),
            (b"-1e999", Problem::NumberOutOfRange),
            (b"[1,]", Problem::UnexpectedByte),
            (b"{\"a\":1,}", Problem::UnexpectedByte),
            (b"{a:1}", Problem::UnexpectedByte),
            (b"{'a':1}", Problem::UnexpectedByte),
            (b"[1 /* c */]", Problem::UnexpectedByte),
            (b"{\"a\"", Problem::UnexpectedEnd),
            (b"[", Problem::UnexpectedEnd),
            (b"\"abc", Problem::UnexpectedEnd),
            (b"tru", Problem::UnexpectedEnd),
            (b"{}\0", Problem::TrailingBytes),
        ] {
            assert_eq!(problem(bytes), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn the_caps_hold() {
        let caps = Caps {
            bytes: 400,
            depth: 3,
            members_per_object: 3,
            nodes: 20,
            string_bytes: 8,
            number_bytes: 6,
        };
        let read = |text: &str| {
            Document::read(text.as_bytes(), &caps)
                .map(|_| ())
                .map_err(|error| error.problem)
        };
        assert_eq!(read(&" ".repeat(401)), Err(Problem::TooLarge));
        assert_eq!(read("[[[1]]]"), Ok(()));
        assert_eq!(read("[[[[1]]]]"), Err(Problem::TooDeep));
        assert_eq!(read(r#"{"a":1,"b":2,"c":3}"#), Ok(()));
        assert_eq!(
            read(r#"{"a":1,"b":2,"c":3,"d":4}"#),
            Err(Problem::TooManyMembers)
        );
        assert_eq!(read(&format!("[{}0]", "0,".repeat(18))), Ok(()));
        assert_eq!(
            read(&format!("[{}0]", "0,".repeat(19))),
            Err(Problem::TooManyNodes)
        );
        assert_eq!(read(r#""12345678""#), Ok(()));
        assert_eq!(read(r#""123456789""#), Err(Problem::StringTooLong));
        assert_eq!(read("123456"), Ok(()));
        assert_eq!(read("1234567"), Err(Problem::NumberOutOfRange));
    }

    #[test]
    fn a_million_members_end_at_the_cap_and_not_in_a_table() {
        let text = format!("{{{}\"z\":0}}", "\"a\":0,".repeat(100_000));
        assert_eq!(problem(text.as_bytes()), Problem::TooManyMembers);
        let deep = "[".repeat(200);
        assert_eq!(problem(deep.as_bytes()), Problem::TooDeep);
    }

    proptest::proptest! {
        /// What this reader accepts, the ordinary reader reads to the same values.
        #[test]
        fn accepted_documents_mean_the_same_elsewhere(
            text in r#"[\[\]{}:,"a-c0-2\\u. eE+\-]{0,24}"#
        ) {
            if Document::read(text.as_bytes(), &Caps::MESSAGE).is_ok() {
                let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
                proptest::prop_assert!(parsed.is_ok(), "{text}");
            }
        }

        #[test]
        fn whatever_is_written_by_the_ordinary_writer_is_read_back(
            keys in proptest::collection::hash_set("\\PC{0,8}", 0..20),
            words in proptest::collection::vec("[^\0]{0,12}", 20),
        ) {
            let object: serde_json::Map<_, _> = keys
                .into_iter()
                .zip(words)
                .map(|(key, word)| (key, serde_json::Value::String(word)))
                .collect();
            let text = serde_json::to_string(&object).unwrap();
            let document = Document::read(text.as_bytes(), &Caps::MESSAGE).unwrap();
            proptest::prop_assert_eq!(document.root().len(), object.len());
            for (key, word) in &object {
                let value = document.root().get(key).unwrap().as_str().unwrap();
                proptest::prop_assert_eq!(Some(&*value), word.as_str());
            }
        }
    }
}
