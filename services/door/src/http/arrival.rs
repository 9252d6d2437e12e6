//! A message that arrives over HTTP: read whole, and its sender known.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_serve::Problem;
use countersign_wire::Frame;
use http::{HeaderMap, StatusCode, header};
use http_body::Body as _;

use super::exchange::respond_refusal;
use super::metadata::unauthorized;
use super::tokens::Identity;
use crate::caller::Caller;
use crate::clock;
use crate::judge::message::MESSAGE_BYTES_MAX;
use crate::judge::refusal::Refusal;

/// A message and whose it is.
pub struct Arrived {
    /// The headers of its request.
    pub headers: HeaderMap,
    /// Its bytes.
    pub body: Bytes,
    /// Who sent it.
    pub caller: Caller,
}

/// Reads the message of a request and finds out whose it is.
///
/// # Errors
/// The response, when it is no message or its sender is nobody.
pub async fn arrive(identity: &Identity, request: Request) -> Result<Arrived, Box<Response>> {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        return Err(Box::new(Problem::unsupported_media_type().into_response()));
    }
    // A length that is announced is believed when it is too large.
    if body.size_hint().lower() > MESSAGE_BYTES_MAX as u64 {
        return Err(Box::new(Problem::too_large().into_response()));
    }
    let body = axum::body::to_bytes(body, MESSAGE_BYTES_MAX)
        .await
        .map_err(|error| Box::new(unread(&error)))?;
    identify(identity, parts.headers, body)
}

/// Finds out whose a message is.
///
/// # Errors
/// The response, when it is no message or its sender is nobody.
pub fn identify(
    identity: &Identity,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Arrived, Box<Response>> {
    if !is_json(&headers) {
        return Err(Box::new(Problem::unsupported_media_type().into_response()));
    }
    match identity.verify(&headers, clock::unix_seconds()) {
        Ok(caller) => Ok(Arrived {
            headers,
            body,
            caller,
        }),
        Err(reason) => {
            // A malformed message is answered as one, whoever sent it; there is nobody to record.
            if let Err(error) = Frame::read(&body) {
                let refusal = Refusal::malformed(error.code(), "malformed");
                return Err(Box::new(respond_refusal(&refusal, error.id.as_deref())));
            }
            tracing::warn!(%reason, "Refused a message without a good token");
            crate::telemetry::token_refused(&reason);
            Err(Box::new(unauthorized(identity, &headers)))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return false;
    };
    let kind = kind.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json") && !headers.contains_key(header::CONTENT_ENCODING)
}

/// Why a body was not read: too long, or not sent in time.
fn unread(error: &axum::Error) -> Response {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return Problem::too_large().into_response();
        }
        source = error.source();
    }
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        "request_timeout",
        "The message was not sent in time",
    )
    .into_response()
}
