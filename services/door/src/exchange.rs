//! One message from a client: the checks in their order, the record, the forward, the answer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign_policy::{Call, Counted, Decision, Effect, Live};
use countersign_receipts::Hash;
use countersign_serve::{Problem, Verbatim};
use countersign_wire::{Frame, Kind};
use http::{HeaderMap, StatusCode, header};
use http_body::Body as _;
use hyper::body::Incoming;

use crate::answer::{Ending, Relayed};
use crate::catalogue::Catalogue;
use crate::clock;
use crate::door::{Door, ForwardError, is_event_stream};
use crate::lists::{self, Answered, ListError};
use crate::methods::{self, List, Route};
use crate::mirrored;
use crate::record::{Decided, Subject};
use crate::refusal::{Code, Refusal};
use crate::session::Caller;
use crate::upstream::{forwarded_headers, read_whole, returned_headers};

/// Longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// `POST /mcp`.
pub async fn post_message(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        return Problem::unsupported_media_type().into_response();
    }
    // A length that is announced is believed when it is too large.
    if body.size_hint().lower() > MESSAGE_BYTES_MAX as u64 {
        return Problem::too_large().into_response();
    }
    let body = match axum::body::to_bytes(body, MESSAGE_BYTES_MAX).await {
        Ok(body) => body,
        Err(error) => return unread(&error),
    };
    let frame = Frame::read(&body);
    let caller = match door.sessions.verify(&parts.headers, clock::unix_seconds()) {
        Ok(caller) => caller,
        Err(reason) => {
            // A malformed message is answered as one, whoever sent it; there is nobody to record.
            if let Err(error) = &frame {
                return malformed(error.code(), "malformed").respond(error.id.as_deref());
            }
            tracing::warn!(%reason, "Refused a message without a good session token");
            return unauthorized();
        }
    };
    let Ok(call) = clock::random_id() else {
        return Refusal::new(Code::NotRecorded, "not_recorded").respond(None);
    };
    let message = Message {
        door: &door,
        caller: &caller,
        call: &call,
        body: &body,
        headers: &parts.headers,
    };
    if let Err(response) = message.count() {
        return *response;
    }
    match &frame {
        Ok(frame) => match message.pass(frame).await {
            Ok(response) => response,
            Err(refusal) => refusal.respond(frame.id_raw()),
        },
        Err(error) => message
            .refuse(None, "frame", malformed(error.code(), "malformed"))
            .respond(error.id.as_deref()),
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

fn unauthorized() -> Response {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "A valid session token is needed",
    )
    .into_response()
}

fn malformed(code: i32, reason: &str) -> Refusal {
    Refusal::new(Code::Malformed(code), reason)
}

/// A message whose sender is known.
struct Message<'a> {
    door: &'a Arc<Door>,
    caller: &'a Caller,
    call: &'a [u8; 16],
    body: &'a Bytes,
    headers: &'a HeaderMap,
}

impl<'a> Message<'a> {
    /// Counts the message. A flood of refused ones must not fill the disk with their record.
    fn count(&self) -> Result<(), Box<Response>> {
        let now = clock::monotonic_milliseconds();
        let identity = &self.caller.identity;
        match self
            .door
            .policy
            .take_message(identity, now, &self.door.rates)
        {
            Counted::Within => return Ok(()),
            Counted::FirstBeyond => {
                tracing::warn!(%identity, "Refused a flood of messages of {identity}");
                let refusal = Refusal::new(Code::Blocked, "flood");
                self.refuse(None, "message_rate_per_minute", refusal);
            }
            Counted::Beyond => {}
        }
        Err(Box::new(Problem::too_many_requests().into_response()))
    }

