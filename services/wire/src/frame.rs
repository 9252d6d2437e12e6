//! A JSON-RPC message as MCP allows it: one request, one notification or one answer.

use std::borrow::Cow;

use crate::text::fold;
use crate::value::{Span, Value};
use crate::{Caps, Document, FrameError, FrameProblem};

/// Longest id, in bytes as written.
const ID_BYTES_MAX: usize = 256;
/// Longest method, in bytes.
const METHOD_BYTES_MAX: usize = 128;
/// What every notification's method starts with.
const NOTIFICATION: &str = "notifications/";

/// Members of the envelope. A member that folds to one of these and is not it is refused.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// Members of `params` that decide where a call goes and what it does.
const PARAMS: [&str; 11] = [
    "name",
    "arguments",
    "_meta",
    "uri",
    "cursor",
    "ref",
    "argument",
    "protocolVersion",
    "clientInfo",
    "requestState",
    "inputResponses",
];

/// An id with the type it was written in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id<'a> {
    /// An integer that every reader keeps exactly.
    Integer(i64),
    /// A string.
    Text(Cow<'a, str>),
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Wants an answer under its id.
    Request,
    /// Wants none.
    Notification,
    /// The answer to a request, with `result` or `error`.
    Answer,
}

/// One message, read strictly.
pub struct Frame<'a> {
    document: Document<'a>,
    kind: Kind,
}

impl<'a> Frame<'a> {
    /// Reads a client's message under [`Caps::MESSAGE`].
    ///
    /// # Errors
    /// The first thing that is wrong, with the id to answer under if a good one was read.
    pub fn read(bytes: &'a [u8]) -> Result<Self, FrameError> {
        Self::read_within(bytes, &Caps::MESSAGE)
    }

    /// Reads a message under other limits.
    ///
    /// # Errors
    /// As [`Frame::read`].
    pub fn read_within(bytes: &'a [u8], caps: &Caps) -> Result<Self, FrameError> {
        let document = Document::read(bytes, caps).map_err(|error| FrameError {
            problem: error.into(),
            id: None,
        })?;
        match kind(document.root()) {
            Ok(kind) => Ok(Self { document, kind }),
            Err(problem) => {
                let id = document
                    .root()
                    .get("id")
                    .filter(|id| read_id(*id).is_some());
                Err(FrameError {
                    problem,
                    id: id.map(|id| id.raw().into()),
                })
            }
        }
    }

    /// What the frame is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The whole message.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        self.document.root()
    }

    /// The document the message was read from.
    #[must_use]
    pub const fn document(&self) -> &Document<'a> {
        &self.document
    }

    /// The id; absent in a notification.
    #[must_use]
    pub fn id(&self) -> Option<Id<'_>> {
        self.root().get("id").and_then(read_id)
    }

    /// The id exactly as it was written, to be answered under.
    #[must_use]
    pub fn id_raw(&self) -> Option<&str> {
        self.root().get("id").map(|id| id.raw())
    }

    /// The method; absent in an answer. It holds no escapes, so the text is the bytes.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        let raw = self.root().get("method")?.raw();
        Some(&raw[1..raw.len() - 1])
    }

    /// The parameters: an object, when there are any.
    #[must_use]
    pub fn params(&self) -> Option<Value<'_>> {
        self.root().get("params")
    }

    /// Where the parameters stand in the bytes.
    #[must_use]
    pub fn params_span(&self) -> Option<Span> {
        self.params().map(|params| params.span())
    }
}

