//! A JSON body whose refusals are problems and quote nothing.

use std::fmt;
use std::marker::PhantomData;

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use http::StatusCode;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

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
        match axum::Json::<Members<T>>::from_request(request, state).await {
            Ok(axum::Json(Members(value))) => Ok(Self(value)),
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

/// What to answer when a body could not be read whole: 408 for one that drips, 413 otherwise.
pub fn unread_body(error: &(dyn std::error::Error + 'static)) -> Problem {
    if is_too_slow(error) {
        Problem::for_status(StatusCode::REQUEST_TIMEOUT)
    } else {
        Problem::too_large()
    }
}

/// A value with names. A list in its place, which serde would take for the members in order, is none.
struct Members<T>(T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Members<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Members)
    }
}

fn is_too_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<BodyTooSlow>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Press {
        version: i32,
        note: String,
    }

    async fn read(body: &'static str) -> Result<Press, &'static str> {
        let request = Request::builder()
            .header("content-type", "application/json")
            .body(axum::body::Body::from(body))
            .expect("a request");
        match Json::<Press>::from_request(request, &()).await {
            Ok(Json(press)) => Ok(press),
            Err(problem) => Err(problem.code),
        }
    }

    #[tokio::test]
    async fn members_have_names_and_no_places() {
        let press = read(r#"{"note":"x","version":1}"#).await.expect("a press");
        assert_eq!((press.version, press.note.as_str()), (1, "x"));
        for body in [
            r#"[1,"x"]"#,
            r#"[{"version":1,"note":"x"}]"#,
            r#""x""#,
            "null",
            "{}",
            r#"{"version":1,"note":"x","version":1}"#,
            r#"{"version":1,"note":"x","more":1}"#,
        ] {
            assert_eq!(read(body).await.expect_err(body), "invalid_body", "{body}");
        }
        assert_eq!(read("{").await.expect_err("no JSON"), "invalid_json");
    }
}
