//! A JSON body whose refusals are problems and quote nothing.

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use http::StatusCode;
use serde::de::DeserializeOwned;

use crate::Problem;
use crate::finish::BodyTooSlow;

/// A JSON request body, as axum's, but every refusal is a [`Problem`] without a piece of the input:
/// 415 for another content type, 413 for a body over the route's limit, 408 for one that drips, 400 `invalid_json` for what is no
/// JSON and 422 `invalid_body` for JSON of another shape. Give the type `deny_unknown_fields`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match axum::Json::<T>::from_request(request, state).await {
            Ok(axum::Json(value)) => Ok(Self(value)),
            Err(JsonRejection::JsonDataError(_)) => Err(Problem::unprocessable(
                "invalid_body",
                "The JSON has not the expected members",
            )),
            Err(JsonRejection::JsonSyntaxError(_)) => {
                Err(Problem::bad_request("invalid_json", "The body is not JSON"))
            }
            Err(JsonRejection::MissingJsonContentType(_)) => Err(Problem::unsupported_media_type()),
            Err(other) if is_too_slow(&other) => {
                Err(Problem::for_status(StatusCode::REQUEST_TIMEOUT))
            }
            Err(other) => Err(Problem::for_status(other.status())),
        }
    }
}

fn is_too_slow(rejection: &JsonRejection) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(rejection);
    while let Some(error) = cause {
        if error.is::<BodyTooSlow>() {
            return true;
        }
        cause = error.source();
    }
    false
}
