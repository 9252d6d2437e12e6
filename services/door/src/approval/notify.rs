//! Tells another system that calls are held, so that somebody there can decide by webhook.
//!
//! What is sent names the call and its digest and holds no value of it. It is signed in the same
//! form in which decisions come back.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Uri, header};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

use super::decision::{HoldId, Seen};
use super::holds::Holds;
use super::webhook::Webhook;
use crate::clock::Now;
use crate::http::tls::{Connector, TlsError, connector, is_server};

/// How often a message is tried.
const TRIES: u32 = 3;
/// How long one try may take, and how long the first pause between two is.
const TRY_TIME: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);

/// An address that cannot be told anything.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is no address of a server.
    #[error("read approval.webhook.url: http://HOST:PORT/PATH or https://HOST/PATH is wanted")]
    Address,
    /// There is no TLS for it.
    #[error("read approval.webhook.url")]
    Tls(#[from] TlsError),
}

/// Where held calls are told.
pub struct Notifier {
    uri: Uri,
    client: Client<Connector, Full<Bytes>>,
}

impl Notifier {
    /// A notifier of the receiver at this address.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn new(url: &str) -> Result<Self, AddressError> {
        let uri: Uri = url.parse().map_err(|_| AddressError::Address)?;
        if !is_server(&uri) {
            return Err(AddressError::Address);
        }
        let connector = connector(&uri, TRY_TIME)?;
        Ok(Self {
            uri,
            client: Client::builder(TokioExecutor::new()).build(connector),
        })
    }

    /// Tells every call that waits for this way, once, as long as the process runs.
    pub async fn run(&self, holds: Arc<Holds>, webhook: &Webhook) {
        let mut changes = holds.changes();
        let mut told: HashSet<HoldId> = HashSet::new();
        loop {
            changes.borrow_and_update();
            let open = holds.open();
            told.retain(|hold| open.iter().any(|seen| seen.held.approval == *hold));
            for seen in open.iter().filter(|seen| seen.terms.ways.webhook) {
                if told.insert(seen.held.approval) {
                    self.tell(seen, webhook).await;
                }
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    async fn tell(&self, seen: &Seen, webhook: &Webhook) {
        let body = Bytes::from(message(seen).to_string());
        let id = hex::encode(seen.held.approval);
        for tried in 1..=TRIES {
            match self.send(&id, body.clone(), webhook).await {
                Ok(()) => return,
                Err(error) if tried == TRIES => {
                    tracing::error!(%error, "Could not tell the webhook's receiver of a held call");
                }
                Err(_) => tokio::time::sleep(PAUSE * tried).await,
            }
        }
    }

    async fn send(&self, id: &str, body: Bytes, webhook: &Webhook) -> anyhow::Result<()> {
        let stamp = Now::read().utc.unix_timestamp().to_string();
        let signature = webhook.sign(id, &stamp, &body);
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.uri.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", stamp)
            .header("webhook-signature", signature)
            .body(Full::new(body))?;
        let answer = tokio::time::timeout(TRY_TIME, self.client.request(request)).await??;
        let status = answer.status();
        anyhow::ensure!(status.is_success(), "the receiver answered {status}");
        Ok(())
    }
}

fn message(seen: &Seen) -> serde_json::Value {
    let held = &seen.held;
    json!({
        "type": "call.held",
        "approval": hex::encode(held.approval),
        "digest": seen.digest,
        "server": held.opening.server,
        "method": held.opening.method,
        "tool": held.opening.tool,
        "identity": held.opening.identity,
        "rule": held.rule,
        "policy": held.policy,
        "policy_sha256": held.opening.policy_sha256,
        "commit": held.commit,
        "held_at": held.held_at,
        "expires_at": held.expires_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::record::Record;
    use crate::approval::terms::{Terms, Ways};
    use crate::approval::testing::{ALL, Memory, Told, ask, webhook_secret};
    use axum::Router;
    use axum::routing::post;
    use http::{HeaderMap, StatusCode};

    #[test]
    fn only_addresses_of_servers_are_told() {
        for wrong in ["", "127.0.0.1:1", "ftp://a/b", "file:///a", "http:///a"] {
            assert!(Notifier::new(wrong).is_err(), "{wrong}");
        }
        assert!(Notifier::new("http://127.0.0.1:1/held").is_ok());
    }

    #[tokio::test]
    async fn a_held_call_is_told_once_signed_and_without_its_values() {
        let holds = Arc::new(Holds::new(Memory::new() as Arc<dyn Record>, ALL));
        let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
        let tries = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let receiver = Router::new().route(
            "/held",
            post(move |headers: HeaderMap, body: Bytes| {
                let first = tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
                let heard = heard.clone();
                async move {
                    if first {
                        return StatusCode::SERVICE_UNAVAILABLE;
                    }
                    heard.send((headers, body)).unwrap();
                    StatusCode::NO_CONTENT
                }
            }),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, receiver).await });
        let notifier = Notifier::new(&format!("http://{address}/held")).unwrap();
        let running = Arc::clone(&holds);
        tokio::spawn(async move {
            let webhook = Webhook::new(&webhook_secret(3)).unwrap();
            notifier.run(running, &webhook).await;
        });
        let now = Now::read();
        let hold = |number: u8, ways: Ways| {
            let mut ask = ask(
                number,
                now,
                Terms {
                    ways,
                    ..Terms::DEFAULT
                },
                &Told::new(),
            );
            ask.held.opening.message = r#"{"secret":"value"}"#.into();
            holds.hold(ask, now).unwrap();
        };
        hold(1, Ways::PAGE);
        hold(2, ALL);
        let (headers, body) = hears.recv().await.unwrap();
        let webhook = Webhook::new(&webhook_secret(3)).unwrap();
        let seconds = Now::read().utc.unix_timestamp();
        assert_eq!(webhook.take(&headers, &body, seconds), Ok(()));
        let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(told["approval"], hex::encode([2; 16]));
        assert_eq!(
            told["digest"],
            holds.seen(&[2; 16]).unwrap().digest.to_string()
        );
        assert!(!body.windows(5).any(|part| part == b"value"));
        hold(3, ALL);
        let (_, body) = hears.recv().await.unwrap();
        let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            told["approval"],
            hex::encode([3; 16]),
            "the second is told once"
        );
    }
}
