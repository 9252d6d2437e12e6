//! Requests to the provider, bounded in time and size, without redirects.

use std::{pin::Pin, time::Duration};

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use url::Url;

use crate::settings::is_private;

/// How long the provider may take for one answer.
const ANSWER_TIME_OUT: Duration = Duration::from_secs(5);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Why nothing usable came back.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// An address that is neither TLS nor the loopback.
    #[error("an address of the provider is neither https nor on this machine")]
    Insecure,
    /// No answer in time, or none at all.
    #[error("no answer: {0}")]
    None(#[from] reqwest::Error),
    /// More than is read.
    #[error("the answer is longer than {ANSWER_BYTES_MAX} bytes")]
    Long,
    /// An answer that is no HTTP message of ours.
    #[error("the answer cannot be taken: {0}")]
    Form(#[from] http::Error),
}

/// What asks one provider.
#[derive(Clone, Debug)]
pub struct Fetch(reqwest::Client);

impl Fetch {
    /// A client of its own: it follows no redirect and uses no proxy that the environment names.
    pub fn new() -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(ANSWER_TIME_OUT)
            .no_proxy()
            .build()?;
        Ok(Self(client))
    }

    /// Sends one request and reads its answer.
    async fn fetch(&self, request: HttpRequest) -> Result<HttpResponse, FetchError> {
        let (parts, body) = request.into_parts();
        let address = parts.uri.to_string();
        if !Url::parse(&address).is_ok_and(|address| is_private(&address)) {
            return Err(FetchError::Insecure);
        }
        let mut answer = self
            .0
            .request(parts.method, address)
            .headers(parts.headers)
            .body(body)
            .send()
            .await?;
        let mut response = http::Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(FetchError::Long);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(response.body(bytes)?)
    }
}

impl<'c> AsyncHttpClient<'c> for Fetch {
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, FetchError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.fetch(request))
    }
}
