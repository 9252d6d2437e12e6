//! The first thing that touches a message: one strict reader of raw JSON bytes.
//!
//! Two programs that read the same bytes must not see two different messages. So this reader
//! refuses whatever parsers are known to disagree about: a member twice (also when one spelling is
//! escaped), lone surrogates, NUL, invalid UTF-8, a byte order mark, bytes after the document,
//! numbers that become infinite, and, in the envelope of a call, members that differ only in case.
//! It never changes what it read: every value knows the bytes it came from, and the original bytes
//! are what a caller forwards.
//!
//! The crate is pure: no I/O, no clock, no allocation beyond one flat list of nodes per document.

mod caps;
mod document;
mod error;
mod frame;
mod reader;
mod text;
mod value;

pub use caps::Caps;
pub use document::Document;
pub use error::{FrameError, FrameProblem, Position, Problem, WireError};
pub use frame::{Frame, Id, Kind};
pub use text::fold;
pub use value::{Members, Span, Type, Value};
