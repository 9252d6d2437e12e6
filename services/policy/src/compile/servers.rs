//! `servers` and `approval`.

use std::collections::{BTreeMap, HashMap};

use super::check_plain;
use crate::file::{ApprovalFile, PolicyFile, ServerFile};
use crate::name::check_name;
use crate::places::Places;
use crate::read::{PolicyError, is_hidden, meaning};
use crate::server::{Approval, Connection, Server, Webhook};
use crate::template::{Environment, Filled, Template};

/// How long a call is held where the file does not say, in seconds.
pub(super) const TTL_DEFAULT: u32 = 900;
/// Longest name of a server for people, in bytes.
const LABEL_BYTES_MAX: usize = 200;
/// How long a call may be held at most, in seconds.
pub(super) const TTL_MAX: u32 = 86_400;

/// Names that could be taken for one another, or for part of a tool's name.
pub(super) fn check_names(file: &PolicyFile, places: &Places) -> Result<(), PolicyError> {
    for name in file.servers.keys() {
        let path = format!("servers.{name}");
        check_plain(&path, name)?;
        let same = |other: &&String| *other != name && other.eq_ignore_ascii_case(name);
        if let Some(other) = file.servers.keys().find(same) {
            // Both lines, whichever of the two a reader looks at first.
            let (line, _) = places.of(&format!("servers.{other}"));
            let message = format!("differs from `servers.{other}` in line {line} only in case");
            return Err(meaning(path, message));
        }
        if file.servers.len() > 1 {
            let plain = check_name(name, file.allow_dots)
                && !name.contains("__")
                && !name.starts_with('_')
                && !name.ends_with('_');
            if !plain {
                let message = "with several servers a name stands in front of its tools' names: \
                               no `__`, no `_` at its ends, no dot unless `allow_dots`";
                return Err(meaning(path, message));
            }
        }
    }
    Ok(())
}

pub(super) fn compile(
    files: BTreeMap<String, ServerFile>,
    environment: Option<Environment<'_>>,
) -> Result<HashMap<Box<str>, Server>, PolicyError> {
    files
        .into_iter()
        .map(|(name, file)| {
            let server = server(&format!("servers.{name}"), file, environment)?;
            Ok((name.into_boxed_str(), server))
        })
        .collect()
}

fn server(
    path: &str,
    file: ServerFile,
    environment: Option<Environment<'_>>,
) -> Result<Server, PolicyError> {
    if file.command.is_some() && file.url.is_some() {
        return Err(meaning(path, "a server has a `command` or a `url`"));
    }
    if file.command.as_ref().is_some_and(Vec::is_empty) {
        let message = "the program and its arguments are wanted: [program, argument]";
        return Err(meaning(format!("{path}.command"), message));
    }
    if file.url.is_some() && !file.env.is_empty() {
        return Err(meaning(
            format!("{path}.env"),
            "an address has no environment: use `headers`",
        ));
    }
    if file.command.is_some() && !file.headers.is_empty() {
        return Err(meaning(
            format!("{path}.headers"),
            "a program takes no headers: use `env`",
        ));
    }
    if let Some(label) = &file.label {
        let is_plain = |c: char| !is_hidden(c) && !matches!(c, '\n' | '\r');
        if label.trim().is_empty() || label.len() > LABEL_BYTES_MAX || !label.chars().all(is_plain)
        {
            let message = format!(
                "a name for people is wanted: one line of at most {LABEL_BYTES_MAX} bytes, all of it seen"
            );
            return Err(meaning(format!("{path}.label"), message));
        }
    }
    let fill = |path: String, text: &str| -> Result<Option<Filled>, PolicyError> {
        let template = Template::read(&path, text)?;
        environment
            .map(|environment| template.fill(environment))
            .transpose()
    };
    let has_connection = file.command.is_some() || file.url.is_some();
    let mut connection = None;
    if let Some(words) = &file.command {
        let words = words
            .iter()
            .enumerate()
            .map(|(at, word)| fill(format!("{path}.command.{at}"), word))
            .collect::<Result<Option<Vec<_>>, _>>()?;
        if words
            .as_ref()
            .is_some_and(|words| words[0].expose().is_empty())
        {
            return Err(meaning(format!("{path}.command"), "the program is empty"));
        }
        connection = words.map(|command| Connection::Command { command });
    }
    if let Some(url) = &file.url {
        check_server_url(&format!("{path}.url"), url)?;
        connection = fill(format!("{path}.url"), url)?.map(|url| Connection::Url { url });
        if let Some(Connection::Url { url }) = &connection {
            check_server_url(&format!("{path}.url"), url.expose())?;
        }
    }
    let mut headers = Vec::new();
    for (name, text) in &file.headers {
        let path = format!("{path}.headers.{name}");
        check_header(&path, name)?;
        let same = |other: &&String| *other != name && other.eq_ignore_ascii_case(name);
        if let Some(other) = file.headers.keys().find(same) {
            return Err(meaning(path, format!("the same header as `{other}`")));
        }
        check_header_value(&path, text)?;
        let filled = fill(path.clone(), text)?;
        if let Some(filled) = &filled {
            check_header_value(&path, filled.expose())?;
        }
        headers.extend(filled.map(|text| (name.as_str().into(), text)));
    }
    let mut env = Vec::new();
    for (name, text) in &file.env {
        let path = format!("{path}.env.{name}");
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(meaning(path, "no name of a variable"));
        }
        env.extend(fill(path, text)?.map(|text| (name.as_str().into(), text)));
    }
    Ok(Server {
        label: file.label.map(String::into_boxed_str),
        request_tokens: file.request_tokens,
        has_connection,
        connection,
        headers,
        env,
    })
}

