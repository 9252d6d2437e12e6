//! What the headers of a message repeat from its body, and whether they agree.
//!
//! A hop that trusted the header and a server that trusts the body would see two calls. So every
//! mirrored header that is there must be there once and say what the body says, and the revision
//! that asks for them must have them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_wire::{Frame, Value};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::judge::header_names::Repeated;
use crate::judge::refusal::{Code, Refusal};

/// The revisions served, oldest first.
pub const VERSIONS: &[&str] = &["2025-06-18", "2025-11-25", "2026-07-28"];
/// The revision without sessions, whose messages carry everything themselves.
pub const STATELESS: &str = "2026-07-28";

/// Where the body of a stateless message names its revision.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Checks a message's mirrored headers against it.
///
/// # Errors
/// The refusal to answer with.
pub fn check(headers: &HeaderMap, frame: &Frame<'_>) -> Result<(), Refusal> {
    let version = only(headers, VERSION)?;
    let meta = frame.params().and_then(|params| params.get("_meta"));
    let in_body = meta
        .and_then(|meta| meta.get(META_VERSION))
        .map(|version| version.as_str().unwrap_or_default());
    if let Some(in_body) = &in_body
        && version != Some(in_body.as_bytes())
    {
        return Err(mismatch("version_mismatch"));
    }
    if let Some(version) = version
        && !VERSIONS.iter().any(|served| served.as_bytes() == version)
    {
        let refusal = Refusal::new(Code::UnsupportedVersion, "unsupported_version");
        return Err(refusal.with_supported(VERSIONS, version));
    }
    let stateless = version == Some(STATELESS.as_bytes());
    let method = only(headers, METHOD)?;
    match (method, frame.method()) {
        (None, _) if stateless => return Err(mismatch("missing_mcp_method")),
        (Some(header), Some(method)) if header != method.as_bytes() => {
            return Err(mismatch("mcp_method_mismatch"));
        }
        _ => {}
    }
    let name = only(headers, NAME)?;
    let mirrored = frame.method().and_then(mirrored_member);
    let in_body = mirrored
        .and_then(|member| frame.params()?.get(member))
        .and_then(|value| value.as_str());
    match (name, in_body) {
        (None, _) if stateless && mirrored.is_some() => Err(mismatch("missing_mcp_name")),
        (Some(header), in_body) => {
            let decoded = decode(header).ok_or_else(|| mismatch("mcp_name_encoding"))?;
            if in_body.is_some_and(|name| *name == *decoded) {
                Ok(())
            } else {
                Err(mismatch("mcp_name_mismatch"))
            }
        }
        _ => Ok(()),
    }
}

/// Checks the headers that repeat a call's arguments, as its tool's definition asks for them: one that is in
/// the body must be in its header, and the reverse.
///
/// # Errors
/// The refusal to answer with.
pub fn check_arguments(
    headers: &HeaderMap,
    frame: &Frame<'_>,
    repeated: &[Repeated],
) -> Result<(), Refusal> {
    for one in repeated {
        let header = only(headers, &argument_header(&one.header))?;
        match (header, argument(frame, one)) {
            (None, None) => {}
            (None, Some(_)) => return Err(mismatch("missing_mcp_param")),
            (Some(header), in_body) => {
                let decoded = decode(header).ok_or_else(|| mismatch("mcp_param_encoding"))?;
                if in_body.is_none_or(|value| value != decoded) {
                    return Err(mismatch("mcp_param_mismatch"));
                }
            }
        }
    }
    Ok(())
}

/// The headers that repeat a call's arguments, for a server that is asked.
pub fn argument_headers(
    frame: &Frame<'_>,
    repeated: &[Repeated],
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    repeated.iter().filter_map(|one| {
        let name = HeaderName::try_from(argument_header(&one.header)).ok()?;
        Some((name, header_value(&argument(frame, one)?)?))
    })
}

fn argument_header(name: &str) -> String {
    format!("mcp-param-{name}")
}

/// The argument as its header says it: none where it is absent or null.
fn argument(frame: &Frame<'_>, one: &Repeated) -> Option<String> {
    let mut at: Value<'_> = frame.params()?.get("arguments")?;
    for member in &one.path {
        at = at.get(member)?;
    }
    match at.as_str() {
        Some(text) => Some(text.into_owned()),
        None if at.is_null() => None,
        None => Some(at.raw().to_owned()),
    }
}

/// A text as the value of a header: plain where it can be, else between `=?base64?` and `?=`.
pub fn header_value(text: &str) -> Option<HeaderValue> {
    let plain = |byte: u8| (0x20..0x7f).contains(&byte);
    let is_plain = text.bytes().all(plain) && text.trim() == text && !text.starts_with("=?");
    if is_plain {
        return HeaderValue::from_str(text).ok();
    }
    let encoded = STANDARD.encode(text);
    HeaderValue::from_str(&format!("=?base64?{encoded}?=")).ok()
}

/// The member of a method's parameters that a header repeats.
pub fn mirrored_member(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

fn mismatch(reason: &str) -> Refusal {
    Refusal::new(Code::HeaderMismatch, reason)
}

/// The one value of a header; two are refused, since two readers would pick differently.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h [u8]>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(mismatch("repeated_header"));
    }
    Ok(first.map(|value| value.as_bytes()))
}

