//! Response headers of pages and of programs' answers.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Response headers to set on every answer of a router; see [`page_headers`].
///
/// `router.layer(axum::middleware::from_fn_with_state(page_headers(csp), headers::set))`
#[derive(Debug)]
pub struct ResponseHeaders(HeaderMap);

/// Headers of a page: the given Content-Security-Policy, `Cross-Origin-Opener-Policy` and
/// `Cross-Origin-Resource-Policy: same-origin`, `Referrer-Policy: same-origin` (`no-referrer` would turn the
/// Origin of a plain form POST into `null`), `nosniff`, a Permissions-Policy that gives everything away, and
/// `Cache-Control: no-store`, which a handler may replace for an asset that holds nobody's data. There is
/// no `Cross-Origin-Embedder-Policy`: it would block the chat frame.
///
/// # Panics
/// When `csp` is not a header value: a mistake in the caller's source.
#[must_use]
pub fn page_headers(csp: impl AsRef<str>) -> Arc<ResponseHeaders> {
    let mut map = plain_headers();
    map.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_str(csp.as_ref())
            .expect("a content security policy of visible characters"),
    );
    map.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    map.insert(
        "permissions-policy",
        HeaderValue::from_static(
            "accelerometer=(), autoplay=(), camera=(), clipboard-read=(), display-capture=(), \
             encrypted-media=(), fullscreen=(), geolocation=(), gyroscope=(), magnetometer=(), \
             microphone=(), midi=(), payment=(), picture-in-picture=(), screen-wake-lock=(), \
             serial=(), usb=(), xr-spatial-tracking=()",
        ),
    );
    Arc::new(ResponseHeaders(map))
}

/// [`page_headers`] of a page on whose behalf the browser itself may display a payment (Secure Payment Confirmation).
///
/// # Panics
/// As [`page_headers`].
#[must_use]
pub fn payment_page_headers(csp: impl AsRef<str>) -> Arc<ResponseHeaders> {
    let plain = page_headers(csp);
    let mut map = plain.0.clone();
    if let Some(policy) = map
        .get("permissions-policy")
        .and_then(|it| it.to_str().ok())
    {
        let policy = policy.replace("payment=()", "payment=(self)");
        map.insert(
            "permissions-policy",
            HeaderValue::from_str(&policy).expect("a policy of visible characters"),
        );
    }
    Arc::new(ResponseHeaders(map))
}

/// Headers of a service that serves programs, not pages: nothing may be framed, sniffed or cached.
#[must_use]
pub fn program_headers() -> Arc<ResponseHeaders> {
    let mut map = plain_headers();
    map.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    );
    Arc::new(ResponseHeaders(map))
}

fn plain_headers() -> HeaderMap {
    let mut map = HeaderMap::new();
    map.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    map.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    map.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    map.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    map
}

/// Middleware: sets the headers on every answer. Only `Cache-Control` of the handler's own stands.
pub async fn set(
    State(headers): State<Arc<ResponseHeaders>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in &headers.0 {
        if *name == header::CACHE_CONTROL && response.headers().contains_key(name) {
            continue;
        }
        response
            .headers_mut()
            .insert(HeaderName::clone(name), value.clone());
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_page_has_every_header_and_an_asset_may_be_cached() {
        let router = Router::new()
            .route("/", get(|| async { "page" }))
            .route(
                "/a.js",
                get(|| async { ([(header::CACHE_CONTROL, "max-age=60")], "asset") }),
            )
            .layer(axum::middleware::from_fn_with_state(
                page_headers("default-src 'none'"),
                set,
            ));
        let get = |path: &str| Request::get(path).body(Body::empty()).expect("request");
        let page = router.clone().oneshot(get("/")).await.expect("answer");
        for (name, value) in [
            ("content-security-policy", "default-src 'none'"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(
                page.headers().get(name).map(HeaderValue::as_bytes),
                Some(value.as_bytes())
            );
        }
        assert!(page.headers().contains_key("permissions-policy"));
        assert!(!page.headers().contains_key("cross-origin-embedder-policy"));
        let asset = router.oneshot(get("/a.js")).await.expect("answer");
        assert_eq!(asset.headers()[header::CACHE_CONTROL], "max-age=60");
    }
}