/// Schemes that reach an MCP server; a variable may stand for the whole address.
fn check_url(path: &str, url: &str) -> Result<(), PolicyError> {
    let reaches = ["http://", "https://", "${"]
        .iter()
        .any(|start| url.len() > start.len() && url.starts_with(start));
    if reaches && !url.contains(char::is_whitespace) {
        Ok(())
    } else {
        Err(meaning(path, "http://HOST:PORT/PATH or https:// is wanted"))
    }
}

/// The address of a server: what its reader would drop, or show to whoever reads a log, does not stand in it.
fn check_server_url(path: &str, url: &str) -> Result<(), PolicyError> {
    check_url(path, url)?;
    let behind_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = behind_scheme.split(['/', '?', '#']).next();
    if authority.is_some_and(|authority| authority.contains('@')) {
        let message = "a user or password in an address is shown wherever the address is: write it under `headers`";
        return Err(meaning(path, message));
    }
    if behind_scheme.contains(['#', '?']) {
        return Err(meaning(
            path,
            "an address of a server ends with its path: no `?` and no `#`",
        ));
    }
    Ok(())
}

/// A header is one line.
fn check_header_value(path: &str, value: &str) -> Result<(), PolicyError> {
    if value.chars().any(char::is_control) {
        return Err(meaning(
            path,
            "the value of a header is one line without control characters",
        ));
    }
    Ok(())
}

/// Headers that are the door's own business.
fn check_header(path: &str, name: &str) -> Result<(), PolicyError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) {
        return Err(meaning(path, "no name of a header"));
    }
    let lower = name.to_ascii_lowercase();
    let reserved = matches!(
        &*lower,
        "host" | "content-length" | "content-type" | "transfer-encoding" | "connection" | "accept"
    ) || lower.starts_with("mcp-")
        || lower.starts_with("countersign-");
    if reserved {
        return Err(meaning(path, "the door sets this header itself"));
    }
    Ok(())
}

pub(super) fn approval(
    file: &ApprovalFile,
    environment: Option<Environment<'_>>,
) -> Result<Approval, PolicyError> {
    let ttl_seconds = file.ttl_seconds.unwrap_or(TTL_DEFAULT);
    check_ttl("approval.ttl_seconds", ttl_seconds)?;
    let mut webhook = None;
    if let Some(file) = &file.webhook {
        let path = "approval.webhook.url";
        check_url(path, &file.url)?;
        let url = Template::read(path, &file.url)?;
        let path = "approval.webhook.secret";
        let secret = Template::read(path, &file.secret)?;
        if !secret.has_variables() {
            let message = "a secret does not stand in a policy: write ${NAME}";
            return Err(meaning(path, message));
        }
        if let Some(environment) = environment {
            let (url, secret) = (url.fill(environment)?, secret.fill(environment)?);
            check_url("approval.webhook.url", url.expose())?;
            if secret.expose().len() < 16 {
                return Err(meaning(path, "16 bytes at least are wanted"));
            }
            webhook = Some(Webhook { url, secret });
        }
    }
    Ok(Approval {
        ttl_seconds,
        webhook,
    })
}

pub(super) fn check_ttl(path: &str, ttl_seconds: u32) -> Result<(), PolicyError> {
    if (1..=TTL_MAX).contains(&ttl_seconds) {
        Ok(())
    } else {
        Err(meaning(path, format!("1 to {TTL_MAX} seconds are wanted")))
    }
}
