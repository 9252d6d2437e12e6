//! The door: everything one decision needs, and the steps that several messages share.

use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use countersign_identity::{RequestClaims, SigningKey, TokenId, body_digest, sign_request};
use countersign_policy::{Live, Pin, Policy, RateLimiter};
use countersign_receipts::{Hash, LogSigner};
use countersign_wire::Frame;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use hyper::body::Incoming;

use crate::answer::Ending;
use crate::catalogue::Catalogue;
use crate::clock;
use crate::config::Config;
use crate::lists::{self, Answered, Entry};
use crate::log::{DecisionLog, WriteError};
use crate::methods::TOOLS;
use crate::record::{Decided, DefinitionSeen, PolicyMark, Run, Subject};
use crate::session::{Caller, Sessions};
use crate::upstream::{Upstream, UpstreamError, read_whole};

/// Most pages of one list.
const PAGES_MAX: usize = 64;
/// The id of the door's own questions.
const OWN_ID: &str = "1";

/// One door before one server.
pub struct Door {
    /// What may pass.
    pub policy: Policy,
    /// The policy as the record names it.
    pub mark: PolicyMark,
    /// Who calls.
    pub sessions: Sessions,
    /// How often.
    pub rates: RateLimiter,
    /// What the server offers.
    pub catalogue: Catalogue,
    /// The server.
    pub upstream: Upstream,
    /// The record.
    pub log: Arc<DecisionLog>,
    request_key: SigningKey,
    /// One reading of the whole list at a time.
    reading: tokio::sync::Mutex<()>,
}

/// Why a call that was allowed did not reach the server.
#[derive(Debug, thiserror::Error)]
pub enum ForwardError {
    /// No random bytes, no record or no token: it must not go on.
    #[error("record and sign a call")]
    NotRecorded(#[source] anyhow::Error),
    /// The server cannot be reached or did not answer.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// Its list of tools cannot be read.
    #[error(transparent)]
    List(#[from] lists::ListError),
}

impl From<WriteError> for ForwardError {
    fn from(error: WriteError) -> Self {
        Self::NotRecorded(error.into())
    }
}

impl Door {
    /// Opens a door: reads the policy, the keys and the record, and writes the run's first line.
    ///
    /// # Errors
    /// Whatever is unusable; the door does not start then.
    pub fn open(config: Config) -> anyhow::Result<Self> {
        let policy = Policy::load(&config.policy_yaml).context("read the policy")?;
        let upstream = Upstream::new(&config.upstream)?;
        let signer = LogSigner::new(&config.log_origin, &config.receipt_key)?;
        let (log, torn_bytes) = DecisionLog::open(&config.log_directory, signer)?;
        let mark = PolicyMark::of(&policy);
        log.append(&Run::opened(log.key_id(), &mark, torn_bytes))?;
        log.sign_head()?;
        Ok(Self {
            sessions: Sessions::new(config.session_keys)?,
            request_key: SigningKey::from_file(&config.request_key)?,
            rates: RateLimiter::new(),
            catalogue: Catalogue::default(),
            upstream,
            log: Arc::new(log),
            mark,
            policy,
            reading: tokio::sync::Mutex::default(),
        })
    }

    /// Writes the run's last line and signs it.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn close(&self) -> Result<(), WriteError> {
        self.log
            .append(&Run::closed(self.log.key_id(), &self.mark))?;
        self.log.sign_head()
    }

    /// What the server says about a tool now. Its list is read first where that matters.
    ///
    /// # Errors
    /// [`ForwardError`] when it matters and the list cannot be read.
    pub async fn live(&self, name: &str, caller: &Caller) -> Result<Live, ForwardError> {
        if !self.policy.names_tool(name) {
            // Whatever the server says: the policy has no line for it.
            return Ok(Live::NotOffered);
        }
        if let Some(live) = self.catalogue.live(name, clock::monotonic_milliseconds()) {
            return Ok(live);
        }
        let _one_at_a_time = self.reading.lock().await;
        let now = clock::monotonic_milliseconds();
        if let Some(live) = self.catalogue.live(name, now) {
            return Ok(live);
        }
        let entries = self.read_tools(caller).await?;
        let changed = self.catalogue.replace(&entries, now);
        self.note_changes(&changed)?;
        Ok(self.catalogue.live(name, now).unwrap_or(Live::NotOffered))
    }

    /// Records which pinned tools are not what they were pinned as.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn note_changes(&self, changed: &[(String, Option<Pin>)]) -> Result<(), WriteError> {
        for (name, found) in changed {
            let pinned = self.policy.pin(name);
            if pinned.is_none() || pinned == *found {
                continue;
            }
            tracing::warn!(tool = %name, "The definition of {name} is not the pinned one");
            let text = |pin: Option<Pin>| pin.map(|pin| pin.to_string());
            let server = self.upstream.name();
            self.log.append(&DefinitionSeen::changed(
                server,
                name,
                text(pinned),
                text(*found),
            ))?;
        }
        Ok(())
    }

