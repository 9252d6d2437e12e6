//! What several servers are, said by the door for all of them: `initialize` and `server/discover`.

use std::fmt::Write as _;

use countersign_wire::{Frame, Value};
use serde_json::{Map, Value as Json, json};

use super::lists::{freshness, is_private};
use super::{Part, UNAVAILABLE};
use crate::http::mirrored::VERSIONS;
use crate::judge::reply;

/// Longest instructions of one server that are repeated, in bytes.
const INSTRUCTIONS_BYTES_MAX: usize = 16 << 10;
/// What a server can do that the door can pass on where there are several.
const CAPABILITIES: [&str; 8] = [
    "completions",
    "experimental",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "tasks",
    "tools",
];

/// What one server said of itself.
#[derive(Debug)]
pub struct Term {
    /// The server, by its place among the door's servers.
    pub server: usize,
    /// What it can do.
    pub capabilities: Map<String, Json>,
}

struct Said<'f> {
    server: usize,
    result: Value<'f>,
}

fn read(parts: &[Part]) -> Vec<(usize, Frame<'_>)> {
    let frames = parts.iter().filter_map(|part| {
        let bytes = part.answer.as_deref()?;
        Some((part.server, reply::read(bytes).ok()?))
    });
    frames.collect()
}

fn said<'f>(frames: &'f [(usize, Frame<'_>)]) -> Vec<Said<'f>> {
    let said = frames.iter().filter_map(|(server, frame)| {
        Some(Said {
            server: *server,
            result: frame.root().get("result")?,
        })
    });
    said.collect()
}

impl Said<'_> {
    fn text(&self, member: &str) -> Option<String> {
        Some(self.result.get(member)?.as_str()?.into_owned())
    }

    fn term(&self) -> Term {
        let capabilities = self.result.get("capabilities");
        let capabilities = capabilities
            .and_then(|capabilities| serde_json::from_str::<Map<_, _>>(capabilities.raw()).ok());
        let mut capabilities = capabilities.unwrap_or_default();
        capabilities.retain(|name, _| CAPABILITIES.contains(&name.as_str()));
        Term {
            server: self.server,
            capabilities,
        }
    }
}

/// The answer to `initialize`, and what those who take part said. `asked` is the revision the client
/// wants; the answer names the oldest that a server takes, since later ones only add to it. A
/// server of a revision that is neither wanted nor served takes no part.
pub fn handshake(
    parts: &[Part],
    id: &str,
    asked: Option<&str>,
    name: impl Fn(usize) -> String,
) -> Option<(Vec<u8>, Vec<Term>)> {
    let frames = read(parts);
    let mut said = said(&frames);
    said.retain(|said| {
        let version = said.text("protocolVersion").unwrap_or_default();
        asked == Some(&version) || VERSIONS.contains(&&*version)
    });
    let versions = said.iter().filter_map(|said| said.text("protocolVersion"));
    let version = versions.min()?;
    let terms: Vec<_> = said.iter().map(Said::term).collect();
    let absent = absent(parts, &terms, &name);
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": union(&terms),
        "serverInfo": server_info(),
        "instructions": instructions(&said, &absent, &name),
    });
    if !absent.is_empty() {
        result["_meta"] = json!({UNAVAILABLE: absent});
    }
    Some((answer(id, &result), terms))
}

/// The answer to `server/discover`, and what those who take part said: whoever serves the revision
/// that the client asked in.
pub fn discovery(
    parts: &[Part],
    id: &str,
    asked: Option<&str>,
    name: impl Fn(usize) -> String,
) -> Option<(Vec<u8>, Vec<Term>)> {
    let frames = read(parts);
    let mut said = said(&frames);
    let supported = |said: &Said<'_>| -> Vec<String> {
        let versions = said.result.get("supportedVersions");
        let versions = versions
            .into_iter()
            .flat_map(|versions| versions.elements());
        versions
            .filter_map(|version| Some(version.as_str()?.into_owned()))
            .collect()
    };
    said.retain(|said| {
        let supported = supported(said);
        asked.is_none_or(|asked| supported.iter().any(|version| version == asked))
    });
    let (first, others) = said.split_first()?;
    let mut versions = supported(first);
    for other in others {
        let theirs = supported(other);
        versions.retain(|version| theirs.contains(version));
    }
    let terms: Vec<_> = said.iter().map(Said::term).collect();
    let absent = absent(parts, &terms, &name);
    let mut meta = json!({"io.modelcontextprotocol/serverInfo": server_info()});
    if !absent.is_empty() {
        meta[UNAVAILABLE] = json!(absent);
    }
    let results = || said.iter().map(|said| said.result);
    let result = json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": union(&terms),
        "instructions": instructions(&said, &absent, &name),
        "ttlMs": freshness(results()),
        "cacheScope": if is_private(results()) { "private" } else { "public" },
        "_meta": meta,
    });
    Some((answer(id, &result), terms))
}

