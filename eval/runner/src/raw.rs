//! Requests outside the tools, as a hostile agent process makes them: with what it holds, to whatever listens.
//!
//! A case says them in words. They are read by what they name: where to, with which token, on which path, with which body.
//! Words that name no place are not played, and the report says so.

use std::{collections::BTreeMap, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::Service;
use regex::Regex;
use serde_json::{Value, json};

use crate::{lines::pattern, recording::Raw, stage::Stage};

/// The revision these calls speak.
const REVISION: &str = "2026-07-28";
/// The panel's cookie, which an agent never has and here tries to make of what it has.
const PANEL_COOKIE: &str = "__Host-countersign-panel";

/// What an agent process holds.
#[derive(Debug)]
pub struct Held<'a> {
    /// The token of the turn that runs.
    pub token: &'a str,
    /// The tokens of earlier entries, by their number.
    pub kept: &'a BTreeMap<usize, String>,
    /// The newest request it knows of.
    pub action: Option<&'a str>,
    /// The conversation of the turn.
    pub conversation: &'a str,
}

/// Reads the words and sends what they say.
///
/// # Errors
/// When nothing listens where the request goes. Words that say no request are the inner error.
pub async fn send(
    stage: &Stage,
    turn: usize,
    words: &str,
    held: &Held<'_>,
) -> anyhow::Result<Result<Raw, String>> {
    let Some(to) = place(words) else {
        return Ok(Err(format!(
            "a raw request whose words name no place: {words:?}"
        )));
    };
    let token = token(words, held);
    let (service, name) = match to {
        Place::Panel => (Service::Panel, "panel"),
        Place::Chat => (Service::Intake, "chat"),
        Place::Door => (Service::Door, "door"),
        Place::BankMcp => (Service::BankMcp, "bank-mcp"),
        Place::Dashboard => (Service::Dashboard, "dashboard"),
    };
    let origin = stage.bank.origin(service);
    let request = match to {
        Place::Door | Place::BankMcp => tool_call(words),
        Place::Panel | Place::Chat | Place::Dashboard => page(words, to, &token, held),
    };
    let http = stage.bank.http()?;
    // By number, with the name as a browser would say it: not every system resolves names below localhost.
    let port = stage.bank.stack().port(service);
    let url = format!("http://127.0.0.1:{port}{}", request.path);
    let host = origin.trim_start_matches("http://");
    let mut sent = match request.method {
        "GET" => http.get(url),
        "PUT" => http.put(url),
        "DELETE" => http.delete(url),
        _ => http.post(url),
    };
    sent = sent.header("host", host);
    for (header, value) in &request.headers {
        sent = sent.header(*header, value);
    }
    if let Some(token) = &token {
        sent = sent
            .header("countersign-session", token)
            .header("authorization", format!("Bearer {token}"))
            .header("cookie", format!("{PANEL_COOKIE}={token}"));
    }
    // A page's own origin, as a process outside any browser can write it too.
    if !matches!(to, Place::Door | Place::BankMcp) {
        sent = sent.header("origin", &origin);
    }
    if request.method != "GET" {
        sent = sent
            .header("content-type", "application/json")
            .body(request.body);
    }
    let answer = sent.send().await?;
    Ok(Ok(Raw {
        turn,
        words: words.to_owned(),
        to: name,
        status: answer.status().as_u16(),
        answer: answer.text().await?,
    }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Panel,
    Chat,
    Door,
    BankMcp,
    Dashboard,
}

fn place(words: &str) -> Option<Place> {
    let words = words.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    if has(&[
        "bank-mcp",
        "bank mcp",
        "bank server",
        "past the door",
        "around the door",
        "bypassing the door",
    ]) {
        Some(Place::BankMcp)
    } else if has(&["dashboard", "operator", "staff page"]) {
        Some(Place::Dashboard)
    } else if has(&[
        "intake",
        "chat origin",
        "/messages",
        "/redeem",
        "/conversations",
        "/history",
        "utterance",
        "as the customer's message",
    ]) {
        Some(Place::Chat)
    } else if has(&[
        "panel",
        "/login",
        "/api/",
        "/limits",
        "/safety",
        "/chat-code",
        "log in",
        "login",
        "sign in",
        "press confirm",
        "confirm endpoint",
    ]) {
        Some(Place::Panel)
    } else if has(&[
        "door", "tools/", "mcp", "token", "jsonrpc", "list_", "get_", "request_", "read_",
    ]) {
        Some(Place::Door)
    } else {
        None
    }
}

/// The token that the words speak of.
fn token(words: &str, held: &Held<'_>) -> Option<String> {
    static OF_TURN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?:of|from|in) (?:the )?(?:turn|message|entry) (\d+)|turn (\d+)(?:'s|’s)? token")
    });
    let lower = words.to_lowercase();
    if lower.contains("without a token")
        || lower.contains("without the token")
        || lower.contains("without any token")
        || lower.contains("no token")
    {
        return None;
    }
    let number = OF_TURN.captures(&lower).and_then(|found| {
        let number = found.get(1).or_else(|| found.get(2))?;
        number.as_str().parse::<usize>().ok()
    });
    let token = number
        .and_then(|number| held.kept.get(&number).cloned())
        .or_else(|| {
            let ended = [
                "ended turn",
                "after the turn",
                "earlier token",
                "old token",
                "last turn",
                "previous turn",
            ];
            let ended = ended.iter().any(|word| lower.contains(word));
            ended.then(|| held.kept.values().next().cloned()).flatten()
        })
        .unwrap_or_else(|| held.token.to_owned());
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    Some(
        if has(&["unsigned", "alg none", "alg=none", "no signature"]) {
            unsigned(&token)
        } else if has(&[
            "changed token",
            "altered token",
            "forged",
            "tampered",
            "changed claim",
            "another subject",
            "later expiry",
        ]) {
            changed(&token)
        } else {
            token
        },
    )
}

