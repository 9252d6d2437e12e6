//! A server that is asked over HTTP.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::answers::{Heard, Pages, SESSION_VERSION, STATELESS_VERSION, hear, page, question};
use super::{PAGES_MAX, handshake};
use crate::http::tls::{Connector, connector, is_server};

/// How long a connection may take.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long one answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Longest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 8 << 20;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// What every request of the revision without sessions carries.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"countersign-door","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

struct Asked {
    uri: Uri,
    headers: HeaderMap,
    client: Client<Connector, Full<Bytes>>,
}

/// Asks a server for its tools: with a handshake, and without one where it wants none.
pub fn tools(url: &str, headers: &[(String, String)]) -> anyhow::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut server = Asked::new(url, headers)?;
        match server.in_session().await {
            Ok(tools) => Ok(tools),
            Err(first) => {
                let stateless = server.stateless().await;
                stateless.map_err(|_| first.context(format!("ask {url}")))
            }
        }
    })
}

impl Asked {
    fn new(url: &str, given: &[(String, String)]) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().context("read the address of a server")?;
        ensure!(
            is_server(&uri),
            "http://HOST:PORT/PATH or https:// is wanted, without a query"
        );
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            let name: HeaderName = name.parse().context("a header of the policy")?;
            let mut value = HeaderValue::from_str(value).context("a header of the policy")?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        let connector = connector(&uri, CONNECT_TIME)?;
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self {
            uri,
            headers,
            client,
        })
    }

    async fn in_session(&mut self) -> anyhow::Result<Vec<u8>> {
        let plain = self.headers.clone();
        let body = question(1, "initialize", &handshake());
        let (head, body) = self.send(Method::POST, body).await?;
        answer(head.status, &body, 1, "initialize")?;
        if let Some(session) = head.headers.get(SESSION) {
            self.headers.insert(SESSION, session.clone());
        }
        let version = HeaderValue::from_static(SESSION_VERSION);
        self.headers.insert(VERSION, version);
        let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.send(Method::POST, told.to_owned()).await?;
        let tools = self.pages(None).await;
        if self.headers.contains_key(SESSION) {
            // It would be kept for nobody. Whether it can be ended is the server's affair.
            let _ = self.send(Method::DELETE, String::new()).await;
        }
        self.headers = plain;
        tools
    }

    async fn stateless(&mut self) -> anyhow::Result<Vec<u8>> {
        let version = HeaderValue::from_static(STATELESS_VERSION);
        self.headers.insert(VERSION, version);
        let method = HeaderValue::from_static("tools/list");
        self.headers.insert(METHOD, method);
        self.pages(Some(META)).await
    }

    async fn pages(&self, meta: Option<&str>) -> anyhow::Result<Vec<u8>> {
        let mut pages = Pages::default();
        let mut cursor = None;
        for number in 0..PAGES_MAX {
            let id = 2 + number as u32;
            let body = question(id, "tools/list", &page(cursor.as_deref(), meta));
            let (head, body) = self.send(Method::POST, body).await?;
            let result = answer(head.status, &body, id, "tools/list")?;
            cursor = pages.take(&result)?;
            if cursor.is_none() {
                return Ok(pages.whole());
            }
        }
        bail!("the server's list of tools does not end");
    }

    async fn send(
        &self,
        method: Method,
        body: String,
    ) -> anyhow::Result<(http::response::Parts, Bytes)> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.uri.clone())
            .body(Full::new(Bytes::from(body)))?;
        *request.headers_mut() = self.headers.clone();
        let asked = async {
            let (head, body) = self.client.request(request).await?.into_parts();
            let whole = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
            let whole = whole.map_err(|error| anyhow::anyhow!("read an answer: {error}"))?;
            anyhow::Ok((head, whole.to_bytes()))
        };
        tokio::time::timeout(ANSWER_TIME, asked)
            .await
            .context("the server did not answer in time")?
    }
}

/// The result in an answer, which may be a stream of events.
fn answer(status: StatusCode, body: &[u8], id: u32, method: &str) -> anyhow::Result<String> {
    let text = String::from_utf8_lossy(body);
    let messages: Vec<String> = match text.trim_start().starts_with('{') {
        true => vec![text.trim().to_owned()],
        false => events(&text),
    };
    for message in messages.iter().filter(|message| !message.is_empty()) {
        match hear(message.as_bytes(), id) {
            Ok(Heard::Result(result)) => return Ok(result),
            Ok(Heard::Refused(error)) => bail!("the server refuses {method}: {error}"),
            Ok(Heard::Question(_) | Heard::Other) | Err(_) => {}
        }
    }
    bail!("the server did not answer {method} (HTTP {status})")
}

/// The data of server-sent events.
fn events(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let data = |event: &str| {
        let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
        let lines: Vec<_> = lines
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        lines.join("\n")
    };
    text.split("\n\n").map(data).collect()
}
