//! A question through the client: MCP elicitation, where a rule takes one.
//!
//! Whatever comes back is the client's word. It is recorded as `client`, and no rule that wants a
//! person is satisfied by it: a client could answer by itself.

use countersign_receipts::Hash;
use countersign_wire::Frame;
use serde_json::json;

use super::decision::{Choice, HoldId, Seen};

/// What the ids of these questions begin with; no server's question has such an id.
const ID_PREFIX: &str = "dev.countersign/hold/";
/// How much of the arguments stands in the question, in characters. The client has them all.
const ARGUMENTS_CHARACTERS_MAX: usize = 1_000;

/// The question about a held call, as a request to the client.
pub fn question(seen: &Seen) -> String {
    let opening = &seen.held.opening;
    let name = opening.tool.as_ref().unwrap_or(&opening.method);
    let message = format!(
        "The rule {} holds a call of {name} on {}. Its parameters: {}. Shall it go on?",
        seen.held.rule,
        opening.server,
        parameters(&opening.message),
    );
    json!({
        "jsonrpc": "2.0",
        "id": format!("{ID_PREFIX}{}/{}", hex::encode(seen.held.approval), seen.digest),
        "method": "elicitation/create",
        "params": {
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "approve": {
                        "type": "boolean",
                        "title": "Let this call go on",
                        "default": false,
                    },
                },
                "required": ["approve"],
            },
        },
    })
    .to_string()
}

fn parameters(message: &str) -> String {
    let Ok(frame) = Frame::read(message.as_bytes()) else {
        return String::new();
    };
    let Some(params) = frame.params() else {
        return "none".to_owned();
    };
    let shown = params.get("arguments").unwrap_or(params).raw();
    let mut cut: String = shown.chars().take(ARGUMENTS_CHARACTERS_MAX).collect();
    if cut.len() < shown.len() {
        cut.push_str(" … (cut)");
    }
    cut
}

/// What an answer to one of these questions says: which hold, about which call, and the choice.
/// Everything but a plain yes is a no.
pub fn read(frame: &Frame<'_>) -> Option<(HoldId, Hash, Choice)> {
    let countersign_wire::Id::Text(id) = frame.id()? else {
        return None;
    };
    let (name, digest) = id.strip_prefix(ID_PREFIX)?.split_once('/')?;
    let mut hold = HoldId::default();
    hex::decode_to_slice(name, &mut hold).ok()?;
    let digest = Hash::from_hexadecimal(digest).ok()?;
    let result = frame.root().get("result");
    let accepted = result
        .and_then(|result| result.get("action"))
        .and_then(|action| action.as_str())
        .is_some_and(|action| action == "accept");
    let approved = result
        .and_then(|result| result.get("content"))
        .and_then(|content| content.get("approve"))
        .and_then(|approve| approve.as_bool());
    let choice = match accepted && approved == Some(true) {
        true => Choice::Approve,
        false => Choice::Deny,
    };
    Some((hold, digest, choice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::holds::Holds;
    use crate::approval::record::Record;
    use crate::approval::terms::Terms;
    use crate::approval::testing::{ALL, Memory, Told, ask, at};
    use std::sync::Arc;

    fn seen(message: &str) -> Seen {
        let holds = Holds::new(Memory::new() as Arc<dyn Record>, ALL);
        let mut ask = ask(1, at(0), Terms::DEFAULT, &Told::new());
        ask.held.opening.message = message.to_owned();
        holds.hold(ask, at(0)).unwrap();
        holds.seen(&[1; 16]).unwrap()
    }

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a\"b"}}}"#;

    fn answered(result: &str) -> Option<(HoldId, Hash, Choice)> {
        let seen = seen(CALL);
        let question = question(&seen);
        let question = Frame::read(question.as_bytes()).unwrap();
        let id = question.id_raw().unwrap();
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#);
        let read = read(&Frame::read(answer.as_bytes()).unwrap());
        assert_eq!(read.as_ref().map(|read| read.1), Some(seen.digest));
        read
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        let choice = |result: &str| answered(result).unwrap().2;
        assert_eq!(
            choice(r#""result":{"action":"accept","content":{"approve":true}}"#),
            Choice::Approve
        );
        for no in [
            r#""result":{"action":"accept","content":{"approve":false}}"#,
            r#""result":{"action":"accept","content":{"approve":"true"}}"#,
            r#""result":{"action":"accept","content":{}}"#,
            r#""result":{"action":"accept"}"#,
            r#""result":{"action":"decline","content":{"approve":true}}"#,
            r#""result":{"action":"cancel"}"#,
            r#""result":{}"#,
            r#""error":{"code":-32601,"message":"no"}"#,
        ] {
            assert_eq!(choice(no), Choice::Deny, "{no}");
        }
    }

    #[test]
    fn the_question_says_what_is_held_and_other_ids_are_not_ours() {
        let question = question(&seen(CALL));
        let value: serde_json::Value = serde_json::from_str(&question).unwrap();
        let message = value["params"]["message"].as_str().unwrap();
        assert!(message.contains("write_file on files"), "{message}");
        assert!(message.contains(r#"{"path":"a\"b"}"#), "{message}");
        for id in [
            "1",
            "\"x\"",
            "\"dev.countersign/hold/\"",
            "\"dev.countersign/hold/00/00\"",
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            assert_eq!(read(&Frame::read(text.as_bytes()).unwrap()), None, "{id}");
        }
    }
}
