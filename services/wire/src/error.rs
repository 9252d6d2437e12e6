//! Why bytes were refused. No error repeats what the bytes said.

use std::fmt;

/// Where in the document a refusal happened: the offset of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub usize);

/// What was wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The document is longer than the cap, or its size was zero.
    #[error("the document is too large")]
    TooLarge,
    /// Nothing but white space.
    #[error("the document is empty")]
    Empty,
    /// It starts with a byte order mark.
    #[error("the document starts with a byte order mark")]
    ByteOrderMark,
    /// Some bytes are not UTF-8.
    #[error("the document is not valid UTF-8")]
    InvalidUtf8,
    /// A byte that the grammar does not allow here; `NaN`, comments and trailing commas end here.
    #[error("unexpected byte")]
    UnexpectedByte,
    /// The document ends inside a value.
    #[error("the document ends inside a value")]
    UnexpectedEnd,
    /// Bytes follow the document, such as a second document.
    #[error("bytes follow the document")]
    TrailingBytes,
    /// Arrays and objects are nested deeper than the cap.
    #[error("nested too deeply")]
    TooDeep,
    /// One object has more members than the cap.
    #[error("too many members in one object")]
    TooManyMembers,
    /// The document has more values than the cap.
    #[error("too many values")]
    TooManyNodes,
    /// An object names the same member twice, in whatever spelling.
    #[error("a member is given twice")]
    DuplicateMember,
    /// A string or a member name is longer than the cap.
    #[error("a string is too long")]
    StringTooLong,
    /// A control character stands unescaped in a string.
    #[error("an unescaped control character in a string")]
    ControlCharacter,
    /// A string holds NUL, which databases and C programs cut at.
    #[error("NUL in a string")]
    Nul,
    /// An escape that JSON does not know.
    #[error("an unknown escape in a string")]
    BadEscape,
    /// Half of a surrogate pair.
    #[error("a lone surrogate in a string")]
    LoneSurrogate,
    /// A number whose spelling JSON does not allow, such as `007` or `1.`.
    #[error("a malformed number")]
    BadNumber,
    /// A number longer than the cap, or one that becomes infinite when read as a float.
    #[error("a number out of range")]
    NumberOutOfRange,
}

/// A document that was refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read JSON: {problem} at byte {}", position.0)]
pub struct WireError {
    /// What was wrong.
    pub problem: Problem,
    /// Where it was noticed.
    pub position: Position,
}

/// What was wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameProblem {
    /// The bytes are not a document this crate reads.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// An array of messages; they left the protocol and are never taken apart.
    #[error("batches are not accepted")]
    Batch,
    /// The document is a string, a number or the like.
    #[error("a message is an object")]
    NotAnObject,
    /// `jsonrpc` is missing or not exactly `"2.0"`.
    #[error("jsonrpc is not \"2.0\"")]
    BadVersion,
    /// `id` is null, a fraction, an object, too long, or beyond the exact integers.
    #[error("the id is neither a string nor an exact integer")]
    BadId,
    /// A request without an id, which would run and never be answered.
    #[error("a request needs an id")]
    MissingId,
    /// A notification with an id.
    #[error("a notification has no id")]
    UnexpectedId,
    /// `method` is not a plain string.
    #[error("the method is not a plain name")]
    BadMethod,
    /// `params` is not an object.
    #[error("params is not an object")]
    BadParams,
    /// `_meta` of the parameters is not an object: what stands there is for whoever reads it, and readers differ.
    #[error("_meta is not an object")]
    BadMeta,
    /// A member of the envelope that JSON-RPC does not know.
    #[error("an unknown member in the envelope")]
    UnknownMember,
    /// A member that differs from a protocol member, or from its neighbour, only in case.
    #[error("a member differs from another only in case")]
    FoldedMember,
    /// Neither a request, nor a notification, nor exactly one of result and error.
    #[error("neither a request nor an answer")]
    NeitherRequestNorAnswer,
}

/// A frame that was refused, with the id to answer under when one was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct FrameError {
    /// What was wrong.
    pub problem: FrameProblem,
    /// The raw JSON text of the id, only when it was a good one.
    pub id: Option<Box<str>>,
}

impl FrameError {
    /// The JSON-RPC error code that answers this refusal.
    #[must_use]
    pub const fn code(&self) -> i32 {
        match self.problem {
            FrameProblem::Wire(_) => -32_700,
            FrameProblem::BadParams | FrameProblem::BadMeta => -32_602,
            _ => -32_600,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
