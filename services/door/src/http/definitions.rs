//! The door's own question for the tools of a server, page after page.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::events::Splitter;
use super::gate::{ForwardError, Gate, is_event_stream};
use super::upstream::read_whole;
use crate::caller::Caller;
use crate::clock;
use crate::judge::lists::{self, Answered, Entry, ListError};
use crate::judge::message::record_own_question;
use crate::judge::methods::TOOLS;
use crate::judge::reply;
use crate::screen::Screens;

/// Most pages of one list.
pub const PAGES_MAX: usize = 64;
/// The id of the door's own questions outside sessions.
const OWN_ID: &str = "1";
/// The id of the door's own questions inside a session, where clients ask under theirs.
const OWN_SESSION_ID: &str = "\"countersign-door\"";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Reads the whole list again if it is not current. `client` are the headers of the message that
/// waits for it: inside a session the question belongs to the session.
///
/// # Errors
/// [`ForwardError`].
pub async fn read(gate: &Gate, caller: &Caller, client: &HeaderMap) -> Result<(), ForwardError> {
    let _one_at_a_time = gate.reading.lock().await;
    let now = clock::monotonic_milliseconds();
    let catalogue = &gate.door.servers[0].catalogue;
    if catalogue.live("", now).is_some() {
        return Ok(());
    }
    let entries = read_pages(gate, caller, client).await?;
    let changed = catalogue.replace(&entries, now);
    gate.door.note_changes(0, &changed).map_err(|error| {
        tracing::error!(%error, "Could not record a changed definition");
        ListError::Malformed
    })?;
    Ok(())
}

async fn read_pages(
    gate: &Gate,
    caller: &Caller,
    client: &HeaderMap,
) -> Result<Vec<Entry>, ForwardError> {
    let session = client.get(SESSION);
    let mut headers = headers(session.is_none());
    if let Some(session) = session {
        headers.insert(SESSION, session.clone());
        if let Some(version) = client.get(VERSION) {
            headers.insert(VERSION, version.clone());
        }
    }
    let mut entries = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let body = Bytes::from(question(session.is_none(), cursor.as_deref()));
        let (call, mut ending) =
            record_own_question(&gate.door, caller, 0, &body).map_err(ForwardError::NotRecorded)?;
        let sent = gate.send(&headers, caller, &call, ending.leaf(), body);
        let answer = sent.await.inspect_err(|_| ending.failed())?;
        ending.head(answer.status().as_u16());
        let events = is_event_stream(answer.headers());
        let whole = read_whole(answer.into_body()).await;
        let whole = whole.inspect_err(|_| ending.failed())?;
        ending.answered(whole.len() as u64);
        let id = if session.is_none() {
            OWN_ID
        } else {
            OWN_SESSION_ID
        };
        let screens = &gate.door.rules().screens;
        let page = match read_answer(&whole, events, id, screens)? {
            Answered::Page(page) => page,
            Answered::Error => return Err(ListError::Malformed.into()),
        };
        entries.extend(page.entries);
        match page.next_cursor {
            None => return Ok(entries),
            next => cursor = next,
        }
    }
    Err(ListError::Malformed.into())
}

/// The page in an answer to the door's own question.
fn read_answer(
    whole: &[u8],
    events: bool,
    id: &str,
    screens: &Screens,
) -> Result<Answered, ListError> {
    let read = |bytes: &[u8]| {
        let frame = reply::read(bytes).map_err(|_| ListError::Malformed)?;
        match frame.id_raw() {
            Some(found) if found == id => lists::read(&frame, TOOLS, screens),
            _ => Err(ListError::Malformed),
        }
    };
    if !events {
        return read(whole);
    }
    let mut splitter = Splitter::default();
    splitter.feed(whole).map_err(|_| ListError::Malformed)?;
    while let Some(event) = splitter.next() {
        // Notifications may come before the answer.
        if let Some(data) = event.data()
            && let Ok(answered) = read(&data)
        {
            return Ok(answered);
        }
    }
    Err(ListError::Malformed)
}

/// The question for a page of tools: in the revision without sessions, or inside a session.
fn question(stateless: bool, cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, serde_json::Value::from(cursor)));
    if !stateless {
        let params = cursor.unwrap_or_default();
        return format!(
            r#"{{"jsonrpc":"2.0","id":{OWN_SESSION_ID},"method":"tools/list","params":{{{params}}}}}"#
        );
    }
    let cursor = cursor.map_or_else(String::new, |cursor| cursor + ",");
    format!(
        r#"{{"jsonrpc":"2.0","id":{OWN_ID},"method":"tools/list","params":{{{cursor}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"countersign-door","version":"{}"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#,
        env!("CARGO_PKG_VERSION")
    )
}

fn headers(stateless: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if stateless {
        headers.insert(VERSION, HeaderValue::from_static("2026-07-28"));
        headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::Frame;

    #[test]
    fn the_doors_own_question_is_one_it_would_read_itself() {
        for stateless in [true, false] {
            for cursor in [None, Some("a\"b\n")] {
                let body = question(stateless, cursor);
                let frame = Frame::read(body.as_bytes()).unwrap();
                assert_eq!(frame.method(), Some("tools/list"));
                let found = frame.params().and_then(|params| params.get("cursor"));
                assert_eq!(found.and_then(|value| value.as_str()).as_deref(), cursor);
                assert!(super::super::mirrored::check(&headers(stateless), &frame).is_ok());
            }
        }
    }
}
