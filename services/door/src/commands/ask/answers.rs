//! Questions and answers, whichever way they travel.

use anyhow::{Context as _, bail};
use countersign_wire::{Caps, Frame, Kind};

/// The revision with a handshake, which almost every server speaks.
pub const SESSION_VERSION: &str = "2025-11-25";
/// The revision without sessions.
pub const STATELESS_VERSION: &str = "2026-07-28";

/// A request.
pub fn question(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// The parameters that ask for a page.
pub fn page(cursor: Option<&str>, meta: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, serde_json::Value::from(cursor)));
    let meta = meta.map(|meta| format!(r#""_meta":{meta}"#));
    let members: Vec<_> = cursor.into_iter().chain(meta).collect();
    format!("{{{}}}", members.join(","))
}

/// What a line or a body is to somebody who waits for the answer to a question.
pub enum Heard {
    /// The result.
    Result(String),
    /// The server refuses.
    Refused(String),
    /// The server asks something itself; its id as written.
    Question(String),
    /// Nothing to do with it.
    Other,
}

/// Reads one message of a server.
///
/// # Errors
/// When it is no message.
pub fn hear(bytes: &[u8], id: u32) -> anyhow::Result<Heard> {
    let frame = Frame::read_within(bytes, &Caps::ANSWER).context("read an answer")?;
    let own = id.to_string();
    Ok(match frame.kind() {
        Kind::Request => Heard::Question(frame.id_raw().unwrap_or_default().to_owned()),
        Kind::Answer if frame.id_raw() == Some(own.as_str()) => match frame.root().get("result") {
            Some(result) => Heard::Result(result.raw().to_owned()),
            None => {
                let error = frame.root().get("error");
                let code = error.and_then(|error| error.get("code"));
                let code = code.map_or_else(String::new, |code| code.raw().to_owned());
                Heard::Refused(format!("error {code}"))
            }
        },
        Kind::Answer | Kind::Notification => Heard::Other,
    })
}

/// Gathers the pages of a list.
#[derive(Default)]
pub struct Pages {
    tools: Vec<String>,
}

impl Pages {
    /// Takes in a page and says where the next one is.
    ///
    /// # Errors
    /// When it is no page of tools.
    pub fn take(&mut self, result: &str) -> anyhow::Result<Option<String>> {
        let document = countersign_wire::Document::read(result.as_bytes(), &Caps::ANSWER)?;
        let root = document.root();
        let Some(tools) = root.get("tools") else {
            bail!("the server's answer has no tools");
        };
        self.tools
            .extend(tools.elements().map(|tool| tool.raw().to_owned()));
        let cursor = root.get("nextCursor").and_then(|cursor| cursor.as_str());
        Ok(cursor.map(String::from))
    }

    /// The whole list as one result.
    pub fn whole(&self) -> Vec<u8> {
        format!(r#"{{"tools":[{}]}}"#, self.tools.join(",")).into_bytes()
    }
}
