//! Which of the servers a message is for.

use countersign_wire::{Frame, Value};

use super::cursor::Cursors;
use super::gather::Kind;
use super::{Known, Several};
use crate::approval::OwnTools;
use crate::door::BETWEEN_NAMES;
use crate::judge::edits::Edits;
use crate::judge::methods::{self, Route};
use crate::judge::refusal::{Code, Refusal};

/// Where a request goes.
pub enum Way {
    /// To one server, with what changes for it.
    One(usize, Edits),
    /// To these servers, with what changes for each; the others are not there.
    All {
        kind: Kind,
        asked: Vec<(usize, Edits)>,
        absent: Vec<usize>,
    },
    /// Nowhere, and which check says so.
    None(&'static str, Refusal),
}

impl Several {
    /// Where a request goes.
    pub(super) fn way(&self, frame: &Frame<'_>) -> Way {
        let method = frame.method().unwrap_or_default();
        let params = frame.params();
        let member = |name| params.and_then(|params: Value<'_>| params.get(name));
        match method {
            "tools/call" => self.to_tool(member("name")),
            "prompts/get" => self.to_named(member("name")),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                self.to_resource(member("uri"))
            }
            "completion/complete" => {
                let reference = member("ref");
                let about = |name| reference.and_then(|reference| reference.get(name));
                match about("uri") {
                    Some(uri) => self.to_resource(Some(uri)),
                    None => self.to_named(about("name")),
                }
            }
            "initialize" => self.to_all(Kind::Handshake(version_of(frame, params)), |_| false),
            "server/discover" => self.to_all(Kind::Discovery(version_of(frame, params)), |_| false),
            "logging/setLevel" => self.to_all(Kind::Told, |known| known.cannot("logging")),
            "subscriptions/listen" => self.to_subscriptions(params),
            "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel"
                if self.is_allowed(method) =>
            {
                self.to_task(member("taskId"))
            }
            "tasks/list" if self.is_allowed(method) => {
                let kind = Kind::List(methods::TASKS, method.into());
                match member("cursor") {
                    None => self.to_all(kind, |known| known.cannot("tasks")),
                    Some(cursor) => self.to_next_page(kind, method, cursor),
                }
            }
            "ping" => {
                let up = self.sessions.iter().position(|session| !session.is_down());
                Way::One(up.unwrap_or(0), Edits::NONE)
            }
            _ => match methods::route(method) {
                Route::List(list) => {
                    let kind = Kind::List(list, method.into());
                    let capability = match list.member {
                        "resourceTemplates" => "resources",
                        member => member,
                    };
                    match member("cursor") {
                        None => self.to_all(kind, |known| known.cannot(capability)),
                        Some(cursor) => self.to_next_page(kind, method, cursor),
                    }
                }
                _ if self.is_allowed(method) => none("server", Code::Blocked, "unknown_server"),
                // The first one's session says what the policy says of it.
                _ => Way::One(0, Edits::NONE),
            },
        }
    }

    /// Whether the policy lets a method pass to whichever server: here nothing says to which.
    fn is_allowed(&self, method: &str) -> bool {
        let groups = self.caller.group_names();
        let rules = self.door.rules();
        rules
            .policy
            .names_method_for(method, &self.caller.identity, &groups)
    }

    fn to_tool(&self, name: Option<Value<'_>>) -> Way {
        let name = name.and_then(|name| name.as_str());
        let Some(name) = name else {
            return Way::One(0, Edits::NONE);
        };
        if self.door.own_tools().is_some() && OwnTools::has(&name) {
            return Way::One(0, Edits::NONE);
        }
        match self.door.resolve(&name) {
            Some((server, _)) => Way::One(server, Edits::NONE),
            None => none("server", Code::Blocked, "unknown_server"),
        }
    }

    /// To the server whose name stands in front; it gets the rest.
    fn to_named(&self, value: Option<Value<'_>>) -> Way {
        let Some((value, name)) = value.and_then(|value| Some((value, value.as_str()?))) else {
            return none("frame", Code::Malformed(-32_602), "missing_name");
        };
        let Some((server, inner)) = self.door.resolve(&name) else {
            return none("server", Code::Blocked, "unknown_server");
        };
        let mut edits = Edits::NONE;
        let span = value.span();
        match value.is_escaped() {
            true => edits.replace(span, serde_json::Value::from(inner).to_string()),
            false => {
                // Behind the quote.
                let start = span.start + 1;
                let end = start + self.name(server).len() + BETWEEN_NAMES.len();
                edits.replace(start..end, "");
            }
        }
        Way::One(server, edits)
    }

    /// To the one server that lists this address.
    fn to_resource(&self, uri: Option<Value<'_>>) -> Way {
        let Some(uri) = uri.and_then(|uri| uri.as_str()) else {
            return none("frame", Code::Malformed(-32_602), "missing_uri");
        };
        match self.owner(&uri) {
            Ok(server) => Way::One(server, Edits::NONE),
            Err(reason) => none("server", Code::Blocked, reason),
        }
    }

