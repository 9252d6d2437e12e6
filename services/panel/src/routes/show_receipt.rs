//! `GET /receipts/{act}`, `GET /receipts/{act}.json` and `…/{act}-undo.json`: one receipt, for people and for `countersign-verify`,
//! and the receipt of its undo.
//!
//! A receipt is shown only once a signed head of the bank's log holds it, which takes about a second.

use std::time::Duration;

use askama::Template;
use axum::{
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_domain::ActionId;
use countersign_execution::{
    ActError,
    receipt::{self, ReceiptView, StepUpMark},
};
use countersign_receipts::Receipt;
use countersign_serve::Problem;

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    refusal::{Refusal, action_id},
    session::Session,
    show::{self, Moment},
};

/// How often the receipt is asked for again while the log's head is not signed yet.
const TRIES: u32 = 20;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(150);
/// Labels of the record's display that are no rows.
const NOT_ROWS: [&str; 3] = ["title", "button", "warning"];

#[derive(Template)]
#[template(path = "receipt.html")]
struct ReceiptPage {
    shell: Shell,
    action: ActionId,
    title: String,
    rows: Vec<(String, String)>,
    warnings: Vec<String>,
    note: Option<String>,
    at: Moment,
    on_its_way: bool,
    undo_until: Option<Moment>,
    undone: Option<Undone>,
    step_up: Option<StepUpMark>,
    short_code: String,
    confirm_hash: String,
    executed_hash: String,
    leaf_index: u64,
    checkpoint: String,
}

struct Undone {
    at: Moment,
    /// Somebody said "this was not me" with the link of a notice.
    by_notice: bool,
}

/// Which receipt of an action is handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Confirmation,
    Undo,
}

/// Shows a receipt as a page, or hands out the file when the address ends in `.json`.
pub async fn show_receipt(
    State(app): State<App>,
    PageSession(session): PageSession,
    Path(name): Path<String>,
) -> Response {
    match name.strip_suffix(".json") {
        Some(name) => match name.strip_suffix("-undo") {
            Some(action) => download(&app, &session, action, Which::Undo).await,
            None => download(&app, &session, name, Which::Confirmation).await,
        }
        .into_response(),
        None => show_page(&app, &session, &name).await.into_response(),
    }
}

async fn show_page(app: &App, session: &Session, name: &str) -> Result<Response, PageError> {
    let action: ActionId = name.parse().map_err(|_| PageError::NotFound)?;
    let (view, proof) = load_sealed(app, session, action)
        .await
        .map_err(page::act_error)?;
    let Some(proof) = proof else {
        return Ok(page::not_sealed());
    };
    let display = &view.record.display;
    let pick = |label: &str| {
        display
            .iter()
            .filter(|row| row.label == label)
            .map(|row| row.value.clone())
            .collect::<Vec<_>>()
    };
    let rows = display
        .iter()
        .filter(|row| !NOT_ROWS.contains(&row.label.as_str()))
        .map(|row| (row.label.clone(), row.value.clone()))
        .collect();
    let page = ReceiptPage {
        shell: Shell::signed_in(app, session, "/receipts"),
        action,
        title: pick("title").into_iter().next().unwrap_or_default(),
        rows,
        warnings: pick("warning"),
        note: (!view.note.is_empty()).then(|| view.note.clone()),
        at: show::moment(view.executed_at),
        on_its_way: view.posted == Some(false),
        undo_until: view.undo_until.map(show::moment),
        undone: view.undone.as_ref().map(|undone| Undone {
            at: show::moment(undone.at),
            by_notice: undone.how == "not_me",
        }),
        step_up: view.step_up.clone(),
        short_code: view.short_code.clone(),
        confirm_hash: view.confirm_hash.clone(),
        executed_hash: view.executed_hash.clone(),
        leaf_index: proof.leaf_index,
        checkpoint: proof.checkpoint.clone(),
    };
    Ok(page::render(StatusCode::OK, &page))
}

async fn download(
    app: &App,
    session: &Session,
    action: &str,
    which: Which,
) -> Result<Response, Refusal> {
    let action = action_id(action)?;
    let (view, proof) = load_sealed(app, session, action)
        .await
        .map_err(|error| Refusal::of("load a receipt", error))?;
    let (proof, of) = match which {
        Which::Confirmation => (proof, ""),
        Which::Undo => (view.undone.ok_or(Problem::not_found())?.proof, "-undo"),
    };
    let proof = proof.ok_or(Problem::busy())?;
    let mut response = axum::Json(proof).into_response();
    let name = format!("attachment; filename=\"receipt-{action}{of}.json\"");
    if let Ok(name) = HeaderValue::from_str(&name) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// Loads a receipt and waits a moment for its proof.
async fn load_sealed(
    app: &App,
    session: &Session,
    action: ActionId,
) -> Result<(ReceiptView, Option<Receipt>), ActError> {
    let mut view = receipt::load(&app.pool, &session.secret, action).await?;
    for _ in 0..TRIES {
        let undo_is_sealed = view
            .undone
            .as_ref()
            .is_none_or(|undone| undone.proof.is_some());
        if view.proof.is_some() && undo_is_sealed {
            break;
        }
        tokio::time::sleep(PAUSE).await;
        view = receipt::load(&app.pool, &session.secret, action).await?;
    }
    let proof = view.proof.take();
    Ok((view, proof))
}
