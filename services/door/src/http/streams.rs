//! A session's own stream of the server's messages, and its end.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_serve::Problem;
use http::{HeaderValue, Method, StatusCode, header};

use super::exchange::{acknowledged, respond};
use super::gate::{Gate, is_event_stream};
use super::metadata::unauthorized;
use super::relay::{Questions, Relayed};
use super::sessions::{Found, Session, Streaming};
use super::upstream::forwarded_headers;
use crate::caller::Caller;
use crate::clock;
use crate::judge::refusal::Refusal;

/// How often idle sessions are looked for.
const REAP_TIME: Duration = Duration::from_secs(30);

/// `GET /mcp`: the stream of what the server says without being asked, or of what is left of an earlier
/// stream.
pub async fn get_stream(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    let (caller, session) = match enter(&gate, &request) {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let headers = forwarded_headers(request.headers());
    let sent = gate.upstream.ask(Method::GET, headers, None, Bytes::new());
    match sent.await {
        Err(error) => {
            tracing::warn!(%error, "A stream behind the door cannot be opened");
            Problem::new(
                StatusCode::BAD_GATEWAY,
                "unreachable",
                "The server did not answer",
            )
            .into_response()
        }
        Ok(answer) => {
            let (head, body) = answer.into_parts();
            if !is_event_stream(&head.headers) {
                return acknowledged(head).into_response();
            }
            let questions = Questions::of(Streaming::new(session));
            let relayed = Relayed::new(gate, caller, body, questions);
            respond(head.status, head.headers, Body::new(relayed))
        }
    }
}

/// `DELETE /mcp`: the client ends its session.
pub async fn delete_session(State(gate): State<Arc<Gate>>, request: Request) -> Response {
    let (_, session) = match enter(&gate, &request) {
        Ok(entered) => entered,
        Err(response) => return *response,
    };
    let headers = forwarded_headers(request.headers());
    let sent = gate
        .upstream
        .ask(Method::DELETE, headers, None, Bytes::new());
    match sent.await {
        Ok(answer) => {
            if answer.status() != StatusCode::METHOD_NOT_ALLOWED {
                gate.sessions.remove(&session);
            }
            acknowledged(answer.into_parts().0).into_response()
        }
        Err(error) => {
            gate.sessions.remove(&session);
            tracing::warn!(%error, "A session behind the door could not be ended");
            StatusCode::ACCEPTED.into_response()
        }
    }
}

/// The caller of a request without a message, and the session it names.
fn enter(gate: &Gate, request: &Request) -> Result<(Caller, Arc<Session>), Box<Response>> {
    let caller = gate
        .identity
        .verify(request.headers(), clock::unix_seconds())
        .map_err(|_| Box::new(unauthorized(&gate.identity, request.headers())))?;
    match gate.sessions.find(request.headers(), &caller) {
        Found::Session(session) => Ok((caller.in_session(&session.name), session)),
        Found::Unknown => Err(Box::new(unknown_session())),
        Found::None => Err(Box::new(
            (
                StatusCode::METHOD_NOT_ALLOWED,
                [(header::ALLOW, HeaderValue::from_static("POST"))],
            )
                .into_response(),
        )),
    }
}

/// The answer to whoever names a session that is not theirs or has ended: begin anew.
pub fn unknown_session() -> Response {
    let refusal = Refusal::malformed(-32_600, "unknown_session");
    super::exchange::respond_refusal(&refusal.with_status(StatusCode::NOT_FOUND), None)
}

/// Answers a server's question with a refusal, since the client is not shown it.
pub async fn refuse_question(gate: Arc<Gate>, session: Arc<Session>, refusal: String) {
    let mut headers = session.headers();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    let sent = gate
        .upstream
        .ask(Method::POST, headers, None, Bytes::from(refusal));
    if let Err(error) = sent.await {
        tracing::warn!(%error, "A server's question could not be refused");
    }
}

/// Ends sessions that nobody uses any more, on both sides.
pub async fn reap(gate: Arc<Gate>) {
    let mut ticks = tokio::time::interval(REAP_TIME);
    loop {
        ticks.tick().await;
        for session in gate.sessions.take_idle(clock::monotonic_milliseconds()) {
            tracing::info!("A session that nobody used is ended");
            let sent = gate
                .upstream
                .ask(Method::DELETE, session.headers(), None, Bytes::new());
            if let Err(error) = sent.await {
                tracing::warn!(%error, "A session behind the door could not be ended");
            }
        }
    }
}