    async fn pass(&self, frame: &Frame<'_>) -> Result<Response, Refusal> {
        if frame.kind() == Kind::Answer {
            return Err(self.refuse(
                Some(frame),
                "frame",
                malformed(-32_600, "answer_not_asked_for"),
            ));
        }
        if let Err(refusal) = mirrored::check(self.headers, frame) {
            return Err(self.refuse(Some(frame), "headers", refusal));
        }
        let method = frame.method().unwrap_or_default();
        match methods::route(method) {
            Route::Plumbing => {
                let leaf = self.write(&Decided::plumbing(&self.subject(frame)))?;
                self.forward(leaf).await
            }
            Route::List(list) => {
                let leaf = self.write(&Decided::plumbing(&self.subject(frame)))?;
                self.forward_list(leaf, frame, list).await
            }
            Route::CallTool => self.call_tool(frame).await,
            Route::Decided => {
                let decision = self.door.policy.decide_method(
                    method,
                    frame.params(),
                    &self.caller.identity,
                    clock::monotonic_milliseconds(),
                    &self.door.rates,
                );
                let leaf = self.bind(&self.subject(frame), &decision)?;
                self.forward(leaf).await
            }
        }
    }

    async fn call_tool(&self, frame: &Frame<'_>) -> Result<Response, Refusal> {
        let params = frame.params();
        let name = params
            .and_then(|params| params.get("name"))
            .and_then(|name| name.as_str());
        let Some(name) = name else {
            return Err(self.refuse(Some(frame), "frame", malformed(-32_602, "missing_name")));
        };
        let arguments = params.and_then(|params| params.get("arguments"));
        if arguments.is_some_and(|arguments| !arguments.is_object()) {
            let refusal = malformed(-32_602, "arguments_not_an_object");
            return Err(self.refuse(Some(frame), "frame", refusal));
        }
        let live = match self.door.live(&name, self.caller).await {
            Ok(live) => live,
            Err(error) => {
                tracing::warn!(%error, "The tools behind the door cannot be listed");
                let refusal = Refusal::new(Code::Blocked, "definitions_unavailable");
                return Err(self.refuse(Some(frame), "pin", refusal));
            }
        };
        let decision = self.door.policy.decide_call(
            &Call {
                server: self.door.upstream.name(),
                name: &name,
                arguments,
                live,
                identity: &self.caller.identity,
                now_milliseconds: clock::monotonic_milliseconds(),
            },
            &self.door.rates,
        );
        let mut subject = self.subject(frame);
        if let Live::Offered(pin) = live {
            subject.definition = Some(pin.to_string());
        }
        let leaf = self.bind(&subject, &decision)?;
        self.forward(leaf).await
    }

