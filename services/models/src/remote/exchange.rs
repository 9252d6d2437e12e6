//! Asking over HTTP: tries, waits, time-outs, and the answer as a stream of events.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
    redirect,
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    Assembly, Endpoint, Limits, Prices,
    frames::{Cut, Frame, Frames},
    wait,
};
use crate::{Event, EventStream, Model, ModelError, Prompt, Usage};

/// Most of an error's body that is read.
const ERROR_BYTES_MAX: usize = 16 * 1024;
/// Time for a connection.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// A wire format.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// Reads the frames of one answer.
    type Reader: Reader;
    /// A short name for logs.
    const NAME: &'static str;
    /// How answers are cut.
    const CUT: Cut;

    /// A request for a reply, ready to send: address, headers with the key, body.
    fn request(
        &self,
        prompt: &Prompt,
        now: SystemTime,
    ) -> Result<http::Request<Vec<u8>>, ModelError>;

    /// A reader for one answer.
    fn reader(&self) -> Self::Reader;

    /// What an error's body means, where the status alone does not say.
    fn error(&self, status: StatusCode, body: &Value) -> ModelError {
        let _ = body;
        by_status(status)
    }
}

/// Reads the frames of one answer.
pub(crate) trait Reader: Send {
    /// Takes a frame. `Assembly::close` ends the answer.
    fn take(&mut self, frame: &Frame, reply: &mut Assembly) -> Result<(), ModelError>;
}

/// A model behind an address.
pub(crate) struct Remote<P> {
    pub(crate) protocol: P,
    pub(crate) http: reqwest::Client,
    pub(crate) limits: Limits,
    pub(crate) prices: Prices,
}

