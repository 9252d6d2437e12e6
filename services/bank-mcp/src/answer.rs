//! What a tool says about a request.

use countersign_domain::{ActionId, ActionKind};
use countersign_pending::{RequestStatus, Requested};
use serde::Serialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::Untrusted;

/// The answer of a request tool: what the customer now has before them. It never says that anything was done.
#[derive(Debug, Serialize)]
pub struct RequestAnswer {
    status: &'static str,
    action: ActionId,
    kind: ActionKind,
    /// The bank's words, but they may quote a payee's name, and those are chosen by outsiders.
    summary: Untrusted,
    open_slots: Vec<&'static str>,
    superseded: Option<ActionId>,
}

impl From<Requested> for RequestAnswer {
    fn from(requested: Requested) -> Self {
        let (status, waiting) = match requested {
            Requested::Waiting(waiting) => ("waiting_for_customer", waiting),
            Requested::AlreadyWaiting(waiting) => ("already_waiting", waiting),
        };
        Self {
            status,
            action: waiting.action,
            kind: waiting.kind,
            summary: waiting.summary.into(),
            open_slots: waiting.open_slots,
            superseded: waiting.superseded,
        }
    }
}

/// A request as the status tools show it.
#[derive(Debug, Serialize)]
pub struct RequestView {
    action: ActionId,
    kind: ActionKind,
    status: &'static str,
    summary: Untrusted,
    open_slots: Vec<&'static str>,
    created: String,
    expires: String,
    superseded_by: Option<ActionId>,
}

impl From<RequestStatus> for RequestView {
    fn from(request: RequestStatus) -> Self {
        Self {
            action: request.action,
            kind: request.kind,
            status: request.status(),
            summary: request.summary.into(),
            open_slots: request.open_slots,
            created: moment(request.created_at),
            expires: moment(request.expires_at),
            superseded_by: request.superseded_by,
        }
    }
}

/// A moment in RFC 3339, in UTC, to the second.
fn moment(at: OffsetDateTime) -> String {
    let whole = at.replace_nanosecond(0).unwrap_or(at);
    whole.format(&Rfc3339).unwrap_or_default()
}