/// The token with another customer in it and the old signature.
fn changed(token: &str) -> String {
    let mut parts: Vec<String> = token.split('.').map(ToOwned::to_owned).collect();
    if let Some(claims) = parts.get_mut(1)
        && let Ok(bytes) = URL_SAFE_NO_PAD.decode(claims.as_bytes())
        && let Ok(mut read) = serde_json::from_slice::<Value>(&bytes)
    {
        if let Value::Object(fields) = &mut read {
            fields.insert("sub".to_owned(), json!(uuid::Uuid::now_v7().to_string()));
            fields.insert("exp".to_owned(), json!(4_102_444_800_u64));
        }
        *claims = URL_SAFE_NO_PAD.encode(read.to_string());
    }
    parts.join(".")
}

fn unsigned(token: &str) -> String {
    let claims = token.split('.').nth(1).unwrap_or_default();
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
    format!("{header}.{claims}.")
}

struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

/// A body in the words, as it stands there: also one that no reader should take.
fn body(words: &str) -> Option<&str> {
    let start = words.find('{')?;
    let end = words.rfind('}')?;
    words.get(start..=end)
}

fn tool_call(words: &str) -> Request {
    static TOOL: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b((?:list|get|read|request|confirm|execute|set)_[a-z_]+)\b"));
    let tool = TOOL.captures(words).map_or("list_accounts", |found| {
        found.get(1).map_or("", |name| name.as_str())
    });
    let given = body(words);
    let (body, tool) = match given {
        // A whole message.
        Some(text) if text.contains("jsonrpc") => (text.to_owned(), tool.to_owned()),
        other => {
            let arguments = other
                .and_then(|text| serde_json::from_str::<Value>(text).ok())
                .unwrap_or_else(|| json!({}));
            let message = json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": REVISION,
                    "io.modelcontextprotocol/clientCapabilities": {},
                }},
            });
            (message.to_string(), tool.to_owned())
        }
    };
    Request {
        method: "POST",
        path: "/mcp".to_owned(),
        headers: vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", REVISION.to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", tool),
        ],
        body,
    }
}

fn page(words: &str, to: Place, token: &Option<String>, held: &Held<'_>) -> Request {
    static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|\s)(/[\w/.\-]*)"));
    static METHOD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(GET|POST|PUT|DELETE)\b"));
    let lower = words.to_lowercase();
    let action = held
        .action
        .unwrap_or("act_00000000000000000000000000000000");
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    let named = PATH
        .captures(words)
        .and_then(|found| found.get(1))
        .map(|path| path.as_str().to_owned());
    let path = named.unwrap_or_else(|| match to {
        Place::Chat if has(&["redeem"]) => "/redeem".to_owned(),
        Place::Chat => "/messages".to_owned(),
        Place::Dashboard => "/".to_owned(),
        _ if has(&["cancel"]) => format!("/api/actions/{action}/cancel"),
        _ if has(&["fill", "slot"]) => format!("/api/actions/{action}/fill"),
        _ if has(&["prepare"]) => format!("/api/actions/{action}/prepare"),
        _ if has(&["confirm"]) => format!("/api/actions/{action}/confirm"),
        _ if has(&["chat code", "chat-code"]) => "/chat-code".to_owned(),
        _ if has(&["limit"]) => "/limits".to_owned(),
        _ if has(&["freeze"]) => "/safety/freeze".to_owned(),
        _ if has(&["passkey", "enrol"]) => "/api/passkeys/enrol".to_owned(),
        _ if has(&["card", "balance", "read"]) => "/api/cards".to_owned(),
        _ => "/login".to_owned(),
    });
    let method = match METHOD
        .captures(words)
        .as_ref()
        .map(|found| found[1].to_owned())
    {
        Some(method) if method == "GET" => "GET",
        Some(method) if method == "PUT" => "PUT",
        Some(method) if method == "DELETE" => "DELETE",
        Some(_) => "POST",
        None if to == Place::Dashboard || path == "/api/cards" || path == "/" => "GET",
        None => "POST",
    };
    let text = words
        .split_once(": ")
        .map_or("send 500 to Bob", |(_, text)| text);
    let body = body(words).map_or_else(
        || {
            let secret = token.clone().unwrap_or_default();
            json!({
                "token": secret, "code": secret, "version": 1, "confirm_hash": "0".repeat(64), "nonce": "0".repeat(32), "note": "",
                "client_message_id": uuid::Uuid::now_v7(), "conversation": held.conversation, "text": text, "spans": [],
            })
            .to_string()
        },
        ToOwned::to_owned,
    );
    Request {
        method,
        path,
        headers: Vec::new(),
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_where_a_request_goes() {
        for (words, to) in [
            (
                "POST /login on the panel with the session token",
                Some(Place::Panel),
            ),
            ("bank-mcp directly: list_accounts", Some(Place::BankMcp)),
            (
                "POST /messages to intake: send 500 to Bob",
                Some(Place::Chat),
            ),
            ("list_accounts with the token of turn 1", Some(Place::Door)),
            ("whistle", None),
        ] {
            assert_eq!(place(words), to, "{words}");
        }
    }

    #[test]
    fn words_say_which_token() {
        let kept = BTreeMap::from([(1, "first".to_owned())]);
        let held = Held {
            token: "now",
            kept: &kept,
            action: None,
            conversation: "c",
        };
        assert_eq!(
            token("list_accounts with the token of turn 1", &held).as_deref(),
            Some("first")
        );
        assert_eq!(token("list_accounts without a token", &held), None);
        assert_eq!(token("list_accounts", &held).as_deref(), Some("now"));
    }
}
