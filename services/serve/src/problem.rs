//! A refusal over HTTP: problem+json with a stable code.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

/// A refusal that a client can act on, as `application/problem+json`.
///
/// `type` is `urn:countersign:problem:<code>`. Code and title are fixed words of ours; `detail` is for the
/// person in front of the page and never holds an internal error, a path, SQL, or what somebody typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// A stable word for programs, such as `stale_card`.
    pub code: &'static str,
    /// What happened, in a few fixed words.
    pub title: &'static str,
    /// What to do about it; may be empty.
    pub detail: Cow<'static, str>,
}

impl Problem {
    /// A problem without detail.
    #[must_use]
    pub const fn new(status: StatusCode, code: &'static str, title: &'static str) -> Self {
        Self {
            status,
            code,
            title,
            detail: Cow::Borrowed(""),
        }
    }

    /// The same problem, saying what to do about it.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.detail = detail.into();
        self
    }

    /// 400: the request is not what this route reads.
    #[must_use]
    pub const fn bad_request(code: &'static str, title: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, title)
    }

    /// 401 `not_signed_in`: no session, or an ended one. It never says which.
    #[must_use]
    pub const fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "not_signed_in",
            "You are not signed in",
        )
    }

    /// 403 with its own code.
    #[must_use]
    pub const fn forbidden(code: &'static str, title: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, title)
    }

    /// 404 `not_found`: not there, or not yours. It never says which.
    #[must_use]
    pub const fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is nothing here")
    }

    /// 405 `method_not_allowed`.
    #[must_use]
    pub const fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "This address does not take this method",
        )
    }

    /// 409 with its own code.
    #[must_use]
    pub const fn conflict(code: &'static str, title: &'static str) -> Self {
        Self::new(StatusCode::CONFLICT, code, title)
    }

    /// 413 `too_large`.
    #[must_use]
    pub const fn too_large() -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            "The request is too large",
        )
    }

    /// 415 `unsupported_media_type`.
    #[must_use]
    pub const fn unsupported_media_type() -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "Send JSON as application/json",
        )
    }

    /// 422 with its own code: well formed, and refused.
    #[must_use]
    pub const fn unprocessable(code: &'static str, title: &'static str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, title)
    }

    /// 429 `too_many_requests`.
    #[must_use]
    pub const fn too_many_requests() -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_requests",
            "Too many requests; wait a little",
        )
    }

    /// 500 `internal`. The cause belongs in the log, at the place that knows it.
    #[must_use]
    pub const fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "Something went wrong on our side",
        )
    }

    /// 503 `busy`: a lock or a pool was not free in time. Nothing happened; asking again is safe.
    #[must_use]
    pub const fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            "Busy right now; it is safe to try again",
        )
    }

    /// The problem for a bare status that some library answered with.
    #[must_use]
    pub(crate) const fn for_status(status: StatusCode) -> Self {
        match status {
            StatusCode::UNAUTHORIZED => Self::unauthorized(),
            StatusCode::FORBIDDEN => Self::forbidden("forbidden", "This is not allowed"),
            StatusCode::NOT_FOUND => Self::not_found(),
            StatusCode::METHOD_NOT_ALLOWED => Self::method_not_allowed(),
            StatusCode::REQUEST_TIMEOUT => Self::new(
                status,
                "request_timeout",
                "The request did not arrive in time",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => Self::too_large(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::unsupported_media_type(),
            StatusCode::TOO_MANY_REQUESTS => Self::too_many_requests(),
            StatusCode::SERVICE_UNAVAILABLE => Self::busy(),
            status if status.as_u16() >= 500 => {
                Self::new(status, "internal", "Something went wrong on our side")
            }
            status => Self::new(status, "bad_request", "The request is not understood"),
        }
    }

    /// The stable name of this kind of problem.
    #[must_use]
    pub fn type_uri(&self) -> String {
        format!("urn:countersign:problem:{}", self.code)
    }

    /// The body, for answers that add members of their own.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let mut body = serde_json::json!({
            "type": self.type_uri(),
            "title": self.title,
            "status": self.status.as_u16(),
            "code": self.code,
        });
        if !self.detail.is_empty() {
            body["detail"] = self.detail.as_ref().into();
        }
        body
    }
}

/// When to ask again after 429 and 503, in seconds: a lock or a place is free soon, and no later than that by design.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.to_json().to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if matches!(
            self.status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        ) {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        response
    }
}