    /// Asks the server for its tools on behalf of this caller, page after page.
    async fn read_tools(&self, caller: &Caller) -> Result<Vec<Entry>, ForwardError> {
        let mut entries = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let body = Bytes::from(list_question(cursor.as_deref()));
            let subject_frame = Frame::read(&body).ok();
            let call = clock::random_id()
                .map_err(|error| not_recorded(anyhow::anyhow!("no random bytes: {error}")))?;
            let subject = self.subject(caller, &call, &body, subject_frame.as_ref());
            let leaf = self.log.append(&Decided::own(&subject))?;
            let mut ending = Ending::of(Arc::clone(&self.log), leaf);
            let sent = self.send(list_headers(), caller, &call, leaf, body.clone());
            let answer = sent.await.inspect_err(|_| ending.failed())?;
            ending.head(answer.status().as_u16());
            let events = is_event_stream(answer.headers());
            let whole = read_whole(answer.into_body()).await;
            let whole = whole.inspect_err(|_| ending.failed())?;
            ending.answered(whole.len() as u64);
            let page = match read_answer(&whole, events)? {
                Answered::Page(page) => page,
                Answered::Error => return Err(lists::ListError::Malformed.into()),
            };
            entries.extend(page.entries);
            match page.next_cursor {
                None => return Ok(entries),
                next => cursor = next,
            }
        }
        Err(lists::ListError::Malformed.into())
    }

    /// What a line about this message says besides the decision.
    pub fn subject<'a>(
        &'a self,
        caller: &'a Caller,
        call: &'a [u8; 16],
        body: &'a [u8],
        frame: Option<&'a Frame<'a>>,
    ) -> Subject<'a> {
        Subject {
            caller,
            call,
            salt: self.log.salt(call),
            server: self.upstream.name(),
            policy: &self.mark,
            body,
            frame,
            definition: None,
        }
    }

    /// Signs the token of a recorded call and sends the call.
    ///
    /// # Errors
    /// [`ForwardError`].
    pub async fn send(
        &self,
        headers: HeaderMap,
        caller: &Caller,
        call: &[u8; 16],
        leaf: Hash,
        body: Bytes,
    ) -> Result<http::Response<Incoming>, ForwardError> {
        let claims = RequestClaims {
            customer: caller.claims.customer,
            conversation: caller.claims.conversation,
            grant_secret: caller.claims.grant_secret.clone(),
            issued_at: clock::unix_seconds(),
            token_id: TokenId::from_random(*call),
            method: http::Method::POST.as_str().to_owned(),
            path: self.upstream.path().to_owned(),
            body_digest: body_digest(&body),
            record_leaf: *leaf.as_bytes(),
        };
        let token = sign_request(&self.request_key, &claims)
            .map_err(|error| not_recorded(anyhow::Error::new(error)))?;
        Ok(self.upstream.send(headers, &token, body).await?)
    }
}

fn not_recorded(error: anyhow::Error) -> ForwardError {
    ForwardError::NotRecorded(error)
}

/// Whether an answer is a stream of server-sent events.
pub fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The page in an answer to the door's own question.
fn read_answer(whole: &[u8], events: bool) -> Result<Answered, lists::ListError> {
    if !events {
        return lists::read(whole, OWN_ID, TOOLS);
    }
    let answered = std::cell::RefCell::new(None);
    lists::in_events(whole, |data| {
        *answered.borrow_mut() = Some(lists::read(data, OWN_ID, TOOLS)?);
        Ok(None)
    })?;
    answered.into_inner().ok_or(lists::ListError::Malformed)
}

/// The door's own question for a page of tools, in the revision without sessions.
fn list_question(cursor: Option<&str>) -> String {
    let cursor = cursor.map_or_else(String::new, |cursor| {
        format!(r#""cursor":{},"#, serde_json::Value::from(cursor))
    });
    format!(
        r#"{{"jsonrpc":"2.0","id":{OWN_ID},"method":"tools/list","params":{{{cursor}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"countersign-door","version":"{}"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#,
        env!("CARGO_PKG_VERSION")
    )
}

fn list_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doors_own_question_is_one_it_would_read_itself() {
        for cursor in [None, Some("a\"b\n")] {
            let body = list_question(cursor);
            let frame = Frame::read(body.as_bytes()).unwrap();
            assert_eq!(frame.method(), Some("tools/list"));
            let found = frame.params().and_then(|params| params.get("cursor"));
            assert_eq!(found.and_then(|value| value.as_str()).as_deref(), cursor);
            assert!(crate::mirrored::check(&list_headers(), &frame).is_ok());
        }
    }
}
