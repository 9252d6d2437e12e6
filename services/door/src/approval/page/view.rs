//! Held calls as the page shows them: every value the server would receive, nothing cut.

use countersign_receipts::{Hash, SignedApproval};
use countersign_wire::{Frame, Type, Value};
use serde::Serialize;

use crate::approval::decision::{Past, Seen};
use crate::clock::Now;

/// A held call in the list.
#[derive(Debug, Serialize)]
pub struct Listed {
    hold: String,
    digest: Hash,
    /// Milliseconds until it expires.
    expires_in: u64,
    /// Milliseconds until it goes on by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    countdown_in: Option<u64>,
}

impl Listed {
    /// The hold, as it stands now.
    pub fn new(seen: &Seen, now: Now) -> Self {
        let left = |at: u64| at.saturating_sub(now.monotonic_milliseconds);
        Self {
            hold: hex::encode(seen.held.approval),
            digest: seen.digest,
            expires_in: left(seen.expires_at),
            countdown_in: seen.countdown_at.map(left),
        }
    }
}

/// Everything about a held call. It does not change while it is held.
#[derive(Debug, Serialize)]
pub struct Whole<'a> {
    hold: String,
    digest: Hash,
    call: String,
    /// Opens the digest; with it the page can save what the decision is about.
    salt: Hash,
    server: &'a str,
    method: &'a str,
    tool: Option<&'a str>,
    definition: Option<&'a str>,
    identity: &'a str,
    rule: &'a str,
    policy: &'a str,
    policy_sha256: &'a str,
    commit: Option<&'a str>,
    /// Whether the rule takes a decision on this page.
    here: bool,
    /// Whether it takes one by webhook.
    webhook: bool,
    held_at: &'a str,
    expires_at: &'a str,
    /// The arguments of a tool, or the parameters of another method.
    arguments: Vec<Row>,
    /// What else stands in the message, such as its id.
    others: Vec<Row>,
    /// The whole message, byte for byte.
    message: &'a str,
}

/// One value and where it stands.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Member names and positions on the way to it.
    path: Vec<Step>,
    /// `string`, `number`, `boolean`, `null`, or `empty` for an object or array without anything.
    kind: &'static str,
    /// A string's characters; anything else as it is written.
    text: String,
}

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A member's name.
    Member(String),
    /// A place in an array, from zero.
    Place(usize),
}

impl<'a> Whole<'a> {
    /// The held call. A message that cannot be read, which none that is held is, shows as a whole.
    pub fn new(seen: &'a Seen) -> Self {
        let held = &*seen.held;
        let opening = &held.opening;
        let (mut arguments, mut others) = (Vec::new(), Vec::new());
        if let Ok(frame) = Frame::read(opening.message.as_bytes()) {
            split(&frame, opening.tool.is_some(), &mut arguments, &mut others);
        }
        Self {
            hold: hex::encode(held.approval),
            digest: seen.digest,
            call: hex::encode(held.call),
            salt: opening.salt,
            server: &opening.server,
            method: &opening.method,
            tool: opening.tool.as_deref(),
            definition: opening.definition.as_deref(),
            identity: &opening.identity,
            rule: &held.rule,
            policy: &held.policy,
            policy_sha256: &opening.policy_sha256,
            commit: held.commit.as_deref(),
            here: seen.terms.ways.page,
            webhook: seen.terms.ways.webhook,
            held_at: &held.held_at,
            expires_at: &held.expires_at,
            arguments,
            others,
            message: &opening.message,
        }
    }
}

