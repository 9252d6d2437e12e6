//! One span a message: what was decided about it, and how it ended.

use std::time::SystemTime;

use super::Parent;
use crate::clock;

/// Longest method that a span names, in bytes.
const METHOD_BYTES_MAX: usize = 64;

/// A message on its way, as a trace sees it.
#[derive(Clone, Debug)]
pub struct Span {
    /// The trace it belongs to.
    pub trace: [u8; 16],
    /// Its own id.
    pub id: [u8; 8],
    /// The span it was sent in, if whoever sent it has one.
    pub parent: Option<[u8; 8]>,
    /// When it was taken in.
    pub began: SystemTime,
    /// The method.
    pub method: Box<str>,
    /// The tool of a call, where it has a plain name.
    pub tool: Option<Box<str>>,
    /// The server it is for.
    pub server: Box<str>,
    /// What was decided: `allowed`, `denied` or `held`.
    pub decision: &'static str,
    /// The policy's line.
    pub rule: Box<str>,
    /// The published reason.
    pub reason: Box<str>,
    /// The leaf of the decision's line.
    pub receipt: String,
}

impl Span {
    /// A span of its parent's trace, or of a trace of its own. Nothing where whoever began the trace
    /// does not want it told, or the kernel gives no random bytes.
    pub fn begin(
        parent: Option<Parent>,
        began: Option<SystemTime>,
        fill: impl FnOnce(&mut Self),
    ) -> Option<Self> {
        if parent.is_some_and(|parent| !parent.is_sampled) {
            return None;
        }
        let random = clock::random_id().ok()?;
        let mut id = [0; 8];
        id.copy_from_slice(&random[..8]);
        let mut span = Self {
            trace: match parent {
                Some(parent) => parent.trace,
                None => clock::random_id().ok()?,
            },
            id,
            parent: parent.map(|parent| parent.span),
            began: began.unwrap_or_else(clock::time_of_day),
            method: Box::default(),
            tool: None,
            server: Box::default(),
            decision: "",
            rule: Box::default(),
            reason: Box::default(),
            receipt: String::new(),
        };
        fill(&mut span);
        Some(span)
    }
}

/// A method as a span may name it: one of a plain form, whatever else the client wrote.
pub fn plain_method(method: Option<&str>) -> &str {
    let is_plain = |method: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.-".contains(&byte);
        method.len() <= METHOD_BYTES_MAX && method.bytes().all(plain)
    };
    match method {
        None => "malformed",
        Some(method) => Some(method).filter(is_plain).unwrap_or("other"),
    }
}

/// A span that is over.
#[derive(Debug)]
pub struct Ended {
    /// The span.
    pub span: Span,
    /// When it was over.
    pub at: SystemTime,
    /// `answered`, `cancelled`, `failed`, `never_went_on`, or what was decided where that was its end.
    pub outcome: &'static str,
}

impl Ended {
    /// It is over now.
    pub fn now(span: Span, outcome: &'static str) -> Self {
        Self {
            span,
            at: clock::time_of_day(),
            outcome,
        }
    }
}