fn answer(id: &str, result: &Json) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes()
}

fn server_info() -> Json {
    json!({"name": "countersign-door", "version": env!("CARGO_PKG_VERSION")})
}

/// The servers that were asked and take no part.
fn absent(parts: &[Part], terms: &[Term], name: impl Fn(usize) -> String) -> Vec<String> {
    let is_there = |part: &&Part| !terms.iter().any(|term| term.server == part.server);
    let absent = parts.iter().filter(is_there);
    absent.map(|part| name(part.server)).collect()
}

/// Whatever any of them can do. What one of them cannot do it says itself when it is asked.
fn union(terms: &[Term]) -> Map<String, Json> {
    let mut all = Map::new();
    for term in terms {
        for (name, said) in &term.capabilities {
            match (all.get_mut(name), said) {
                (Some(Json::Object(known)), Json::Object(said)) => {
                    for (flag, value) in said {
                        // The first word stands, save that a yes wins over a no.
                        let known = known.entry(flag.clone()).or_insert_with(|| value.clone());
                        if *value == json!(true) {
                            *known = json!(true);
                        }
                    }
                }
                (Some(_), _) => {}
                (None, said) => {
                    all.insert(name.clone(), said.clone());
                }
            }
        }
    }
    all
}

/// Each server's instructions under its name, so that none speaks for another.
fn instructions(said: &[Said<'_>], absent: &[String], name: impl Fn(usize) -> String) -> String {
    let mut text = String::from(
        "Several servers stand behind this endpoint. The names of their tools and prompts begin with the server's: SERVER__NAME.",
    );
    for said in said {
        let Some(mut own) = said.text("instructions") else {
            continue;
        };
        if own.trim().is_empty() {
            continue;
        }
        if own.len() > INSTRUCTIONS_BYTES_MAX {
            own.truncate(own.floor_char_boundary(INSTRUCTIONS_BYTES_MAX));
        }
        let _ = write!(text, "\n\nThe server {} says:\n{own}", name(said.server));
    }
    if !absent.is_empty() {
        let _ = write!(text, "\n\nNot available now: {}.", absent.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(results: &[Option<&str>]) -> Vec<Part> {
        let part = |(server, result): (usize, &Option<&str>)| Part {
            server,
            answer: result
                .map(|result| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).into()),
        };
        results.iter().enumerate().map(part).collect()
    }

    fn names(server: usize) -> String {
        ["files", "rates", "mail"][server].to_owned()
    }

    fn result(answer: &[u8]) -> Json {
        serde_json::from_slice::<Json>(answer).unwrap()["result"].clone()
    }

    #[test]
    fn a_handshake_speaks_for_all_who_take_part() {
        let files = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false},"tasks":{},"else":{}},"serverInfo":{},"instructions":"Read before you write."}"#;
        let rates = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"prompts":{}},"serverInfo":{}}"#;
        let (answer, terms) = handshake(
            &parts(&[Some(files), Some(rates), None]),
            "\"x\"",
            Some("2025-11-25"),
            names,
        )
        .unwrap();
        let result = result(&answer);
        assert_eq!(result["protocolVersion"], "2025-06-18");
        assert_eq!(
            result["capabilities"],
            json!({"tools": {"listChanged": true}, "tasks": {}, "prompts": {}})
        );
        let instructions = result["instructions"].as_str().unwrap();
        assert!(
            instructions.contains("The server files says:\nRead before"),
            "{instructions}"
        );
        assert!(
            instructions.ends_with("Not available now: mail."),
            "{instructions}"
        );
        assert_eq!(result["_meta"][UNAVAILABLE], json!(["mail"]));
        assert_eq!(terms.len(), 2);
        let unknown = files.replace("2025-11-25", "2024-01-01");
        let none = handshake(&parts(&[Some(&unknown)]), "1", Some("2025-11-25"), names);
        assert!(none.is_none());
        // What the client itself wants is good enough.
        let wanted = handshake(&parts(&[Some(&unknown)]), "1", Some("2024-01-01"), names);
        assert!(wanted.is_some());
    }

    #[test]
    fn a_discovery_names_what_all_of_them_serve() {
        let one = r#"{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{"tools":{}},"ttlMs":9,"cacheScope":"public"}"#;
        let two = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{}},"ttlMs":3,"cacheScope":"public"}"#;
        let old = r#"{"supportedVersions":["2025-11-25"],"capabilities":{"prompts":{}}}"#;
        let parts = parts(&[Some(one), Some(two), Some(old)]);
        let (answer, _) = discovery(&parts, "1", Some("2026-07-28"), names).unwrap();
        let result = result(&answer);
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(result["capabilities"], json!({"tools": {}, "logging": {}}));
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(3), &json!("public"))
        );
        assert_eq!(result["_meta"][UNAVAILABLE], json!(["mail"]));
        assert_eq!(result["resultType"], "complete");
    }
}