/// Takes a message apart: what the tool is called with, and everything else.
fn split(frame: &Frame<'_>, is_tool: bool, arguments: &mut Vec<Row>, others: &mut Vec<Row>) {
    for (name, value) in frame.root().members() {
        if name != "params" {
            rows(value, &mut vec![Step::Member(name.into_owned())], others);
            continue;
        }
        for (name, value) in value.members() {
            let is_argument = !is_tool || name == "arguments";
            let is_argument = is_argument && name != "_meta";
            let (to, mut path) = match (is_argument, is_tool) {
                (true, true) => (&mut *arguments, Vec::new()),
                (true, false) => (&mut *arguments, vec![Step::Member(name.into_owned())]),
                (false, _) => (
                    &mut *others,
                    vec![
                        Step::Member("params".into()),
                        Step::Member(name.into_owned()),
                    ],
                ),
            };
            rows(value, &mut path, to);
        }
    }
}

fn rows(value: Value<'_>, path: &mut Vec<Step>, to: &mut Vec<Row>) {
    let kind = match value.kind() {
        Type::Object | Type::Array if value.is_empty() => "empty",
        Type::Object => {
            for (name, member) in value.members() {
                path.push(Step::Member(name.into_owned()));
                rows(member, path, to);
                path.pop();
            }
            return;
        }
        Type::Array => {
            for (place, element) in value.elements().enumerate() {
                path.push(Step::Place(place));
                rows(element, path, to);
                path.pop();
            }
            return;
        }
        Type::String => "string",
        Type::Number => "number",
        Type::True | Type::False => "boolean",
        Type::Null => "null",
    };
    let text = value.as_str();
    to.push(Row {
        path: path.clone(),
        kind,
        text: text.map_or_else(|| value.raw().to_owned(), std::borrow::Cow::into_owned),
    });
}

/// A hold that has ended.
#[derive(Debug, Serialize)]
pub struct Done {
    hold: String,
    server: String,
    name: String,
    /// How it ended.
    why: &'static str,
    at: String,
    /// Its receipt: the leaf in the record of decisions.
    receipt: Option<Hash>,
    /// The signed record, to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<SignedApproval>,
}

impl From<Past> for Done {
    fn from(past: Past) -> Self {
        Self {
            hold: hex::encode(past.hold),
            server: past.server,
            name: past.name,
            why: past.why.code(),
            at: past.at,
            receipt: past.leaf,
            signed: past.signed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &str, is_tool: bool) -> (Vec<String>, Vec<String>) {
        let frame = Frame::read(message.as_bytes()).unwrap();
        let (mut arguments, mut others) = (Vec::new(), Vec::new());
        split(&frame, is_tool, &mut arguments, &mut others);
        let text = |rows: Vec<Row>| {
            let line = |row: Row| {
                format!(
                    "{} {} {}",
                    serde_json::to_string(&row.path).unwrap(),
                    row.kind,
                    row.text
                )
            };
            rows.into_iter().map(line).collect()
        };
        (text(arguments), text(others))
    }

    #[test]
    fn every_value_of_a_call_is_shown() {
        let message = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pay","_meta":{"progressToken":"p"},
            "arguments":{"to":"B\u006fb\u202e","lines":[{"n":1.50},{"n":2e1,"x":null}],"none":{},"empty":"","yes":true}}}"#;
        let (arguments, others) = shown(message, true);
        assert_eq!(
            arguments,
            [
                "[\"to\"] string Bob\u{202e}",
                r#"["lines",0,"n"] number 1.50"#,
                r#"["lines",1,"n"] number 2e1"#,
                r#"["lines",1,"x"] null null"#,
                r#"["none"] empty {}"#,
                r#"["empty"] string "#,
                r#"["yes"] boolean true"#,
            ]
        );
        assert_eq!(
            others,
            [
                r#"["jsonrpc"] string 2.0"#,
                r#"["id"] number 7"#,
                r#"["method"] string tools/call"#,
                r#"["params","name"] string pay"#,
                r#"["params","_meta","progressToken"] string p"#,
            ]
        );
    }

    #[test]
    fn a_methods_parameters_are_its_arguments() {
        let message = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///a","_meta":{}}}"#;
        let (arguments, others) = shown(message, false);
        assert_eq!(arguments, [r#"["uri"] string file:///a"#]);
        assert_eq!(others.len(), 4);
    }
}