fn read_id(value: Value<'_>) -> Option<Id<'_>> {
    if value.raw().len() > ID_BYTES_MAX {
        return None;
    }
    match value.as_str() {
        Some(text) => Some(Id::Text(text)),
        None => value.as_exact_integer().map(Id::Integer),
    }
}

fn kind(root: Value<'_>) -> Result<Kind, FrameProblem> {
    match root.kind() {
        crate::Type::Object => {}
        crate::Type::Array => return Err(FrameProblem::Batch),
        _ => return Err(FrameProblem::NotAnObject),
    }
    refuse_folded(root, &ENVELOPE)?;
    if root
        .get("jsonrpc")
        .and_then(|version| version.as_str())
        .as_deref()
        != Some("2.0")
    {
        return Err(FrameProblem::BadVersion);
    }
    let id = root.get("id");
    if id.is_some_and(|id| read_id(id).is_none()) {
        return Err(FrameProblem::BadId);
    }
    let Some(method) = root.get("method") else {
        return answer(root, id.is_some());
    };
    if root
        .members()
        .any(|(name, _)| !matches!(&*name, "jsonrpc" | "id" | "method" | "params"))
    {
        return Err(FrameProblem::UnknownMember);
    }
    let raw = method.raw();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.$-".contains(&byte);
    let name = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
    let name = name.filter(|name| {
        !name.is_empty() && name.len() <= METHOD_BYTES_MAX && name.bytes().all(plain)
    });
    let Some(name) = name else {
        return Err(FrameProblem::BadMethod);
    };
    let kind = match (name.starts_with(NOTIFICATION), id) {
        (true, None) => Kind::Notification,
        (true, Some(_)) => return Err(FrameProblem::UnexpectedId),
        (false, Some(_)) => Kind::Request,
        (false, None) => return Err(FrameProblem::MissingId),
    };
    if let Some(params) = root.get("params") {
        if !params.is_object() {
            return Err(FrameProblem::BadParams);
        }
        refuse_folded(params, &PARAMS)?;
        if params.get("_meta").is_some_and(|meta| !meta.is_object()) {
            return Err(FrameProblem::BadMeta);
        }
        for nested in ["arguments", "_meta"] {
            if let Some(object) = params.get(nested) {
                refuse_folded(object, &[])?;
            }
        }
    }
    Ok(kind)
}

/// An answer has an id (null is for servers that could not read one) and one of two members.
fn answer(root: Value<'_>, has_id: bool) -> Result<Kind, FrameProblem> {
    let one = root.get("result").is_some() != root.get("error").is_some();
    if !one || !has_id || root.get("params").is_some() {
        return Err(FrameProblem::NeitherRequestNorAnswer);
    }
    Ok(Kind::Answer)
}

/// Refuses members that a reader ignoring case would take for one another or for a known one.
fn refuse_folded(object: Value<'_>, known: &[&str]) -> Result<(), FrameProblem> {
    for (name, _) in object.members() {
        let folded = fold(&name);
        let mistaken_for_known = known
            .iter()
            .any(|known| *known != name && known.eq_ignore_ascii_case(&folded));
        // Of two names that differ only in case, at least one changes when it is folded.
        let mistaken_for_neighbour = folded != name
            && object
                .members()
                .any(|(other, _)| other != name && fold(&other) == folded);
        if mistaken_for_known || mistaken_for_neighbour {
            return Err(FrameProblem::FoldedMember);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> FrameError {
        match Frame::read(text.as_bytes()) {
            Ok(_) => panic!("must be refused: {text}"),
            Err(error) => error,
        }
    }

    #[test]
    fn a_call_is_read() {
        let text = r#"{"jsonrpc":"2.0","id":101,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}"#;
        let frame = Frame::read(text.as_bytes()).unwrap();
        assert_eq!(frame.kind(), Kind::Request);
        assert_eq!(frame.id(), Some(Id::Integer(101)));
        assert_eq!(frame.id_raw(), Some("101"));
        assert_eq!(frame.method(), Some("tools/call"));
        assert_eq!(
            &text[frame.params_span().unwrap()],
            r#"{"name":"a","arguments":{"x":1}}"#
        );
    }

    #[test]
    fn ids_keep_their_type() {
        let read = |id: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            Frame::read(text.as_bytes()).map(|frame| match frame.id() {
                Some(Id::Integer(number)) => number.to_string(),
                Some(Id::Text(text)) => format!("text {text}"),
                None => "none".into(),
            })
        };
        assert_eq!(read("7").unwrap(), "7");
        assert_eq!(read("-7").unwrap(), "-7");
        assert_eq!(read(r#""7""#).unwrap(), "text 7");
        for id in [
            "null",
            "1.5",
            "1.0",
            "1e3",
            "-0",
            "{}",
            "[]",
            "true",
            "9007199254740993",
            "9223372036854775808",
        ] {
            assert_eq!(read(id).unwrap_err().problem, FrameProblem::BadId, "{id}");
        }
        let long = format!("\"{}\"", "x".repeat(300));
        assert_eq!(read(&long).unwrap_err().problem, FrameProblem::BadId);
    }

    #[test]
    fn envelopes_that_can_be_read_two_ways_are_refused() {
        for (text, problem) in [
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                FrameProblem::Batch,
            ),
            ("[]", FrameProblem::Batch),
            ("7", FrameProblem::NotAnObject),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                FrameProblem::BadVersion,
            ),
            (
                r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
                FrameProblem::BadVersion,
            ),
            (r#"{"id":1,"method":"ping"}"#, FrameProblem::BadVersion),
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                FrameProblem::NeitherRequestNorAnswer,
            ),
            (
                r#"{"jsonrpc":"2.0","result":{}}"#,
                FrameProblem::NeitherRequestNorAnswer,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
                FrameProblem::NeitherRequestNorAnswer,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1}"#,
                FrameProblem::UnknownMember,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
                FrameProblem::UnknownMember,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#,
                FrameProblem::FoldedMember,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"param\u{17f}\":{}}",
                FrameProblem::FoldedMember,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"a"}}"#,
                FrameProblem::FoldedMember,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"amount":1,"Amount":2}}}"#,
                FrameProblem::FoldedMember,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#,
                FrameProblem::BadParams,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#,
                FrameProblem::BadParams,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":[]}}"#,
                FrameProblem::BadMeta,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":null}}"#,
                FrameProblem::BadMeta,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"tools/call"}"#,
                FrameProblem::MissingId,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}"#,
                FrameProblem::UnexpectedId,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
                FrameProblem::BadMethod,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
                FrameProblem::BadMethod,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"to\u006fls/call"}"#,
                FrameProblem::BadMethod,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools call"}"#,
                FrameProblem::BadMethod,
            ),
        ] {
            assert_eq!(refused(text).problem, problem, "{text}");
        }
    }

    #[test]
    fn names_with_capitals_of_their_own_are_no_clash() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x","clientInfo":{},"_meta":{"progressToken":1}}}"#;
        assert!(Frame::read(text.as_bytes()).is_ok());
        let text = text.replace("protocolVersion", "protocolversion");
        assert_eq!(refused(&text).problem, FrameProblem::FoldedMember);
    }

    #[test]
    fn a_refusal_carries_a_good_id_and_never_a_bad_one() {
        let error = refused(r#"{"jsonrpc":"2.0","id":"seven","method":"x","params":[]}"#);
        assert_eq!(error.id.as_deref(), Some("\"seven\""));
        assert_eq!(error.code(), -32_602);
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#).id,
            None
        );
        let error = refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#);
        assert_eq!((error.id.as_deref(), error.code()), (None, -32_700));
    }

    #[test]
    fn answers_and_notifications_are_told_apart() {
        let kind = |text: &str| Frame::read(text.as_bytes()).unwrap().kind();
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
            Kind::Answer
        );
        assert_eq!(
            kind(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
            ),
            Kind::Notification
        );
    }
}
