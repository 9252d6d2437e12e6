//! A message as the page sends it, and what the bank takes.

use countersign_serve::Problem;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longest message, in characters (code points).
pub const MESSAGE_LENGTH_MAX: usize = 2000;
/// Most parts of one message that were pasted or dropped.
pub const SPANS_MAX: usize = 256;

/// The body of `POST /messages`. It has no Debug form: what a customer wrote is not for logs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// Made by the page; the same id again is the same message.
    pub client_message_id: Uuid,
    /// The conversation it belongs to; the newest one where it is missing.
    #[serde(default)]
    pub conversation: Option<countersign_domain::ConversationId>,
    /// Exactly what the customer wrote.
    pub text: String,
    /// What was pasted or dropped into it. Required: leaving it out must not turn a paste into typing.
    pub spans: Vec<Span>,
}

/// A part of a message that the customer did not type, in bytes of its UTF-8 form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// How it came in.
    pub kind: SpanKind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// How a part came into a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// From the clipboard.
    Paste,
    /// Dragged from elsewhere.
    Drop,
}

/// Checks a message. It is recorded as it is or not at all: nothing is trimmed, shortened or repaired.
///
/// # Errors
/// 422 with the rule that is broken.
pub fn check(sent: &Sent) -> Result<(), Problem> {
    let refuse = |code, title| Err(Problem::unprocessable(code, title));
    if sent.text.trim().is_empty() {
        return refuse("message_empty", "The message is empty");
    }
    if sent.text.chars().count() > MESSAGE_LENGTH_MAX {
        return refuse(
            "message_too_long",
            "The message is longer than 2000 characters",
        );
    }
    if sent.text.contains('\0') {
        return refuse(
            "message_characters",
            "The message holds a character that cannot be stored",
        );
    }
    let within = |span: &Span| {
        span.start < span.end
            && sent.text.is_char_boundary(span.start)
            && sent.text.is_char_boundary(span.end)
    };
    if sent.spans.len() > SPANS_MAX || !sent.spans.iter().all(within) {
        return refuse(
            "invalid_spans",
            "The marks of pasted text do not fit the message",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str, spans: &[(usize, usize)]) -> Sent {
        let span = |(start, end): &(usize, usize)| Span {
            kind: SpanKind::Paste,
            start: *start,
            end: *end,
        };
        Sent {
            client_message_id: Uuid::nil(),
            conversation: None,
            text: text.to_owned(),
            spans: spans.iter().map(span).collect(),
        }
    }

    fn code(text: &str, spans: &[(usize, usize)]) -> Option<&'static str> {
        check(&sent(text, spans)).err().map(|problem| problem.code)
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(code(&"é".repeat(2000), &[]), None);
        assert_eq!(code(&"é".repeat(2001), &[]), Some("message_too_long"));
        assert_eq!(code("x", &[]), None);
        assert_eq!(code("", &[]), Some("message_empty"));
        assert_eq!(code(" \n\u{a0}", &[]), Some("message_empty"));
    }

    #[test]
    fn what_postgresql_cannot_store_is_refused() {
        assert_eq!(code("Pay\0Bob", &[]), Some("message_characters"));
    }

    #[test]
    fn spans_fall_on_characters_inside_the_message() {
        assert_eq!(code("é 20", &[(0, 2), (3, 5)]), None);
        for bad in [(1, 2), (0, 6), (2, 2), (3, 2), (5, 6), (0, usize::MAX)] {
            assert_eq!(code("é 20", &[bad]), Some("invalid_spans"), "{bad:?}");
        }
        assert_eq!(
            code("ab", &vec![(0, 1); SPANS_MAX + 1]),
            Some("invalid_spans")
        );
    }

    #[test]
    fn the_body_has_one_form() {
        let read = |text: &str| serde_json::from_str::<Sent>(text).is_ok();
        let id = r#""client_message_id":"0f7e9c4e-6a93-4a57-8a1c-0d6f4c1f2b11""#;
        assert!(read(&format!(
            r#"{{{id},"text":"a","spans":[{{"kind":"paste","start":0,"end":1}}]}}"#
        )));
        for bad in [
            format!(r#"{{{id},"text":"a"}}"#),
            format!(r#"{{{id},"text":"a","spans":[],"customer":"cus_1"}}"#),
            format!(r#"{{{id},"text":"a","text":"b","spans":[]}}"#),
            format!(r#"{{{id},"text":"a","spans":[{{"kind":"typed","start":0,"end":1}}]}}"#),
            format!(r#"{{{id},"text":"a","spans":[{{"kind":"paste","start":-1,"end":1}}]}}"#),
            format!(r#"{{{id},"text":"a","spans":[{{"kind":"paste","start":0.5,"end":1}}]}}"#),
            format!(r#"{{{id},"text":"\ud800","spans":[]}}"#),
            r#"{"client_message_id":"1","text":"a","spans":[]}"#.to_owned(),
        ] {
            assert!(!read(&bad), "{bad}");
        }
    }
}