/// The text of a header value: plain, or between `=?base64?` and `?=`. What has only the beginning is plain.
fn decode(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    let encoded = text.strip_prefix("=?base64?");
    let Some(encoded) = encoded.and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(text.to_owned());
    };
    let bytes = STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(headers: &[(&str, &str)], body: &str) -> String {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let frame = Frame::read(body.as_bytes()).unwrap();
        check(&map, &frame).map_or_else(|refusal| refusal.reason().to_owned(), |()| "ok".into())
    }

    const CALL: &str =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_balance"}}"#;

    #[test]
    fn headers_that_agree_pass() {
        let stateless = ("mcp-protocol-version", "2026-07-28");
        let method = ("mcp-method", "tools/call");
        assert_eq!(
            reason(&[stateless, method, ("mcp-name", "get_balance")], CALL),
            "ok"
        );
        let encoded = ("mcp-name", "=?base64?Z2V0X2JhbGFuY2U=?=");
        assert_eq!(reason(&[stateless, method, encoded], CALL), "ok");
        assert_eq!(
            reason(&[("mcp-protocol-version", "2025-11-25")], CALL),
            "ok"
        );
        assert_eq!(reason(&[], CALL), "ok");
    }

    #[test]
    fn arguments_and_their_headers_agree() {
        let repeated = [
            Repeated {
                header: "region".into(),
                path: ["region".into()].into(),
            },
            Repeated {
                header: "count".into(),
                path: ["page".into(), "count".into()].into(),
            },
        ];
        let reason = |arguments: &str, headers: &[(&str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
                map.append(name, HeaderValue::from_str(value).unwrap());
            }
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
            );
            let frame = Frame::read(body.as_bytes()).unwrap();
            let made: HeaderMap = argument_headers(&frame, &repeated).collect();
            check_arguments(&made, &frame, &repeated).expect("its own headers agree");
            check_arguments(&map, &frame, &repeated)
                .map_or_else(|refusal| refusal.reason().to_owned(), |()| "ok".into())
        };
        let both = r#"{"region":"é x","page":{"count":12}}"#;
        let region = ("mcp-param-region", "=?base64?w6kgeA==?=");
        let count = ("mcp-param-count", "12");
        for (arguments, headers, expected) in [
            ("{}", vec![], "ok"),
            (r#"{"region":null}"#, vec![], "ok"),
            (both, vec![region, count], "ok"),
            (both, vec![region], "missing_mcp_param"),
            (both, vec![region, count, count], "repeated_header"),
            (
                both,
                vec![region, ("mcp-param-count", "13")],
                "mcp_param_mismatch",
            ),
            (
                both,
                vec![("mcp-param-region", "=?base64?w6kgeA?="), count],
                "mcp_param_encoding",
            ),
            (
                both,
                vec![("mcp-param-region", "=?base64?w6k!geA==?="), count],
                "mcp_param_encoding",
            ),
            ("{}", vec![count], "mcp_param_mismatch"),
            (r#"{"page":7}"#, vec![count], "mcp_param_mismatch"),
        ] {
            assert_eq!(
                reason(arguments, &headers),
                expected,
                "{arguments} {headers:?}"
            );
        }
    }

    #[test]
    fn headers_that_say_something_else_are_refused() {
        let stateless = ("mcp-protocol-version", "2026-07-28");
        let method = ("mcp-method", "tools/call");
        let name = ("mcp-name", "get_balance");
        for (headers, expected) in [
            (
                vec![stateless, method, ("mcp-name", "request_transfer")],
                "mcp_name_mismatch",
            ),
            (vec![stateless, method], "missing_mcp_name"),
            (vec![stateless, name], "missing_mcp_method"),
            (
                vec![stateless, name, ("mcp-method", "ping")],
                "mcp_method_mismatch",
            ),
            (vec![stateless, method, name, name], "repeated_header"),
            (vec![stateless, method, method, name], "repeated_header"),
            (
                vec![
                    stateless,
                    ("mcp-protocol-version", "1999-01-01"),
                    method,
                    name,
                ],
                "repeated_header",
            ),
            (
                vec![("mcp-protocol-version", "1999-01-01")],
                "unsupported_version",
            ),
            (
                vec![("mcp-protocol-version", "2026-07-28 ")],
                "unsupported_version",
            ),
            (
                vec![stateless, method, ("mcp-name", "=?base64?!!?=")],
                "mcp_name_encoding",
            ),
            (
                vec![stateless, method, ("mcp-name", "=?base64?Z2V0")],
                "mcp_name_mismatch",
            ),
            (vec![("mcp-name", "secret")], "mcp_name_mismatch"),
        ] {
            assert_eq!(reason(&headers, CALL), expected, "{headers:?}");
        }
    }

    #[test]
    fn the_revision_in_the_body_agrees_with_the_header() {
        let body = CALL.replace(
            r#""name""#,
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name""#,
        );
        assert_eq!(
            reason(&[("mcp-protocol-version", "2025-11-25")], &body),
            "version_mismatch"
        );
        assert_eq!(reason(&[], &body), "version_mismatch");
        let unknown = body.replace("2026-07-28", "1999-01-01");
        assert_eq!(reason(&[], &unknown), "version_mismatch");
        assert_eq!(
            reason(&[("mcp-protocol-version", "2026-07-28")], &unknown),
            "version_mismatch"
        );
        assert_eq!(
            reason(&[("mcp-protocol-version", "1999-01-01")], &unknown),
            "unsupported_version"
        );
    }

    #[test]
    fn a_name_header_without_a_name_in_the_body_is_refused() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
        assert_eq!(
            reason(&[("mcp-name", "get_balance")], body),
            "mcp_name_mismatch"
        );
    }
}
