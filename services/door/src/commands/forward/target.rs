//! Where lines are sent to.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// How long an answer may take.
const TIME_OUT: Duration = Duration::from_secs(30);

/// What the collector said.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    /// It has the lines.
    Taken,
    /// It takes fewer at once.
    TooLarge,
    /// Anything else; the lines are sent again.
    Refused(u16),
}

/// The collector.
pub struct Target {
    uri: Uri,
    bearer: HeaderValue,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Target {
    /// The collector at this address, with the token of this file.
    pub fn new(to: &str, bearer_file: &Path) -> anyhow::Result<Self> {
        let uri: Uri = to.parse().context("read the collector's address")?;
        let host = uri.host().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let is_here = host == "localhost"
            || address
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        if uri.scheme_str() != Some("http") || !is_here {
            bail!(
                "the collector must be http:// on this machine, not {to}: the token would go over the network in the clear"
            );
        }
        let metadata = std::fs::metadata(bearer_file).context("read the bearer token")?;
        if metadata.permissions().mode() & 0o077 != 0 {
            bail!(
                "{0}: others than its owner can read the token; `chmod go= {0}`",
                bearer_file.display()
            );
        }
        let token = std::fs::read_to_string(bearer_file).context("read the bearer token")?;
        let token = token.trim();
        anyhow::ensure!(!token.is_empty(), "the bearer token is empty");
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| anyhow::anyhow!("the bearer token holds characters that no token has"))?;
        bearer.set_sensitive(true);
        Ok(Self {
            uri,
            bearer,
            client: Client::builder(TokioExecutor::new()).build_http(),
        })
    }

    /// Sends a batch.
    pub async fn send(&self, first: u64, body: Vec<u8>) -> anyhow::Result<Sent> {
        let request = Request::post(self.uri.clone())
            .header(header::AUTHORIZATION, self.bearer.clone())
            .header(header::CONTENT_TYPE, "application/x-ndjson")
            .header("Countersign-First", first)
            .body(Full::new(Bytes::from(body)))?;
        let answer = tokio::time::timeout(TIME_OUT, self.client.request(request))
            .await
            .context("no answer in time")??;
        Ok(match answer.status() {
            status if status.is_success() => Sent::Taken,
            StatusCode::PAYLOAD_TOO_LARGE => Sent::TooLarge,
            status => Sent::Refused(status.as_u16()),
        })
    }
}
