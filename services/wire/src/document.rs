//! The reader: bytes to a flat list of nodes, refusing on the way.

use std::collections::HashSet;

use crate::text::{hexadecimal, unescape};
use crate::value::{Type, Value};
use crate::{Caps, Position, Problem, WireError};

/// Objects with at most this many members are compared pairwise, without a table.
const PAIRWISE_MEMBERS_MAX: usize = 16;

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
        let mut reader = Reader {
            text,
            bytes,
            at: 0,
            caps,
            nodes: Vec::with_capacity((bytes.len() / 8).clamp(8, 1024)),
        };
        reader.white_space();
        if reader.at == bytes.len() {
            return refuse(Problem::Empty, reader.at);
        }
        let read = reader.value(0).and_then(|()| {
            reader.white_space();
            if reader.at == bytes.len() {
                Ok(())
            } else {
                Err(Problem::TrailingBytes)
            }
        });
        match read {
            Ok(()) => Ok(Self {
                text,
                nodes: reader.nodes,
            }),
            Err(problem) => refuse(problem, reader.at),
        }
    }

    /// The outermost value.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value::new(self, 0)
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

struct Reader<'r> {
    text: &'r str,
    bytes: &'r [u8],
    at: usize,
    caps: &'r Caps,
    nodes: Vec<Node>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes this byte or refuses.
    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Problem::UnexpectedByte),
            None => Err(Problem::UnexpectedEnd),
        }
    }

    /// Opens a node; [`Reader::close`] fills in where it ends.
    fn open(&mut self, kind: Type) -> Result<usize, Problem> {
        let index = self.nodes.len();
        if index >= self.caps.nodes as usize {
            return Err(Problem::TooManyNodes);
        }
        self.nodes.push(Node {
            start: self.at as u32,
            end: 0,
            skip: 0,
            kind,
            escaped: false,
        });
        Ok(index)
    }

    fn close(&mut self, index: usize) {
        let skip = self.nodes.len() as u32;
        let node = &mut self.nodes[index];
        node.end = self.at as u32;
        node.skip = skip;
    }

    fn value(&mut self, depth: u8) -> Result<(), Problem> {
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true", Type::True),
            Some(b'f') => self.word(b"false", Type::False),
            Some(b'n') => self.word(b"null", Type::Null),
            Some(_) => Err(Problem::UnexpectedByte),
            None => Err(Problem::UnexpectedEnd),
        }
    }

    fn word(&mut self, word: &[u8], kind: Type) -> Result<(), Problem> {
        let index = self.open(kind)?;
        for byte in word {
            self.expect(*byte)?;
        }
        self.close(index);
        Ok(())
    }

    /// The depth of what stands inside the bracket about to be opened.
    fn deeper(&self, depth: u8) -> Result<u8, Problem> {
        if depth >= self.caps.depth {
            return Err(Problem::TooDeep);
        }
        Ok(depth + 1)
    }

    fn array(&mut self, depth: u8) -> Result<(), Problem> {
        let inner = self.deeper(depth)?;
        let index = self.open(Type::Array)?;
        self.at += 1;
        self.white_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.close(index);
            return Ok(());
        }
        loop {
            self.value(inner)?;
            self.white_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                Some(_) => return Err(Problem::UnexpectedByte),
                None => return Err(Problem::UnexpectedEnd),
            }
            self.white_space();
        }
        self.at += 1;
        self.close(index);
        Ok(())
    }

    fn object(&mut self, depth: u8) -> Result<(), Problem> {
        let inner = self.deeper(depth)?;
        let index = self.open(Type::Object)?;
        self.at += 1;
        self.white_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.close(index);
            return Ok(());
        }
        let mut members = 0_u32;
        loop {
            members += 1;
            if members > self.caps.members_per_object {
                return Err(Problem::TooManyMembers);
            }
            if self.peek() != Some(b'"') {
                return Err(self
                    .peek()
                    .map_or(Problem::UnexpectedEnd, |_| Problem::UnexpectedByte));
            }
            self.string()?;
            self.white_space();
            self.expect(b':')?;
            self.white_space();
            self.value(inner)?;
            self.white_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                Some(_) => return Err(Problem::UnexpectedByte),
                None => return Err(Problem::UnexpectedEnd),
            }
            self.white_space();
        }
        self.at += 1;
        self.close(index);
        self.refuse_duplicates(index, members as usize)
    }

    /// Refuses an object that names a member twice, comparing characters and not spellings.
    fn refuse_duplicates(&self, object: usize, members: usize) -> Result<(), Problem> {
        if members < 2 {
            return Ok(());
        }
        let names = || {
            let end = self.nodes[object].skip as usize;
            let mut next = object + 1;
            std::iter::from_fn(move || {
                (next < end).then(|| {
                    let key = &self.nodes[next];
                    next = self.nodes[key.skip as usize].skip as usize;
                    (
                        key.escaped,
                        &self.text[key.start as usize + 1..key.end as usize - 1],
                    )
                })
            })
        };
        let escaped = names().any(|(escaped, _)| escaped);
        if members <= PAIRWISE_MEMBERS_MAX && !escaped {
            for (position, (_, name)) in names().enumerate() {
                if names().take(position).any(|(_, earlier)| earlier == name) {
                    return Err(Problem::DuplicateMember);
                }
            }
            return Ok(());
        }
        // The standard table is keyed at random, so that chosen names cannot make it slow.
        let mut seen = HashSet::with_capacity(members);
        for (escaped, name) in names() {
            let name = if escaped {
                std::borrow::Cow::Owned(unescape(name))
            } else {
                std::borrow::Cow::Borrowed(name)
            };
            if !seen.insert(name) {
                return Err(Problem::DuplicateMember);
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Problem> {
        let index = self.open(Type::String)?;
        self.at += 1;
        let start = self.at;
        loop {
            if self.at - start > self.caps.string_bytes as usize {
                return Err(Problem::StringTooLong);
            }
            match self.peek() {
                None => return Err(Problem::UnexpectedEnd),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.nodes[index].escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(0) => return Err(Problem::Nul),
                Some(..0x20) => return Err(Problem::ControlCharacter),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        self.close(index);
        Ok(())
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<(), Problem> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                match self.unit()? {
                    0 => Err(Problem::Nul),
                    0xdc00..=0xdfff => Err(Problem::LoneSurrogate),
                    0xd800..=0xdbff => {
                        if self.bytes.get(self.at..self.at + 2) != Some(br"\u") {
                            return Err(Problem::LoneSurrogate);
                        }
                        self.at += 2;
                        match self.unit()? {
                            0xdc00..=0xdfff => Ok(()),
                            _ => Err(Problem::LoneSurrogate),
                        }
                    }
                    _ => Ok(()),
                }
            }
            Some(_) => Err(Problem::BadEscape),
            None => Err(Problem::UnexpectedEnd),
        }
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, Problem> {
        let digits = self
            .bytes
            .get(self.at..self.at + 4)
            .ok_or(Problem::UnexpectedEnd)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(Problem::BadEscape);
        }
        self.at += 4;
        Ok(hexadecimal(digits))
    }

    fn digits(&mut self) -> Result<(), Problem> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(Problem::BadNumber);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Problem> {
        let index = self.open(Type::Number)?;
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(Problem::BadNumber);
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if exponent {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        if self.at - start > self.caps.number_bytes as usize {
            return Err(Problem::NumberOutOfRange);
        }
        // Some readers make infinity of it and some refuse. Without an exponent the cap on the
        // length keeps a number finite.
        if exponent
            && !self.text[start..self.at]
                .parse::<f64>()
                .is_ok_and(f64::is_finite)
        {
            return Err(Problem::NumberOutOfRange);
        }
        self.close(index);
        Ok(())
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