    fn subject<'s>(&'s self, frame: &'s Frame<'s>) -> Subject<'s>
    where
        'a: 's,
    {
        self.door
            .subject(self.caller, self.call, self.body, Some(frame))
    }

    /// Writes a line down, or refuses the call.
    fn write(&self, line: &Decided<'_>) -> Result<Hash, Refusal> {
        self.door.log.append(line).map_err(|error| {
            tracing::error!(%error, "Could not record a decision");
            Refusal::new(Code::NotRecorded, "not_recorded")
        })
    }

    /// Writes a decision down and gives its leaf back when the call may go on.
    fn bind(&self, subject: &Subject<'_>, decision: &Decision<'_>) -> Result<Hash, Refusal> {
        let leaf = self.write(&Decided::new(subject, decision))?;
        let code = match decision.effect {
            Effect::Allow => return Ok(leaf),
            Effect::Deny => Code::Blocked,
            // There is no approver yet, so what needs one is refused.
            Effect::Hold => Code::ApprovalNeeded,
        };
        Err(Refusal::new(code, decision.reason.code())
            .with_rule(decision.rule)
            .with_argument(decision.argument)
            .with_receipt(leaf))
    }

    /// Writes down a refusal that the policy was not asked about.
    fn refuse(&self, frame: Option<&Frame<'_>>, rule: &str, refusal: Refusal) -> Refusal {
        let subject = self.door.subject(self.caller, self.call, self.body, frame);
        let line = Decided::refused(&subject, rule, refusal.reason());
        match self.write(&line) {
            Ok(leaf) => refusal.with_rule(rule).with_receipt(leaf),
            Err(not_recorded) => not_recorded,
        }
    }

    async fn send(&self, leaf: Hash) -> Result<(http::Response<Incoming>, Ending), Refusal> {
        let mut ending = Ending::of(Arc::clone(&self.door.log), leaf);
        let headers = forwarded_headers(self.headers);
        let sent = self
            .door
            .send(headers, self.caller, self.call, leaf, self.body.clone());
        match sent.await {
            Ok(answer) => {
                ending.head(answer.status().as_u16());
                Ok((answer, ending))
            }
            Err(error) => {
                ending.failed();
                tracing::warn!(%error, "A call did not reach the server behind the door");
                let refusal = match error {
                    ForwardError::NotRecorded(_) => Refusal::new(Code::NotRecorded, "not_signed"),
                    ForwardError::Upstream(error) if error.was_not_sent() => {
                        Refusal::new(Code::Upstream, "unreachable")
                    }
                    // It may have run: nobody here sends it again.
                    _ => Refusal::new(Code::Upstream, "outcome_unknown"),
                };
                Err(refusal.with_receipt(leaf))
            }
        }
    }

    /// Forwards the message as it came and passes the answer on as it arrives.
    async fn forward(&self, leaf: Hash) -> Result<Response, Refusal> {
        let (answer, ending) = self.send(leaf).await?;
        let (head, body) = answer.into_parts();
        Ok(respond(
            head.status,
            &head.headers,
            Body::new(Relayed::new(body, ending)),
        ))
    }

    /// Forwards a question for a list, and answers with what would pass.
    async fn forward_list(
        &self,
        leaf: Hash,
        frame: &Frame<'_>,
        list: List,
    ) -> Result<Response, Refusal> {
        let (answer, mut ending) = self.send(leaf).await?;
        let (head, body) = answer.into_parts();
        let whole = read_whole(body).await.map_err(|error| {
            ending.failed();
            tracing::warn!(%error, "A list could not be read whole");
            Refusal::new(Code::Upstream, "outcome_unknown").with_receipt(leaf)
        })?;
        ending.answered(whole.len() as u64);
        let id = frame.id_raw().unwrap_or_default();
        let shown = if is_event_stream(&head.headers) {
            lists::in_events(&whole, |data| self.cut(data, id, list)).map(Bytes::from)
        } else {
            self.cut(&whole, id, list)
                .map(|cut| cut.map_or(whole, Bytes::from))
        };
        match shown {
            Ok(shown) => Ok(respond(head.status, &head.headers, Body::from(shown))),
            Err(error) => {
                tracing::warn!(%error, status = %head.status, "A list is not shown");
                let refusal = Refusal::new(Code::Upstream, "unreadable_list").with_receipt(leaf);
                Err(match head.status.is_success() {
                    true => refusal,
                    false => refusal.with_status(head.status),
                })
            }
        }
    }

    /// Takes in what a page says and cuts it down to what would pass.
    fn cut(&self, data: &[u8], id: &str, list: List) -> Result<Option<Vec<u8>>, ListError> {
        let page = match lists::read(data, id, list)? {
            Answered::Page(page) => page,
            Answered::Error => return Ok(None),
        };
        if let Some(reader) = list.read_by {
            let readable = self.door.policy.names_method(reader);
            return Ok(page.cut(data, |_| readable));
        }
        let changed = self.door.catalogue.merge(&page.entries);
        if let Err(error) = self.door.note_changes(&changed) {
            tracing::error!(%error, "Could not record a changed definition");
            return Err(ListError::Malformed);
        }
        let server = self.door.upstream.name();
        Ok(page.cut(data, |entry| {
            entry.name.as_deref().is_some_and(|name| {
                let live = Catalogue::on_page(&page.entries, name);
                self.door.policy.would_pass(server, name, live)
            })
        }))
    }
}

fn respond(status: StatusCode, headers: &HeaderMap, body: Body) -> Response {
    let mut response = body.into_response();
    *response.status_mut() = status;
    response.headers_mut().extend(returned_headers(headers));
    response.extensions_mut().insert(Verbatim);
    response
}
