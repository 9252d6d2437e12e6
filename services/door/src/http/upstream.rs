//! The server behind the door, over pooled HTTP connections.

use std::time::Duration;

use bytes::Bytes;
use countersign_identity::REQUEST_HEADER;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};

use super::lines::{Coming, ConnectError, Lines};
use super::tls::{TlsError, connector, is_server};
use crate::config::UpstreamConfig;

/// How long a connection may take.
const CONNECT_TIME_OUT: Duration = Duration::from_secs(2);
/// How long the head of an answer may take.
const HEAD_TIME_OUT: Duration = Duration::from_secs(60);
/// Longest answer that is read whole, in bytes.
pub const WHOLE_BYTES_MAX: usize = 8 << 20;
/// How long an answer that is read whole may take.
const WHOLE_TIME_OUT: Duration = Duration::from_secs(30);

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
    /// There is no connection to be had.
    #[error("connect to the server behind the door")]
    Connect(#[source] ConnectError),
    /// The connection failed before anything of the request was written.
    #[error("ask the server behind the door")]
    NotSent(#[source] hyper::Error),
    /// The connection failed.
    #[error("ask the server behind the door")]
    Connection(#[source] hyper::Error),
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
    headers: Vec<(HeaderName, HeaderValue)>,
    lines: Lines,
    /// What the request line names, and what `Host` does.
    target: Uri,
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
        let target = Uri::try_from(uri.path());
        Ok(Self {
            name: config.name.as_str().into(),
            target: target.map_err(|_| UpstreamError::Address)?,
            host: host(&uri).ok_or(UpstreamError::Address)?,
            lines: Lines::new(uri.clone(), connector),
            uri,
            headers: Vec::new(),
        })
    }

    /// The same server, with headers that every request carries.
    ///
    /// # Errors
    /// [`UpstreamError::Request`] when one is no header.
    pub fn with_headers<'h>(
        mut self,
        headers: impl Iterator<Item = (&'h str, &'h str)>,
    ) -> Result<Self, UpstreamError> {
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(http::Error::from)?;
            let mut value = HeaderValue::from_str(value).map_err(http::Error::from)?;
            value.set_sensitive(true);
            self.headers.push((name, value));
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

    /// Sends one message and returns once the head of the answer is there.
    ///
    /// Dropping the future or the answer's body ends the request.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub async fn send(
        &self,
        headers: HeaderMap,
        token: Option<&str>,
        body: Bytes,
    ) -> Result<Response<Coming>, UpstreamError> {
        self.ask(Method::POST, headers, token, body).await
    }

    /// As [`Upstream::send`], with another method than POST.
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
        let mut request = Request::builder()
            .method(method)
            .uri(self.target.clone())
            .body(Full::new(body))?;
        *request.headers_mut() = headers;
        request
            .headers_mut()
            .insert(header::HOST, self.host.clone());
        for (name, value) in &self.headers {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        if let Some(token) = token {
            let mut token = HeaderValue::from_str(token).map_err(http::Error::from)?;
            token.set_sensitive(true);
            request
                .headers_mut()
                .insert(HeaderName::from_static(REQUEST_HEADER), token);
        }
        match tokio::time::timeout(HEAD_TIME_OUT, self.lines.send(request)).await {
            Ok(answered) => answered,
            Err(_) => Err(UpstreamError::TimeOut),
        }
    }
}

/// Reads an answer whole.
///
/// # Errors
/// [`UpstreamError`] when it is too long, takes too long or is cut off.
pub async fn read_whole(body: Coming) -> Result<Bytes, UpstreamError> {
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
        let passes = matches!(
            name.as_str(),
            "accept" | "content-type" | "last-event-id" | "traceparent" | "tracestate"
        ) || name.as_str().starts_with("mcp-");
        if passes {
            forwarded.append(name.clone(), value.clone());
        }
    }
    forwarded
}

/// The server's headers that reach the client.
pub fn returned_headers(server: &HeaderMap) -> HeaderMap {
    let mut returned = HeaderMap::with_capacity(server.len());
    for (name, value) in server {
        let passes = *name == header::CONTENT_TYPE
            || *name == header::CACHE_CONTROL
            || *name == header::RETRY_AFTER
            || *name == header::ALLOW
            || name.as_str() == "x-accel-buffering"
            || name.as_str().starts_with("mcp-");
        if passes {
            returned.append(name.clone(), value.clone());
        }
    }
    returned
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