/// The client for an endpoint. It follows no redirect and uses no proxy of the environment: both would carry the key
/// elsewhere. It repeats nothing by itself.
///
/// # Errors
/// When the client cannot be made.
pub fn client(
    endpoint: &Endpoint,
    reach_at: Option<std::net::SocketAddr>,
) -> Result<reqwest::Client, reqwest::Error> {
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIME_MAX);
    if let Some(address) = reach_at {
        builder = builder.resolve(endpoint.host(), address);
    }
    if !endpoint.is_encrypted() {
        // Nobody's certificate is looked at; reading the system's takes a while.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// What a status means where the body says nothing more.
pub(crate) fn by_status(status: StatusCode) -> ModelError {
    match status.as_u16() {
        300..=399 => ModelError::Redirected,
        401 | 403 => ModelError::KeyRefused,
        408 | 504 => ModelError::TimedOut,
        413 => ModelError::TooLong,
        429 | 503 | 529 => ModelError::Overloaded,
        status @ 400..=499 => ModelError::RequestRefused(status),
        _ => ModelError::Unavailable,
    }
}

/// Whether the same request may do better a little later.
const fn may_pass(error: &ModelError) -> bool {
    matches!(error, ModelError::Unavailable | ModelError::Overloaded)
}

/// A refusal to begin, and when to come back.
struct Refused {
    error: ModelError,
    asked: Option<Duration>,
}

impl From<ModelError> for Refused {
    fn from(error: ModelError) -> Self {
        Self { error, asked: None }
    }
}

/// An answer on its way.
struct Answer<R> {
    frames: Frames,
    reader: R,
    reply: Assembly,
    silence: Duration,
    deadline: Instant,
    over: bool,
}

impl<P: Protocol> Remote<P> {
    /// One try: the answer, with its first event read, so that a refusal at its head can still be tried again.
    async fn begin(
        &self,
        prompt: &Prompt,
        deadline: Instant,
    ) -> Result<(Answer<P::Reader>, Event), Refused> {
        let request = self.protocol.request(prompt, SystemTime::now())?;
        let request = reqwest::Request::try_from(request).map_err(|_| ModelError::Malformed)?;
        let first = Instant::now() + seconds(self.limits.first_byte_seconds_max);
        let response = timeout_at(first.min(deadline), self.http.execute(request))
            .await
            .map_err(|_| ModelError::TimedOut)?
            .map_err(|error| {
                if error.is_timeout() && !error.is_connect() {
                    ModelError::TimedOut
                } else {
                    ModelError::Unavailable
                }
            })?;
        let status = response.status();
        if status != StatusCode::OK {
            let asked = wait::asked(response.headers(), SystemTime::now());
            let body = timeout_at(first.min(deadline), error_body(response))
                .await
                .unwrap_or_default();
            let error = if status.is_redirection() {
                ModelError::Redirected
            } else {
                self.protocol.error(status, &body)
            };
            tracing::warn!(
                status = status.as_u16(),
                model = P::NAME,
                "The model's endpoint refused: {error}"
            );
            return Err(Refused { error, asked });
        }
        if !is_of_type(response.headers(), P::CUT.content_type()) {
            tracing::warn!(
                model = P::NAME,
                "The model's endpoint answered in another form than {}",
                P::CUT.content_type()
            );
            return Err(ModelError::Malformed.into());
        }
        let mut answer = Answer {
            frames: Frames::of(response, P::CUT),
            reader: self.protocol.reader(),
            reply: Assembly::default(),
            silence: seconds(self.limits.silence_seconds_max),
            deadline,
            over: false,
        };
        let event = answer.next().await?;
        Ok((answer, event))
    }
}

impl<R: Reader> Answer<R> {
    async fn next(&mut self) -> Result<Event, ModelError> {
        loop {
            if let Some(event) = self.reply.next() {
                return Ok(event);
            }
            let until = (Instant::now() + self.silence).min(self.deadline);
            let frame = timeout_at(until, self.frames.next())
                .await
                .map_err(|_| ModelError::TimedOut)??;
            match frame {
                Some(frame) => self.reader.take(&frame, &mut self.reply)?,
                // Some servers end without their last mark. What was said before counts only with an ending.
                None if self.reply.has_ended() => self.reply.close()?,
                None => return Err(ModelError::Unavailable),
            }
        }
    }
}

#[async_trait]
impl<P: Protocol> Model for Remote<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn cost_micros(&self, usage: Usage) -> u64 {
        self.prices.cost_micros(usage)
    }

    async fn reply<'a>(&'a self, prompt: &'a Prompt) -> Result<EventStream<'a>, ModelError> {
        let deadline = Instant::now() + seconds(self.limits.reply_seconds_max);
        let mut tries = 0;
        let (answer, first) = loop {
            let refused = match self.begin(prompt, deadline).await {
                Ok(begun) => break begun,
                Err(refused) => refused,
            };
            let wait = refused.asked.unwrap_or_else(|| wait::own(tries, chance()));
            let in_time = wait <= wait::ASKED_MAX && Instant::now() + wait < deadline;
            if !may_pass(&refused.error) || tries >= self.limits.retries_max || !in_time {
                return Err(refused.error);
            }
            tries += 1;
            tracing::info!(
                model = P::NAME,
                tries,
                "Asking the model again in {} ms",
                wait.as_millis()
            );
            tokio::time::sleep(wait).await;
        };
        let rest = stream::unfold(answer, |mut answer| async move {
            if answer.over {
                return None;
            }
            let next = answer.next().await;
            answer.over = match &next {
                Ok(event) => is_last(event),
                Err(_) => true,
            };
            Some((next, answer))
        });
        let over = is_last(&first);
        let head = stream::once(async move { Ok(first) });
        Ok(if over {
            head.boxed()
        } else {
            head.chain(rest).boxed()
        })
    }
}

const fn is_last(event: &Event) -> bool {
    matches!(event, Event::Done | Event::CutShort | Event::Declined)
}

fn seconds(number: u32) -> Duration {
    Duration::from_secs(number.into())
}

/// A random byte; the middle one where the system gives none, since nothing is guarded by it.
fn chance() -> u8 {
    let mut byte = [128];
    let _ = getrandom::fill(&mut byte);
    byte[0]
}

fn is_of_type(headers: &HeaderMap, wanted: &str) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|value| value.trim().eq_ignore_ascii_case(wanted))
}

/// The body of an error, as far as it is read.
async fn error_body(mut response: reqwest::Response) -> Value {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() > ERROR_BYTES_MAX {
            return Value::Null;
        }
    }
    serde_json::from_slice(&body).unwrap_or_default()
}
