//! The server behind the door, over kept HTTP connections.

use std::time::Duration;

use bytes::Bytes;
use countersign_identity::REQUEST_HEADER;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, Uri, header};
use http_body_util::{BodyExt as _, Limited};

use super::lines::{Coming, ConnectError, LineError, Lines};
use super::tls::{TlsError, connector, is_server};
use crate::config::UpstreamConfig;

/// How long a connection may take.
const CONNECT_TIME_OUT: Duration = Duration::from_secs(2);
/// Longest answer that is read whole, in bytes.
pub const WHOLE_BYTES_MAX: usize = 8 << 20;
/// How long an answer that is read whole may take.
const WHOLE_TIME_OUT: Duration = Duration::from_secs(30);
/// A body up to here is written together with its head.
const TOGETHER_BYTES_MAX: usize = 16 * 1024;

/// Why the server behind the door cannot be asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The configuration names no server that can be reached over HTTP.
    #[error("read the address of a server: http://HOST:PORT/PATH or https:// is wanted")]
    Address,
    /// No connection can be opened.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The request could not be made.
    #[error("make a request")]
    Request(#[from] http::Error),
    /// The configuration sets a header that says how a request is framed.
    #[error("read the headers of a server: the door alone sets {0}")]
    Framing(HeaderName),
    /// There is no connection to be had.
    #[error("connect to the server behind the door")]
    Connect(#[source] ConnectError),
    /// The connection failed before anything of the request was written.
    #[error("ask the server behind the door")]
    NotSent(#[source] LineError),
    /// The connection failed.
    #[error("ask the server behind the door")]
    Connection(#[source] LineError),
    /// It took too long.
    #[error("ask the server behind the door: no answer in time")]
    TimeOut,
    /// The answer is longer than it may be, or was cut off.
    #[error("read an answer whole: {0}")]
    Answer(String),
}

impl UpstreamError {
    /// Whether the server certainly has not seen the message.
    pub fn was_not_sent(&self) -> bool {
        match self {
            Self::Address
            | Self::Tls(_)
            | Self::Request(_)
            | Self::Framing(_)
            | Self::Connect(_)
            | Self::NotSent(_) => true,
            Self::Connection(_) | Self::TimeOut | Self::Answer(_) => false,
        }
    }
}

/// The server behind the door.
pub struct Upstream {
    name: Box<str>,
    uri: Uri,
    /// What the policy adds to every request; the values may be secrets.
    headers: HeaderMap,
    lines: Lines,
    /// What `Host` says.
    host: HeaderValue,
}

impl Upstream {
    /// The server of a configuration. Nothing is connected yet.
    ///
    /// # Errors
    /// [`UpstreamError::Address`], or [`UpstreamError::Tls`] when an `https` address cannot be
    /// verified.
    pub fn new(config: &UpstreamConfig) -> Result<Self, UpstreamError> {
        let uri: Uri = config.url.parse().map_err(|_| UpstreamError::Address)?;
        if !is_server(&uri) {
            return Err(UpstreamError::Address);
        }
        let connector = connector(&uri, CONNECT_TIME_OUT)?;
        Ok(Self {
            name: config.name.as_str().into(),
            host: host(&uri).ok_or(UpstreamError::Address)?,
            lines: Lines::new(uri.clone(), connector),
            uri,
            headers: HeaderMap::new(),
        })
    }

    /// The same server, with headers that every request carries.
    ///
    /// # Errors
    /// [`UpstreamError::Request`] when one is no header, [`UpstreamError::Framing`] when one is the door's own.
    pub fn with_headers<'h>(
        mut self,
        headers: impl Iterator<Item = (&'h str, &'h str)>,
    ) -> Result<Self, UpstreamError> {
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(http::Error::from)?;
            if is_framing(&name) {
                return Err(UpstreamError::Framing(name));
            }
            let mut value = HeaderValue::from_str(value).map_err(http::Error::from)?;
            value.set_sensitive(true);
            self.headers.insert(name, value);
        }
        Ok(self)
    }

    /// The name the policy knows it under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of every request.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// Sends one message of a client's and returns once the head of the answer is there. Of its headers go
    /// along what the protocol needs.
    ///
    /// Dropping the future or the answer's body ends the request.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub async fn send(
        &self,
        client: &HeaderMap,
        token: Option<&str>,
        body: Bytes,
    ) -> Result<Response<Coming>, UpstreamError> {
        let forwarded = client.iter().filter(|(name, _)| is_forwarded(name));
        let head = self.head(&Method::POST, forwarded, token, &body)?;
        self.pass(head, body).await
    }

    /// Asks with these headers and whatever method.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub async fn ask(
        &self,
        method: Method,
        headers: HeaderMap,
        token: Option<&str>,
        body: Bytes,
    ) -> Result<Response<Coming>, UpstreamError> {
        let head = self.head(&method, headers.iter(), token, &body)?;
        self.pass(head, body).await
    }

    async fn pass(&self, head: Vec<u8>, body: Bytes) -> Result<Response<Coming>, UpstreamError> {
        let body = match body.len() <= TOGETHER_BYTES_MAX {
            true => &[],
            false => &body[..],
        };
        self.lines.send(&head, body).await
    }

    /// The bytes of a request up to its body, and a short body with them.
    fn head<'h>(
        &self,
        method: &Method,
        headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
        token: Option<&str>,
        body: &[u8],
    ) -> Result<Vec<u8>, UpstreamError> {
        let mut head = Vec::with_capacity(512 + body.len().min(TOGETHER_BYTES_MAX));
        head.extend_from_slice(method.as_str().as_bytes());
        head.push(b' ');
        head.extend_from_slice(self.uri.path().as_bytes());
        head.extend_from_slice(b" HTTP/1.1\r\n");
        let mut line = |name: &str, value: &[u8]| {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        };
        line("host", self.host.as_bytes());
        for (name, value) in headers {
            if !is_framing(name) && !self.headers.contains_key(name) {
                line(name.as_str(), value.as_bytes());
            }
        }
        for (name, value) in &self.headers {
            line(name.as_str(), value.as_bytes());
        }
        if let Some(token) = token {
            let token = HeaderValue::from_str(token).map_err(http::Error::from)?;
            line(REQUEST_HEADER, token.as_bytes());
        }
        if *method == Method::POST || !body.is_empty() {
            line("content-length", body.len().to_string().as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        if body.len() <= TOGETHER_BYTES_MAX {
            head.extend_from_slice(body);
        }
        Ok(head)
    }
}

/// Headers that say where a request goes and how it is framed.
fn is_framing(name: &HeaderName) -> bool {
    [
        header::HOST,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::CONNECTION,
        header::UPGRADE,
        header::EXPECT,
        header::TRAILER,
        header::TE,
    ]
    .contains(name)
}

/// Reads an answer whole.
///
/// # Errors
/// [`UpstreamError`] when it is too long, takes too long or is cut off.
pub async fn read_whole(mut body: Coming) -> Result<Bytes, UpstreamError> {
    if let Some(whole) = body.take_whole(WHOLE_BYTES_MAX) {
        return Ok(whole);
    }
    let read = Limited::new(body, WHOLE_BYTES_MAX).collect();
    match tokio::time::timeout(WHOLE_TIME_OUT, read).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) => Err(UpstreamError::Answer(error.to_string())),
        Err(_) => Err(UpstreamError::TimeOut),
    }
}

