//! The reader: bytes to a flat list of nodes, refusing on the way.

use std::collections::HashSet;

use crate::document::Node;
use crate::text::{hexadecimal, unescape};
use crate::value::Type;
use crate::{Caps, Problem};

/// Objects with at most this many members are compared pairwise, without a table.
const PAIRWISE_MEMBERS_MAX: usize = 16;

/// Reads one document from the front to the back.
pub(crate) struct Reader<'r> {
    text: &'r str,
    bytes: &'r [u8],
    at: usize,
    caps: &'r Caps,
    nodes: Vec<Node>,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(text: &'r str, caps: &'r Caps) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            caps,
            nodes: Vec::with_capacity((text.len() / 8).clamp(8, 1024)),
        }
    }

    /// How far it has read.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// One value with white space around it, and nothing else.
    pub(crate) fn document(&mut self) -> Result<(), Problem> {
        self.white_space();
        if self.at == self.bytes.len() {
            return Err(Problem::Empty);
        }
        self.value(0)?;
        self.white_space();
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(Problem::TrailingBytes)
        }
    }

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