    /// To the one server that answered with this task.
    fn to_task(&self, id: Option<Value<'_>>) -> Way {
        let Some(id) = id.and_then(|id| id.as_str()) else {
            return none("frame", Code::Malformed(-32_602), "missing_task");
        };
        let owner = self.state().tasks.owner(&id);
        match owner {
            Ok(server) => Way::One(server, Edits::NONE),
            Err(reason) => none("server", Code::Blocked, reason),
        }
    }

    fn owner(&self, uri: &str) -> Result<usize, &'static str> {
        let servers = self.door.servers.iter().enumerate();
        let mut owners = servers.filter(|(_, server)| server.places.has(uri));
        match (owners.next(), owners.next()) {
            (Some((server, _)), None) => Ok(server),
            // Nobody listed it yet, or nobody will: the client lists what there is first.
            (None, _) => Err("unknown_resource"),
            (Some(_), Some(_)) => Err("ambiguous_resource"),
        }
    }

    /// To all, save those that said that they cannot do it and those that are not there.
    fn to_all(&self, kind: Kind, cannot: impl Fn(&Known) -> bool) -> Way {
        let state = self.state();
        let is_handshake = matches!(kind, Kind::Handshake(_));
        let (mut asked, mut absent) = (Vec::new(), Vec::new());
        for (server, known) in state.known.iter().enumerate() {
            if !is_handshake && known.is_absent() {
                absent.push(server);
            } else if is_handshake || !cannot(known) {
                asked.push((server, Edits::NONE));
            }
        }
        Way::All {
            kind,
            asked,
            absent,
        }
    }

    /// To whoever has more, each with its own cursor.
    fn to_next_page(&self, kind: Kind, method: &str, cursor: Value<'_>) -> Way {
        let cursors = cursor
            .as_str()
            .and_then(|text| self.seal.open(&self.sealed_for(method), &text));
        let Some(cursors) = cursors else {
            return none("cursor", Code::Malformed(-32_602), "unknown_cursor");
        };
        let asked = self.door.servers.iter().enumerate();
        let asked = asked.filter_map(|(server, known)| {
            let inner = cursors.get(&*known.name)?.as_str();
            let mut edits = Edits::NONE;
            edits.replace(cursor.span(), serde_json::Value::from(inner).to_string());
            Some((server, edits))
        });
        Way::All {
            kind,
            asked: asked.collect(),
            absent: Vec::new(),
        }
    }

    /// What a cursor is sealed for: this list, and whoever reads it.
    fn sealed_for<'m>(&'m self, method: &'m str) -> [&'m str; 2] {
        [method, &self.caller.identity]
    }

    /// The cursor that goes on with each server's part.
    pub(super) fn sealed(&self, method: &str, cursors: &[(usize, String)]) -> String {
        let cursors = cursors.iter();
        let named = cursors.map(|(server, cursor)| (self.name(*server).to_owned(), cursor.clone()));
        self.seal
            .close(&self.sealed_for(method), &named.collect::<Cursors>())
    }

    /// To all; each hears only of resources that are its own.
    fn to_subscriptions(&self, params: Option<Value<'_>>) -> Way {
        let wanted = params.and_then(|params| params.get("notifications"));
        let wanted = wanted.and_then(|wanted| wanted.get("resourceSubscriptions"));
        let Way::All {
            kind,
            mut asked,
            absent,
        } = self.to_all(Kind::News, |_| false)
        else {
            return none("server", Code::Blocked, "unknown_server");
        };
        if let Some(wanted) = wanted {
            let mut of: Vec<Vec<&str>> = vec![Vec::new(); self.sessions.len()];
            for element in wanted.elements() {
                let uri = element.as_str().unwrap_or_default();
                match self.owner(&uri) {
                    Ok(server) => of[server].push(element.raw()),
                    Err(reason) => return none("server", Code::Blocked, reason),
                }
            }
            for (server, edits) in &mut asked {
                edits.replace(wanted.span(), format!("[{}]", of[*server].join(",")));
            }
        }
        Way::All {
            kind,
            asked,
            absent,
        }
    }
}

fn none(rule: &'static str, code: Code, reason: &str) -> Way {
    Way::None(rule, Refusal::new(code, reason))
}

/// The revision that a message asks for, or is of.
fn version_of(frame: &Frame<'_>, params: Option<Value<'_>>) -> Option<Box<str>> {
    let params = params?;
    let version = match frame.method() {
        Some("initialize") => params.get("protocolVersion"),
        _ => params
            .get("_meta")?
            .get("io.modelcontextprotocol/protocolVersion"),
    };
    Some(version?.as_str()?.into())
}