/// What `Host` says of a server: its port only where it is not the usual one.
fn host(uri: &Uri) -> Option<HeaderValue> {
    let name = uri.host()?;
    let usual = match uri.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    let host = match uri.port_u16().filter(|port| *port != usual) {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    HeaderValue::try_from(host).ok()
}

/// The client's headers that reach the server: what the protocol needs, and nothing that says who
/// somebody is or what else they hold.
pub fn forwarded_headers(client: &HeaderMap) -> HeaderMap {
    let mut forwarded = HeaderMap::with_capacity(client.len());
    for (name, value) in client {
        if is_forwarded(name) {
            forwarded.append(name.clone(), value.clone());
        }
    }
    forwarded
}

fn is_forwarded(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(
        name,
        "accept" | "content-type" | "last-event-id" | "traceparent" | "tracestate"
    ) || name.starts_with("mcp-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_protocol_needs_is_forwarded() {
        let mut client = HeaderMap::new();
        for name in [
            "accept",
            "content-type",
            "mcp-session-id",
            "mcp-param-payee",
            "last-event-id",
            "traceparent",
            "authorization",
            "cookie",
            "countersign-session",
            "countersign-request",
            "x-forwarded-for",
            "forwarded",
            "host",
            "origin",
            "content-length",
            "connection",
            "x-mcp-name",
        ] {
            client.insert(HeaderName::from_static(name), HeaderValue::from_static("v"));
        }
        let forwarded = forwarded_headers(&client);
        let mut names: Vec<_> = forwarded.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "accept",
                "content-type",
                "last-event-id",
                "mcp-param-payee",
                "mcp-session-id",
                "traceparent",
            ]
        );
    }

    #[test]
    fn only_addresses_of_a_host_without_a_query_are_servers() {
        let server = |url: &str| {
            Upstream::new(&UpstreamConfig {
                name: "bank".into(),
                url: url.into(),
            })
        };
        assert!(server("http://127.0.0.1:8483/mcp").is_ok());
        for url in [
            "",
            "127.0.0.1:8483",
            "https:///mcp",
            "https://a/mcp?x=1",
            "file:///mcp",
            "http:///mcp",
            "http://a/mcp?x=1",
        ] {
            assert!(server(url).is_err(), "{url}");
        }
    }
}
