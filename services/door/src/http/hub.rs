//! HTTP in front of a server on pipes, or of several servers of any kind.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use countersign_serve::guard::{self, Allowed};
use countersign_serve::{Problem, Verbatim};
use countersign_wire::{Frame, Kind};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::block_in_place;

use super::arrival::{Arrived, arrive};
use super::clients::Sent;
use super::events::Event;
use super::exchange::respond_refusal;
use super::house::{Guest, House};
use super::lost::{LostStream, Track};
use super::metadata::{self, unauthorized};
use super::mirrored;
use super::sessions::{SESSION, VERSION};
use super::streams::unknown_session;
use super::tokens::Identity;
use crate::caller::Caller;
use crate::clock;
use crate::judge::asked::Key;
use crate::judge::message::Message;
use crate::judge::refusal::{Code, Refusal};

/// What every message of the revision without sessions says of whoever sends it.
const REQUIRED_META: [&str; 2] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
];

/// HTTP in front of servers of a client's own.
pub struct Hub {
    /// Who calls.
    pub identity: Identity,
    /// The server's processes.
    pub house: House,
}

/// The routes.
pub fn router(hub: Arc<Hub>, allowed: Allowed) -> Router {
    Router::new()
        .route(
            "/mcp",
            post(post_message).get(get_stream).delete(delete_session),
        )
        .layer(DefaultBodyLimit::disable())
        .route("/health", get(countersign_serve::health))
        .merge(metadata::routes(&hub.identity))
        .with_state(hub)
        .layer(from_fn_with_state(
            Arc::new(allowed),
            guard::check_host_and_origin,
        ))
}

/// `POST /mcp`.
async fn post_message(State(hub): State<Arc<Hub>>, request: Request) -> Response {
    let Arrived {
        headers,
        body,
        caller,
    } = match arrive(&hub.identity, request).await {
        Ok(arrived) => arrived,
        Err(response) => return *response,
    };
    let message = match Message::new(&hub.house.door, &caller, 0, &body) {
        Ok(message) => message,
        Err(refusal) => return respond_refusal(&refusal, None),
    };
    let frame = match Frame::read(&body) {
        Ok(frame) => frame,
        Err(error) => return respond_refusal(&message.malformed(&error), error.id.as_deref()),
    };
    let refuse = |rule: &str, refusal: Refusal| {
        respond_refusal(&message.refuse(Some(&frame), rule, refusal), frame.id_raw())
    };
    if frame.kind() != Kind::Answer
        && let Err(refusal) = check_headers(&hub, &headers, &frame)
    {
        return refuse("headers", refusal);
    }
    match Place::of(&hub, &headers, &frame, &caller) {
        Ok(place) => {
            let terms = Terms::of(&headers, &frame);
            answer(&hub, place, terms, &frame, &body).await
        }
        Err(NoPlace::Unknown) => unknown_session(),
        Err(NoPlace::None) => refuse("sessions", Refusal::malformed(-32_600, "session_needed")),
        Err(NoPlace::Unreachable(error)) => {
            tracing::error!(%error, "A server could not be started");
            refuse("sessions", Refusal::new(Code::Upstream, "unreachable"))
        }
    }
}

/// Checks what headers repeat of a message. A server on pipes sees none of them, so this is where they count.
fn check_headers(hub: &Hub, headers: &HeaderMap, frame: &Frame<'_>) -> Result<(), Refusal> {
    mirrored::check(headers, frame)?;
    let is_call = frame.method() == Some("tools/call") && is_stateless(headers);
    let name = frame.params().filter(|_| is_call);
    let name = name.and_then(|params| params.get("name")?.as_str());
    let repeated = name.and_then(|name| {
        let (server, inner) = hub.house.door.resolve(&name)?;
        hub.house.door.servers[server].catalogue.repeated(inner)
    });
    match repeated {
        Some(repeated) => mirrored::check_arguments(headers, frame, &repeated),
        None => Ok(()),
    }
}

fn is_stateless(headers: &HeaderMap) -> bool {
    headers
        .get(VERSION)
        .is_some_and(|version| version == mirrored::STATELESS)
}

/// Which of the server's processes a message is for.
struct Place {
    guest: Arc<Guest>,
    /// The id the server is asked under, where clients share it.
    renamed: Option<Key>,
    /// The name of the session that begins.
    begun: Option<HeaderValue>,
}

enum NoPlace {
    Unknown,
    None,
    Unreachable(std::io::Error),
}

