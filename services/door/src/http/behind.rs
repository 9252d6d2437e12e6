//! A server behind the door that is reached over HTTP, for a client that is not: the door speaks for
//! its client, in a session of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use countersign_wire::{Frame, Kind};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::events::Splitter;
use super::gate::is_event_stream;
use super::lines::Coming;
use super::mirrored::{self, header_value};
use super::sessions::{SESSION, VERSION};
use super::upstream::{Upstream, read_whole};
use crate::judge::asked::Key;
use crate::judge::header_names::Repeated;
use crate::judge::reply;
use crate::session::{Answered, Back, Session};

/// Where a message of the revision without sessions names its revision.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The way to a server over HTTP.
pub struct Remote {
    upstream: Arc<Upstream>,
    messages: UnboundedSender<Vec<u8>>,
    /// What the server said of its session: sent with everything that follows.
    headers: Mutex<HeaderMap>,
    /// The answer to a handshake is on its way: it names the revision.
    awaits_version: AtomicBool,
    session: OnceLock<Weak<Session>>,
}

impl Remote {
    /// Begins to pass messages on.
    pub fn start(upstream: Arc<Upstream>, runtime: &Handle) -> Arc<Self> {
        let (messages, queue) = unbounded_channel();
        let remote = Arc::new(Self {
            upstream,
            messages,
            headers: Mutex::default(),
            awaits_version: AtomicBool::new(false),
            session: OnceLock::new(),
        });
        runtime.spawn(Arc::clone(&remote).pass(queue));
        remote
    }

    /// Says whose answers they are.
    pub fn serve(&self, session: &Arc<Session>) {
        let _ = self.session.set(Arc::downgrade(session));
    }

    /// Passes the messages on. What comes before others stays before them only where it must: a
    /// handshake is waited for, a call is not.
    async fn pass(self: Arc<Self>, mut queue: UnboundedReceiver<Vec<u8>>) {
        while let Some(message) = queue.recv().await {
            let said = Said::of(&message, |tool| self.session()?.repeated_of(tool));
            if said.is_waited_for {
                Arc::clone(&self).post(message, said).await;
            } else {
                tokio::spawn(Arc::clone(&self).post(message, said));
            }
        }
    }

    async fn post(self: Arc<Self>, message: Vec<u8>, said: Said) {
        let mut headers = self.session_headers();
        if said.begins_session {
            headers.remove(SESSION);
            headers.remove(VERSION);
        }
        headers.extend(said.headers);
        let asked = said.key;
        let sent = self
            .upstream
            .ask(Method::POST, headers, None, Bytes::from(message));
        let answer = match sent.await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "A message did not reach the server behind the door");
                let reason = match error.was_not_sent() {
                    true => "unreachable",
                    // It may have run: nobody here sends it again.
                    false => "outcome_unknown",
                };
                return self.fail(asked.as_ref(), reason);
            }
        };
        if said.begins_session && answer.status().is_success() {
            self.keep_session(answer.headers());
            self.awaits_version.store(true, Ordering::Relaxed);
        }
        let is_lost = answer.status() == StatusCode::NOT_FOUND;
        if said.is_initialized && answer.status().is_success() {
            tokio::spawn(Arc::clone(&self).listen());
        }
        self.take(answer, asked.as_ref()).await;
        if is_lost && self.session_headers().contains_key(SESSION) {
            // The session is over: client and server come to terms anew, the call is not repeated.
            self.headers().clear();
            if let Some(session) = self.session() {
                session.server_is_down();
                session.server_is_up();
            }
        }
    }

    /// Takes what the server answers to one message.
    async fn take(&self, answer: http::Response<Coming>, asked: Option<&Key>) {
        let (head, body) = answer.into_parts();
        if is_event_stream(&head.headers) {
            self.take_events(body).await;
            return self.fail(asked, "unanswered");
        }
        match read_whole(body).await {
            Ok(whole) if !whole.trim_ascii().is_empty() => {
                if asked.is_some() {
                    self.take_message(&whole);
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "An answer could not be read whole"),
        }
        // Whatever it was, it was all: what is still open now is not answered any more.
        self.fail(asked, "unreadable_answer");
    }

    async fn take_events(&self, mut body: Coming) {
        let mut splitter = Splitter::default();
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if splitter.feed(&data).is_err() {
                return;
            }
            while let Some(event) = splitter.next() {
                if let Some(data) = event.data() {
                    self.take_message(&data);
                }
            }
        }
    }

    /// Listens to what the server says without being asked, if it has such a stream.
    async fn listen(self: Arc<Self>) {
        let mut headers = self.session_headers();
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("text/event-stream"),
        );
        let asked = self.upstream.ask(Method::GET, headers, None, Bytes::new());
        if let Ok(answer) = asked.await
            && answer.status().is_success()
            && is_event_stream(answer.headers())
        {
            self.take_events(answer.into_body()).await;
        }
    }

    /// Ends the session on the server's side.
    pub async fn end(&self) {
        let headers = self.session_headers();
        if headers.contains_key(SESSION) {
            let asked = self
                .upstream
                .ask(Method::DELETE, headers, None, Bytes::new());
            if let Err(error) = asked.await {
                tracing::warn!(%error, "A session behind the door could not be ended");
            }
        }
    }

    fn take_message(&self, message: &[u8]) {
        let Some(session) = self.session() else {
            return;
        };
        if self.awaits_version.load(Ordering::Relaxed) {
            self.keep_version(message);
        }
        let mut answered = Answered::default();
        tokio::task::block_in_place(|| {
            session.take_from_server(message, &mut answered);
            session.flush();
        });
    }

    fn keep_version(&self, message: &[u8]) {
        let version = reply::read(message).ok().and_then(|frame| {
            let version = frame.root().get("result")?.get("protocolVersion")?;
            header_value(&version.as_str()?)
        });
        if let Some(version) = version {
            self.headers().insert(VERSION, version);
            self.awaits_version.store(false, Ordering::Relaxed);
        }
    }

    fn fail(&self, asked: Option<&Key>, reason: &str) {
        if let (Some(key), Some(session)) = (asked, self.session()) {
            tokio::task::block_in_place(|| session.is_not_answered(key, reason));
        }
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.session.get()?.upgrade()
    }

    fn headers(&self) -> std::sync::MutexGuard<'_, HeaderMap> {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session_headers(&self) -> HeaderMap {
        self.headers().clone()
    }

    fn keep_session(&self, answered: &HeaderMap) {
        let mut headers = self.headers();
        headers.clear();
        if let Some(session) = answered.get(SESSION) {
            headers.insert(SESSION, session.clone());
        }
    }
}

