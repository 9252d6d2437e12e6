//! Who a request says it is for, and which page it comes from: exact lists, no patterns.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, Uri, header};

use crate::Problem;

/// The names a listener answers to and the pages that may call it. Compared byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Values of `Host`, port included, such as `localhost:8480`.
    pub hosts: Vec<String>,
    /// Values of `Origin`, such as `http://localhost:8480`.
    pub origins: Vec<String>,
}

impl Allowed {
    /// A page's own listener: its one origin, and the host of that origin.
    #[must_use]
    pub fn page(origin: &str) -> Arc<Self> {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        Arc::new(Self {
            hosts: vec![host.to_owned()],
            origins: vec![origin.to_owned()],
        })
    }
}

/// Middleware: exactly one `Host`, in the list; `Origin` absent, or exactly one and in the list; else 403.
///
/// A request line with an authority of its own (absolute form) must agree with `Host`. Against DNS
/// rebinding and against pages of other origins, whatever method they use.
pub async fn check_host_and_origin(
    State(allowed): State<Arc<Allowed>>,
    request: Request,
    next: Next,
) -> Response {
    match check(&allowed, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// What [`check_host_and_origin`] checks.
pub(crate) fn check(allowed: &Allowed, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    if !host_is_allowed(allowed, uri, headers) {
        return Err(wrong_host());
    }
    match only(headers, &header::ORIGIN) {
        Values::None => Ok(()),
        Values::One(origin) if allowed.origins.iter().any(|one| one.as_bytes() == origin) => Ok(()),
        _ => Err(wrong_origin()),
    }
}

/// Middleware for what changes state on behalf of a page: exactly one `Origin`, in the list, and what the
/// browser says of the request's site must be `same-origin` where it says anything; else 403.
///
/// For GET and HEAD it asks nothing, since browsers send no Origin with them and they change nothing.
pub async fn require_origin(
    State(allowed): State<Arc<Allowed>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let origin = only(request.headers(), &header::ORIGIN);
    let known = matches!(origin, Values::One(origin)
        if allowed.origins.iter().any(|one| one.as_bytes() == origin));
    let site = only(request.headers(), &SEC_FETCH_SITE);
    if known && matches!(site, Values::None | Values::One(b"same-origin")) {
        next.run(request).await
    } else {
        wrong_origin().into_response()
    }
}

/// Middleware for GETs of a page with a session: what the browser says of the request's site must be
/// `same-origin` or `none` (typed or bookmarked) where it says anything; else 403.
pub async fn check_fetch_site(request: Request, next: Next) -> Response {
    match only(request.headers(), &SEC_FETCH_SITE) {
        Values::None | Values::One(b"same-origin" | b"none") => next.run(request).await,
        _ => wrong_origin().into_response(),
    }
}

/// As [`check_fetch_site`], for the chat page: another site may load it, but only into a frame.
pub async fn check_framed_fetch_site(request: Request, next: Next) -> Response {
    let site = only(request.headers(), &SEC_FETCH_SITE);
    let framed = matches!(
        only(request.headers(), &SEC_FETCH_DEST),
        Values::One(b"iframe")
    );
    match site {
        Values::None | Values::One(b"same-origin" | b"none") => next.run(request).await,
        Values::One(b"cross-site" | b"same-site") if framed && request.method().is_safe() => {
            next.run(request).await
        }
        _ => wrong_origin().into_response(),
    }
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

const fn wrong_host() -> Problem {
    Problem::forbidden("wrong_host", "This server does not answer to that name")
}

const fn wrong_origin() -> Problem {
    Problem::forbidden("wrong_origin", "This page may not call this server")
}

fn host_is_allowed(allowed: &Allowed, uri: &Uri, headers: &HeaderMap) -> bool {
    let Values::One(host) = only(headers, &header::HOST) else {
        return false;
    };
    let agrees = uri
        .authority()
        .is_none_or(|authority| authority.as_str().as_bytes() == host);
    agrees && allowed.hosts.iter().any(|one| one.as_bytes() == host)
}

/// How often a header stands in a request. Two of a header that must be one are never "the first".
enum Values<'a> {
    None,
    One(&'a [u8]),
    Several,
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Values<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Values::None,
        (Some(value), None) => Values::One(value.as_bytes()),
        (Some(_), Some(_)) => Values::Several,
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::{from_fn, from_fn_with_state};
    use axum::routing::any;
    use http::StatusCode;
    use tower::ServiceExt;

    use super::*;

    async fn status(router: &Router, method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("request");
        router
            .clone()
            .oneshot(request)
            .await
            .expect("answer")
            .status()
            .as_u16()
    }

    fn guarded() -> Router {
        let allowed = Allowed::page("http://localhost:8480");
        Router::new()
            .route("/", any(|| async { StatusCode::OK }))
            .layer(from_fn_with_state(allowed.clone(), require_origin))
            .layer(from_fn_with_state(allowed, check_host_and_origin))
    }

    #[tokio::test]
    async fn only_the_exact_host_is_answered() {
        let router = guarded();
        assert_eq!(
            status(&router, "GET", "/", &[("host", "localhost:8480")]).await,
            200
        );
        for host in [
            "localhost",
            "localhost:8481",
            "LOCALHOST:8480",
            "localhost:8480.",
            "127.0.0.1:8480",
            "evil.example",
            "localhost:8480@evil.example",
            "localhost.evil.example:8480",
            "",
        ] {
            assert_eq!(
                status(&router, "GET", "/", &[("host", host)]).await,
                403,
                "{host}"
            );
        }
        assert_eq!(status(&router, "GET", "/", &[]).await, 403);
        let twice = [("host", "localhost:8480"), ("host", "localhost:8480")];
        assert_eq!(status(&router, "GET", "/", &twice).await, 403);
        let host = [("host", "localhost:8480")];
        assert_eq!(
            status(&router, "GET", "http://evil.example/", &host).await,
            403
        );
        assert_eq!(
            status(&router, "GET", "http://localhost:8480/", &host).await,
            200
        );
    }

    #[tokio::test]
    async fn a_foreign_origin_is_refused_for_every_method() {
        let router = guarded();
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://localhost:8481",
            "https://localhost:8480",
            "http://localhost:8480/",
            "http://localhost",
            "http://localhost.evil.example:8480",
            "http://127.0.0.1:8480",
        ] {
            for method in ["GET", "POST", "OPTIONS"] {
                let headers = [("host", "localhost:8480"), ("origin", origin)];
                assert_eq!(
                    status(&router, method, "/", &headers).await,
                    403,
                    "{method} {origin}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_change_needs_one_origin_and_the_same_site() {
        let router = guarded();
        let host = ("host", "localhost:8480");
        let origin = ("origin", "http://localhost:8480");
        assert_eq!(status(&router, "POST", "/", &[host]).await, 403);
        assert_eq!(status(&router, "POST", "/", &[host, origin]).await, 200);
        assert_eq!(
            status(&router, "POST", "/", &[host, origin, origin]).await,
            403
        );
        let same = ("sec-fetch-site", "same-origin");
        assert_eq!(
            status(&router, "POST", "/", &[host, origin, same]).await,
            200
        );
        let cross = ("sec-fetch-site", "cross-site");
        assert_eq!(
            status(&router, "POST", "/", &[host, origin, cross]).await,
            403
        );
    }

    #[tokio::test]
    async fn chat_may_be_framed_by_another_site_and_the_panel_may_not() {
        let panel = Router::new()
            .route("/", any(|| async {}))
            .layer(from_fn(check_fetch_site));
        let chat = Router::new()
            .route("/", any(|| async {}))
            .layer(from_fn(check_framed_fetch_site));
        let frame = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-dest", "iframe"),
        ];
        assert_eq!(status(&panel, "GET", "/", &frame).await, 403);
        assert_eq!(status(&chat, "GET", "/", &frame).await, 200);
        assert_eq!(status(&chat, "POST", "/", &frame).await, 403);
        assert_eq!(status(&chat, "GET", "/", &frame[..1]).await, 403);
        assert_eq!(
            status(&panel, "GET", "/", &[("sec-fetch-site", "none")]).await,
            200
        );
    }
}