impl Place {
    fn of(
        hub: &Hub,
        headers: &HeaderMap,
        frame: &Frame<'_>,
        caller: &Caller,
    ) -> Result<Self, NoPlace> {
        let mut names = headers.get_all(SESSION).iter();
        match (names.next(), names.next()) {
            (Some(name), None) => {
                let guest = hub.house.find(name, caller).ok_or(NoPlace::Unknown)?;
                return Ok(Self {
                    guest,
                    renamed: None,
                    begun: None,
                });
            }
            (Some(_), Some(_)) => return Err(NoPlace::Unknown),
            (None, _) => {}
        }
        if frame.method() == Some("initialize") {
            let begun = block_in_place(|| hub.house.begin(caller));
            let (name, guest) = begun.map_err(NoPlace::Unreachable)?;
            return Ok(Self {
                guest,
                renamed: None,
                begun: Some(name),
            });
        }
        if !is_stateless(headers) {
            return Err(NoPlace::None);
        }
        let shared = block_in_place(|| hub.house.shared(caller));
        Ok(Self {
            guest: shared.map_err(NoPlace::Unreachable)?,
            renamed: Some(hub.house.next_key()),
            begun: None,
        })
    }
}

/// What the status of an answer depends on, besides the answer.
#[derive(Clone, Copy)]
struct Terms {
    /// The message is of the revision without sessions.
    is_stateless: bool,
    /// It does not say of itself what that revision wants said.
    is_unsaid: bool,
}

impl Terms {
    fn of(headers: &HeaderMap, frame: &Frame<'_>) -> Self {
        let meta = frame.params().and_then(|params| params.get("_meta"));
        let says = |name: &str| meta.is_some_and(|meta| meta.get(name).is_some());
        Self {
            is_stateless: is_stateless(headers),
            is_unsaid: !REQUIRED_META.iter().all(|name| says(name)),
        }
    }

    /// The status of an error with this code (revision 2026-07-28, "Streamable HTTP").
    const fn status(self, code: i64) -> StatusCode {
        match code {
            -32_601 if self.is_stateless => StatusCode::NOT_FOUND,
            -32_602 if self.is_stateless && self.is_unsaid => StatusCode::BAD_REQUEST,
            // Headers differ, a capability is missing, a revision is not served.
            -32_022..=-32_020 if self.is_stateless => StatusCode::BAD_REQUEST,
            -32_700 | -32_600 => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }
}

async fn answer(
    hub: &Hub,
    place: Place,
    terms: Terms,
    frame: &Frame<'_>,
    body: &Bytes,
) -> Response {
    let Place {
        guest,
        renamed,
        mut begun,
    } = place;
    let is_stateless = renamed.is_some();
    if frame.kind() != Kind::Request {
        if !is_stateless {
            pass(&guest, body, None);
        }
        // Without a session it is about nothing that anybody else may hear of.
        return StatusCode::ACCEPTED.into_response();
    }
    let Some(key) = renamed.clone().or_else(|| frame.id().map(Key::from)) else {
        return StatusCode::ACCEPTED.into_response();
    };
    let progress = frame
        .params()
        .and_then(|params| params.get("_meta")?.get("progressToken"))
        .and_then(|token| match token.as_str() {
            Some(text) => Some(Key::Text((*text).into())),
            None => token.as_exact_integer().map(Key::Integer),
        });
    let Some(mut sent) = guest.streams.wait_for(key.clone(), progress) else {
        let refusal = Refusal::malformed(-32_600, "id_in_use");
        return respond_refusal(&refusal, frame.id_raw());
    };
    let mut waiting = Waiting {
        guest: Arc::clone(&guest),
        key,
        is_stateless,
        is_answered: false,
    };
    pass(&guest, body, renamed);
    let mut response = match sent.recv().await {
        None => {
            let refusal = Refusal::new(Code::Upstream, "server_ended");
            respond_refusal(&refusal, frame.id_raw())
        }
        Some(Sent {
            message,
            is_answer: true,
        }) => {
            waiting.is_answered = true;
            let (response, is_error) = respond_json(message, terms);
            // A handshake that failed begins nothing.
            if is_error
                && let Some(name) = begun.take()
                && let Some(guest) = hub.house.take(&name)
            {
                tokio::task::spawn_blocking(move || guest.end());
            }
            response
        }
        Some(first) => respond_events(Told {
            first: Some(first),
            sent,
            // Without a session there is nothing to come back to.
            track: (!is_stateless).then(|| (Arc::clone(&guest), guest.lost.begin())),
            waiting: Some(waiting),
            is_read: false,
        }),
    };
    if let Some(name) = begun {
        response.headers_mut().insert(SESSION, name);
    }
    response
}

/// Hands a message over. A server that does not read may make this wait.
fn pass(guest: &Guest, body: &[u8], renamed: Option<Key>) {
    block_in_place(|| guest.traffic.take(body, renamed));
}

/// The response with an answer, and whether that is an error.
fn respond_json(message: Bytes, terms: Terms) -> (Response, bool) {
    let code = Frame::read_within(&message, &countersign_wire::Caps::ANSWER)
        .ok()
        .and_then(|frame| frame.root().get("error")?.get("code")?.as_exact_integer());
    let status = code.map_or(StatusCode::OK, |code| terms.status(code));
    let mut response = (
        status,
        [(header::CONTENT_TYPE, "application/json")],
        Body::from(message),
    )
        .into_response();
    response.extensions_mut().insert(Verbatim);
    (response, code.is_some())
}

fn respond_events(told: Told) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let mut response = (headers, Body::new(told)).into_response();
    response.extensions_mut().insert(Verbatim);
    response
}