impl Back for Remote {
    fn put(&self, message: &[u8]) {
        // The queue is as long as what is open is many: a client waits for its answers.
        let _ = self.messages.send(message.to_vec());
    }

    fn flush(&self) {}
}

/// What HTTP wants to know of a message.
struct Said {
    headers: HeaderMap,
    key: Option<Key>,
    begins_session: bool,
    is_initialized: bool,
    is_waited_for: bool,
}

impl Said {
    /// `repeated` are the arguments of a tool that its server wants in headers.
    fn of(message: &[u8], repeated: impl Fn(&str) -> Option<Arc<[Repeated]>>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        let frame = Frame::read(message).ok();
        let frame = frame.as_ref();
        let method = frame.and_then(|frame| frame.method()).unwrap_or_default();
        let params = frame.and_then(|frame| frame.params());
        let version = params
            .and_then(|params| params.get("_meta")?.get(META_VERSION))
            .and_then(|version| version.as_str());
        if let Some(version) = version {
            let name = mirrored::mirrored_member(method)
                .and_then(|member| params?.get(member))
                .and_then(|name| name.as_str());
            for (header, value) in [
                (VERSION, Some(version)),
                (HeaderName::from_static("mcp-method"), Some(method.into())),
                (HeaderName::from_static("mcp-name"), name),
            ] {
                if let Some(value) = value.and_then(|value| header_value(&value)) {
                    headers.insert(header, value);
                }
            }
            let tool = params.filter(|_| method == "tools/call");
            let tool = tool.and_then(|params| params.get("name")?.as_str());
            if let (Some(frame), Some(repeated)) = (frame, tool.and_then(|tool| repeated(&tool))) {
                headers.extend(mirrored::argument_headers(frame, &repeated));
            }
        }
        let is_initialized = method == "notifications/initialized";
        Self {
            headers,
            key: frame
                .filter(|frame| frame.kind() == Kind::Request)
                .and_then(|frame| frame.id())
                .map(Key::from),
            begins_session: method == "initialize",
            is_initialized,
            is_waited_for: method == "initialize" || is_initialized,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_repeat_what_the_body_says() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"caf\u00e9","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let said = Said::of(body.as_bytes(), |_| None);
        let frame = Frame::read(body.as_bytes()).unwrap();
        assert!(mirrored::check(&said.headers, &frame).is_ok());
        assert!(
            said.headers["mcp-name"]
                .to_str()
                .unwrap()
                .starts_with("=?base64?")
        );
        let older = Said::of(
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            |_| None,
        );
        assert!(!older.headers.contains_key("mcp-name"));
        let repeated = Repeated {
            header: "region".into(),
            path: ["r".into()].into(),
        };
        let body = body.replace(r#""_meta""#, r#""arguments":{"r":"eu"},"_meta""#);
        let said = Said::of(body.as_bytes(), |tool| {
            (tool == "café").then(|| [repeated.clone()].into())
        });
        assert_eq!(said.headers["mcp-param-region"], "eu");
    }
}
