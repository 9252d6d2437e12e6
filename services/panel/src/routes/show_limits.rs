//! `GET /limits`: how much may be sent, and what is left today.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use countersign_domain::{MinorUnits, Money, limits::left_today};
use countersign_execution::limit::{self, LimitName};
use countersign_store::{
    read::{self, limit::CurrencyLimits},
    session::begin,
};
use countersign_texts::Texts;

use crate::{
    app::App,
    page::{self, PageError, PageSession, Shell},
    session::Session,
    show::{self, Moment},
};

#[derive(Template)]
#[template(path = "limits.html")]
struct LimitsPage {
    shell: Shell,
    limits: Vec<Line>,
    names: Vec<(&'static str, &'static str)>,
    cooling: Vec<Change>,
    undo_seconds: i32,
    said: Option<&'static str>,
}

struct Change {
    action: String,
    label: &'static str,
    value: String,
    at: Moment,
}

struct Line {
    currency: &'static str,
    left_today: String,
    per_day: String,
    sent_today: String,
    waiting: String,
    pending_total: String,
    per_transfer: String,
    first_payment: String,
    step_up_over: String,
}

/// Shows the limits.
pub async fn show_limits(
    State(app): State<App>,
    PageSession(session): PageSession,
) -> Result<Response, PageError> {
    limits_page(&app, &session, None).await
}

/// The page, with a sentence about what was just typed.
pub async fn limits_page(
    app: &App,
    session: &Session,
    said: Option<&'static str>,
) -> Result<Response, PageError> {
    let (cooling, undo_seconds) = limit::cooling(&app.pool, &session.secret, session.texts)
        .await
        .map_err(page::act_error)?;
    let mut transaction = begin(&app.pool, &session.secret).await?;
    let limits = read::limit::all(&mut transaction)
        .await?
        .iter()
        .map(|of| line(of, session.texts))
        .collect();
    let page = LimitsPage {
        shell: Shell::signed_in(app, session, "/limits"),
        limits,
        names: LimitName::ALL
            .iter()
            .filter(|name| **name != LimitName::UndoSeconds)
            .map(|name| (name.text(), name.label()))
            .collect(),
        cooling: cooling
            .into_iter()
            .map(|change| Change {
                action: change.action.to_string(),
                label: change.label,
                value: change.value,
                at: show::moment(change.at),
            })
            .collect(),
        undo_seconds,
        said,
    };
    Ok(page::render(StatusCode::OK, &page))
}

fn line(of: &CurrencyLimits, texts: &Texts) -> Line {
    let shown = |amount: MinorUnits| {
        texts.money(Money {
            amount,
            currency: of.currency,
        })
    };
    Line {
        currency: of.currency.code(),
        left_today: shown(left_today(&of.limits, of.used.sent_today)),
        per_day: shown(of.limits.per_day),
        sent_today: shown(of.used.sent_today),
        waiting: shown(of.used.pending),
        pending_total: shown(of.limits.pending_total),
        per_transfer: shown(of.limits.per_transfer),
        first_payment: shown(of.limits.first_payment),
        step_up_over: shown(of.step_up_over),
    }
}