/// `GET /mcp`: the stream of a session for whatever is about no question.
async fn get_stream(State(hub): State<Arc<Hub>>, request: Request) -> Response {
    match enter(&hub, request.headers()) {
        Ok((_, guest)) => respond_events(match guest.lost.take_up(request.headers()) {
            Some(lost) => Told::again(guest, lost),
            None => Told {
                first: None,
                sent: guest.streams.open(),
                waiting: None,
                track: None,
                is_read: false,
            },
        }),
        Err(response) => *response,
    }
}

/// `DELETE /mcp`: the client ends its session.
async fn delete_session(State(hub): State<Arc<Hub>>, request: Request) -> Response {
    match enter(&hub, request.headers()) {
        Ok((name, _)) => {
            if let Some(guest) = hub.house.take(&name) {
                tokio::task::spawn_blocking(move || guest.end());
            }
            StatusCode::ACCEPTED.into_response()
        }
        Err(response) => *response,
    }
}

fn enter(hub: &Hub, headers: &HeaderMap) -> Result<(HeaderValue, Arc<Guest>), Box<Response>> {
    let caller = hub
        .identity
        .verify(headers, clock::unix_seconds())
        .map_err(|_| Box::new(unauthorized(&hub.identity, headers)))?;
    let mut names = headers.get_all(SESSION).iter();
    match (names.next(), names.next()) {
        (None, _) => Err(Box::new(
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "session_needed",
                "This needs a session",
            )
            .into_response(),
        )),
        (Some(name), None) => match hub.house.find(name, &caller) {
            Some(guest) => Ok((name.clone(), guest)),
            None => Err(Box::new(unknown_session())),
        },
        _ => Err(Box::new(unknown_session())),
    }
}

/// Somebody who waits for an answer. In the revision without sessions hanging up takes the question
/// back.
struct Waiting {
    guest: Arc<Guest>,
    key: Key,
    is_stateless: bool,
    is_answered: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.guest.touch();
        if self.is_answered {
            return;
        }
        self.guest.streams.forget(&self.key);
        if self.is_stateless {
            let (guest, key) = (Arc::clone(&self.guest), self.key.clone());
            tokio::task::spawn_blocking(move || guest.traffic.abandon(&key));
        }
    }
}

/// What a client is told, event by event.
struct Told {
    first: Option<Sent>,
    sent: UnboundedReceiver<Sent>,
    waiting: Option<Waiting>,
    /// Its events, where the client may come back for what it has not read.
    track: Option<(Arc<Guest>, Track)>,
    /// The connection took all of it.
    is_read: bool,
}

impl Told {
    /// The stream of a client that comes back to it.
    fn again(guest: Arc<Guest>, lost: LostStream) -> Self {
        let waiting = Waiting {
            guest: Arc::clone(&guest),
            is_answered: lost.asked.is_none(),
            key: lost.asked.unwrap_or(Key::Integer(0)),
            is_stateless: false,
        };
        Self {
            first: None,
            sent: lost.sent,
            waiting: Some(waiting),
            track: Some((guest, lost.track)),
            is_read: false,
        }
    }

    fn is_answered(&self) -> bool {
        let waiting = self.waiting.as_ref();
        waiting.is_some_and(|waiting| waiting.is_answered)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let Some((guest, track)) = self.track.take() else {
            return;
        };
        if self.is_read || !track.is_known() || guest.is_over() {
            return;
        }
        // The client may come back: until then the question waits without it.
        let asked = self.waiting.take().and_then(|mut waiting| {
            let is_open = !std::mem::replace(&mut waiting.is_answered, true);
            is_open.then(|| waiting.key.clone())
        });
        let (_, nothing) = unbounded_channel();
        let sent = std::mem::replace(&mut self.sent, nothing);
        let given_up = guest.lost.keep(LostStream { track, sent, asked });
        if let Some(key) = given_up {
            guest.streams.forget(&key);
        }
    }
}

impl http_body::Body for Told {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let told = self.get_mut();
        let again = told.track.as_mut().and_then(|(_, track)| track.again());
        if let Some(event) = again {
            return Poll::Ready(Some(Ok(http_body::Frame::data(event))));
        }
        if told.is_answered() {
            told.is_read = true;
            return Poll::Ready(None);
        }
        let sent = match told.first.take() {
            Some(first) => Some(first),
            None => ready!(told.sent.poll_recv(context)),
        };
        let Some(sent) = sent else {
            told.is_read = true;
            return Poll::Ready(None);
        };
        if sent.is_answer
            && let Some(waiting) = &mut told.waiting
        {
            waiting.is_answered = true;
        }
        let event = match &mut told.track {
            Some((_, track)) => track.event(&sent.message),
            None => Event::of(&sent.message).into_raw().into(),
        };
        Poll::Ready(Some(Ok(http_body::Frame::data(event))))
    }
}
