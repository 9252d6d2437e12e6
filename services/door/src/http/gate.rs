//! A door between HTTP and HTTP: who calls, where it goes, and what goes with it.

use std::sync::Arc;

use bytes::Bytes;
use countersign_identity::{RequestClaims, SignError, TokenId, body_digest, sign_request};
use countersign_keys::Signer;
use countersign_receipts::Hash;
use http::{HeaderMap, header};

use super::lines::Coming;
use super::sessions::Sessions;
use super::tokens::Identity;
use super::upstream::{Upstream, UpstreamError};
use crate::caller::Caller;
use crate::clock;
use crate::door::Door;
use crate::judge::lists::ListError;
use crate::judge::refusal::{Code, Refusal};

/// A door with HTTP on both sides.
pub struct Gate {
    /// What decides and records.
    pub door: Arc<Door>,
    /// Who calls.
    pub identity: Identity,
    /// The server.
    pub upstream: Upstream,
    /// Signs the tokens of forwarded calls, for servers that want one.
    pub request_key: Option<Signer>,
    /// The sessions of the revision that has them.
    pub sessions: Sessions,
    /// One reading of the whole list at a time.
    pub reading: tokio::sync::Mutex<()>,
}

/// Why a call that was allowed did not reach the server.
#[derive(Debug, thiserror::Error)]
pub enum ForwardError {
    /// It could not be recorded: it must not go on.
    #[error("record a question: {0:?}")]
    NotRecorded(Refusal),
    /// No token could be signed for it: it must not go on.
    #[error("sign a call")]
    NotSigned(#[source] anyhow::Error),
    /// The server cannot be reached or did not answer.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// Its list of tools cannot be read.
    #[error(transparent)]
    List(#[from] ListError),
}

impl ForwardError {
    /// What the client is told.
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::NotRecorded(_) => Refusal::new(Code::NotRecorded, "not_recorded"),
            Self::NotSigned(_) => Refusal::new(Code::NotRecorded, "not_signed"),
            Self::Upstream(error) if error.was_not_sent() => {
                Refusal::new(Code::Upstream, "unreachable")
            }
            // It may have run: nobody here sends it again.
            Self::Upstream(_) | Self::List(_) => Refusal::new(Code::Upstream, "outcome_unknown"),
        }
    }
}

impl Gate {
    /// Signs the token of a recorded call, where the server wants one, and sends the call with those of the
    /// client's headers that the protocol needs.
    ///
    /// # Errors
    /// [`ForwardError`].
    pub async fn send(
        &self,
        headers: &HeaderMap,
        caller: &Caller,
        call: &[u8; 16],
        leaf: Hash,
        body: Bytes,
    ) -> Result<http::Response<Coming>, ForwardError> {
        let token = self
            .request_token(caller, call, leaf, &body)
            .map_err(ForwardError::NotSigned)?;
        let sent = self.upstream.send(headers, token.as_deref(), body);
        Ok(sent.await?)
    }

    fn request_token(
        &self,
        caller: &Caller,
        call: &[u8; 16],
        leaf: Hash,
        body: &[u8],
    ) -> anyhow::Result<Option<String>> {
        let Some(signer) = &self.request_key else {
            return Ok(None);
        };
        let claims = caller
            .claims
            .as_deref()
            .ok_or_else(|| anyhow::anyhow!("the caller has no session token"))?;
        let now = clock::unix_seconds();
        let claims = RequestClaims {
            customer: claims.customer,
            conversation: claims.conversation,
            grant_secret: claims.grant_secret.clone(),
            issued_at: now,
            token_id: TokenId::from_random(*call),
            method: http::Method::POST.as_str().to_owned(),
            path: self.upstream.path().to_owned(),
            body_digest: body_digest(body),
            record_leaf: *leaf.as_bytes(),
        };
        let key = signer.key(now).ok_or(SignError::Key)?;
        Ok(Some(sign_request(&key, &claims)?))
    }
}

/// Whether an answer is a stream of server-sent events.
pub fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
