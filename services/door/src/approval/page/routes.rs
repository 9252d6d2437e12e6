//! The endpoints of the page.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use countersign_receipts::{ApprovalWay, Approver, Hash};
use countersign_serve::{Json, Problem};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use super::Page;
use super::view::{Done, Listed, Whole};
use crate::approval::decision::{Choice, DecideError, Decision, HoldId, Why};
use crate::clock::Now;

/// How long a question for news waits at most.
const NEWS_WAIT: Duration = Duration::from_secs(20);

/// `POST /api/session`: a link's token for a session.
pub async fn post_session(
    State(page): State<Arc<Page>>,
    Json(body): Json<SessionBody>,
) -> Result<Response, Problem> {
    let now = Now::read().monotonic_milliseconds;
    let redeemed = page.links.redeem(&body.token, now).map_err(|error| {
        tracing::error!(%error, "Could not open a session of the approval page");
        Problem::internal()
    })?;
    let (session, approver) = redeemed.ok_or(Problem::forbidden(
        "link_used",
        "This link was used before, or is not the newest",
    ))?;
    Ok(axum::Json(serde_json::json!({"session": session, "approver": &*approver})).into_response())
}

/// Body of `POST /api/session`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionBody {
    token: String,
}

/// `GET /api/holds?after=N`: everything that is held; waits while nothing is newer than `N`.
pub async fn get_holds(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Query(query): Query<NewsQuery>,
) -> Result<Response, Problem> {
    let approver = approver(&page, &headers)?;
    let mut changes = page.holds.changes();
    if let Some(after) = query.after {
        let newer = changes.wait_for(|version| *version > after);
        tokio::select! {
            _ = tokio::time::timeout(NEWS_WAIT, newer) => {}
            () = countersign_serve::stopping() => {}
        }
    }
    // Read first: what changes in between is news for the next question.
    let version = *changes.borrow_and_update();
    let now = Now::read();
    let open: Vec<_> = page.holds.open();
    let holds: Vec<_> = open.iter().map(|seen| Listed::new(seen, now)).collect();
    let past: Vec<_> = page
        .holds
        .past()
        .into_iter()
        .take(20)
        .map(Done::from)
        .collect();
    Ok(axum::Json(serde_json::json!({
        "version": version,
        "approver": &*approver,
        "holds": holds,
        "past": past,
    }))
    .into_response())
}

/// Query of `GET /api/holds`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewsQuery {
    after: Option<u64>,
}

/// `GET /api/holds/{hold}`: everything about one held call.
pub async fn get_hold(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Path(hold): Path<String>,
) -> Result<Response, Problem> {
    approver(&page, &headers)?;
    let seen = page
        .holds
        .seen(&hold_id(&hold)?)
        .ok_or(Problem::not_found())?;
    Ok(axum::Json(Whole::new(&seen)).into_response())
}

/// `POST /api/holds/{hold}/decide`.
pub async fn post_decide(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Path(hold): Path<String>,
    Json(body): Json<DecideBody>,
) -> Result<Response, Problem> {
    let name = approver(&page, &headers)?;
    let decision = Decision {
        hold: hold_id(&hold)?,
        digest: body.digest,
        choice: body.choice.into(),
        approver: Approver {
            way: ApprovalWay::Page,
            name: name.to_string(),
        },
        note: body.note.filter(|note| !note.trim().is_empty()),
        commit: body.commit,
    };
    // The record may have to wait for the disk.
    let decided = tokio::task::spawn_blocking(move || {
        let mut past = page.holds.decide(decision, Now::read())?;
        if let Err(error) = page.holds.seal() {
            // It is decided all the same; only its receipt is not shown before a head covers it.
            tracing::error!(%error, "No head could be signed over a decision");
            past.leaf = None;
        }
        Ok(past)
    });
    match decided.await {
        Ok(Ok(past)) => Ok(axum::Json(Done::from(past)).into_response()),
        Ok(Err(error)) => Err(problem(&error)),
        Err(_) => Err(Problem::internal()),
    }
}

/// Body of `POST /api/holds/{hold}/decide`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecideBody {
    /// Of the call that was shown.
    digest: Hash,
    choice: ChoiceBody,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    commit: Option<String>,
}

/// What was chosen.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceBody {
    /// It goes on.
    Approve,
    /// It does not.
    Deny,
}

impl From<ChoiceBody> for Choice {
    fn from(choice: ChoiceBody) -> Self {
        match choice {
            ChoiceBody::Approve => Self::Approve,
            ChoiceBody::Deny => Self::Deny,
        }
    }
}

/// `POST /api/holds/{hold}/stop`: stops a countdown.
pub async fn post_stop(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Path(hold): Path<String>,
) -> Result<StatusCode, Problem> {
    let name = approver(&page, &headers)?;
    let by = Approver {
        way: ApprovalWay::Page,
        name: name.to_string(),
    };
    let stopped = page
        .holds
        .stop_countdown(&hold_id(&hold)?, &by, Now::read());
    stopped.map_err(|error| problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who asks: exactly one `Authorization: Bearer`, of a session that stands.
fn approver(page: &Page, headers: &HeaderMap) -> Result<Arc<str>, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let session = match (values.next(), values.next()) {
        (Some(value), None) => value
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("Bearer ")),
        _ => None,
    };
    let now = Now::read().monotonic_milliseconds;
    session
        .and_then(|session| page.links.approver(session, now))
        .ok_or(Problem::unauthorized())
}

pub fn hold_id(text: &str) -> Result<HoldId, Problem> {
    let mut hold = HoldId::default();
    hex::decode_to_slice(text, &mut hold).map_err(|_| Problem::not_found())?;
    Ok(hold)
}

/// Why a decision does not count, as an answer.
pub fn problem(error: &DecideError) -> Problem {
    match error {
        DecideError::Unknown => Problem::not_found(),
        DecideError::Final(why) => Problem::conflict(
            match why {
                Why::Released => "already_released",
                Why::Denied => "already_denied",
                Why::Expired => "already_expired",
                Why::Withdrawn => "already_withdrawn",
                Why::ShutDown => "door_stopped",
                Why::Changed => "changed_while_held",
            },
            "This call has been decided; a decision is final",
        ),
        DecideError::OtherCall => Problem::conflict(
            "other_call",
            "The decision names another call than the one that is held",
        ),
        DecideError::OtherCommit => Problem::conflict(
            "other_commit",
            "The decision names another commit than the one the call is about",
        ),
        DecideError::WrongWay => Problem::forbidden(
            "wrong_way",
            "The rule that holds this call takes no decision this way",
        ),
        DecideError::NotSigned(_) => Problem::unprocessable(
            "not_signed",
            "A decision needs a name, and a note of one short line at most",
        ),
        DecideError::NotRecorded(error) => {
            tracing::error!(%error, "A decision about a held call could not be recorded");
            Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "not_recorded",
                "The decision could not be recorded; the call stays held",
            )
        }
    }
}
