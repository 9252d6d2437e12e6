//! Spans on their way to the collector. Nobody waits for them: what does not fit is dropped.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::otlp;
use super::spans::Ended;
use crate::http::tls::{Connector, connector, is_server};
use crate::judge::reply::is_worth_a_word;

/// Most spans that wait.
const WAITING_MAX: usize = 4_096;
/// Most spans of one export.
const BATCH_MAX: usize = 512;
/// How long spans are gathered before they are sent.
const GATHER: Duration = Duration::from_millis(500);
/// How long one export may take.
const TRY_TIME: Duration = Duration::from_secs(5);
/// How long the end of the door waits for the last ones.
const LAST_TIME: Duration = Duration::from_secs(1);

enum Said {
    Span(Box<Ended>),
    Close(SyncSender<()>),
}

/// Where ended spans wait.
#[derive(Debug)]
pub struct Queue(SyncSender<Said>);

impl Queue {
    /// Puts one in. False when it was dropped.
    pub fn put(&self, ended: Ended) -> bool {
        self.0.try_send(Said::Span(Box::new(ended))).is_ok()
    }

    /// Waits a moment for the last ones.
    pub fn close(&self) {
        let (done, wait) = sync_channel(1);
        if self.0.try_send(Said::Close(done)).is_ok() {
            let _ = wait.recv_timeout(LAST_TIME);
        }
    }
}

/// The collector.
struct Collector {
    uri: Uri,
    client: Client<Connector, Full<Bytes>>,
    failed: u64,
}

/// Starts sending to the collector at this address, on a thread of its own.
///
/// # Errors
/// When it is no address of a collector, or the thread cannot be started.
pub fn start(url: &str) -> anyhow::Result<Queue> {
    let uri: Uri = url.parse().context("read the collector's address")?;
    anyhow::ensure!(
        is_server(&uri),
        "the collector's address must be http://HOST:PORT/v1/traces or https://HOST/v1/traces"
    );
    let collector = Collector {
        client: Client::builder(TokioExecutor::new()).build(connector(&uri, TRY_TIME)?),
        uri,
        failed: 0,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (sender, receiver) = sync_channel(WAITING_MAX);
    std::thread::Builder::new()
        .name("spans".into())
        .spawn(move || collect(&receiver, collector, &runtime))
        .context("start sending spans")?;
    Ok(Queue(sender))
}

fn collect(said: &Receiver<Said>, mut collector: Collector, runtime: &tokio::runtime::Runtime) {
    while let Ok(first) = said.recv() {
        let (mut batch, mut closing) = (Vec::new(), None);
        let mut take = |said| match said {
            Said::Span(ended) => batch.push(*ended),
            Said::Close(done) => closing = Some(done),
        };
        let is_span = matches!(first, Said::Span(_));
        take(first);
        if is_span {
            // What else comes meanwhile goes along.
            std::thread::sleep(GATHER);
        }
        said.try_iter().take(BATCH_MAX - 1).for_each(take);
        if !batch.is_empty() {
            runtime.block_on(collector.send(&batch));
        }
        if let Some(done) = closing {
            let _ = done.try_send(());
        }
    }
}

impl Collector {
    async fn send(&mut self, batch: &[Ended]) {
        let sent = tokio::time::timeout(TRY_TIME, self.try_send(batch)).await;
        let error = match sent {
            Ok(Ok(())) => return self.failed = 0,
            Ok(Err(error)) => error,
            Err(error) => error.into(),
        };
        self.failed += 1;
        if is_worth_a_word(self.failed) {
            tracing::warn!(%error, spans = batch.len(), "The collector did not take spans; they are lost");
        }
    }

    async fn try_send(&self, batch: &[Ended]) -> anyhow::Result<()> {
        let request = Request::post(self.uri.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(otlp::body(batch).to_string())))?;
        let status = self.client.request(request).await?.status();
        anyhow::ensure!(status.is_success(), "the collector answered {status}");
        Ok(())
    }
}
