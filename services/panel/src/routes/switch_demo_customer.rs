//! `POST /demo/switch`: the demo's picker. Outside the demo the route does not exist.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_domain::CustomerId;
use countersign_serve::{Json, Problem};
use serde::Deserialize;

use crate::{
    app::App,
    cookie,
    session::{self, Session},
};

/// Who to become.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    customer: CustomerId,
}

/// Ends the session and begins one of another of the demo's customers. Needs a live session: without the
/// printed address nobody is anybody here.
pub async fn switch_demo_customer(
    State(app): State<App>,
    session: Session,
    Json(input): Json<Input>,
) -> Response {
    let listed = app
        .demo
        .as_ref()
        .is_some_and(|demo| demo.customers.iter().any(|one| one.id == input.customer));
    if !listed {
        return Problem::not_found().into_response();
    }
    match session::switch(&app.pool, &session, input.customer).await {
        Ok(secret) => {
            app.wakes.end(session.secret.hash());
            let cookie = cookie::set(&secret, session::SESSION_SECONDS);
            (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
        }
        Err(error) => session::problem("switch the demo's customer", &error).into_response(),
    }
}
