//! The page itself: who may frame it, what it may load, and whom the listener answers.

use serde_json::json;

use crate::bank::{Bank, PANEL_ORIGIN, problem};

#[tokio::test]
async fn the_page_is_walled_in() {
    let bank = Bank::start().await;
    let page = bank
        .http
        .get(format!("{}/", bank.origin))
        .send()
        .await
        .expect("answer");
    assert_eq!(page.status(), 200);
    let header = |name: &str| page.headers()[name].to_str().expect("text").to_owned();
    assert_eq!(
        header("content-security-policy"),
        format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors {PANEL_ORIGIN}; require-trusted-types-for 'script'; trusted-types 'none'"
        )
    );
    assert_eq!(header("referrer-policy"), "same-origin");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("cache-control"), "no-store");
    assert!(page.headers().get("set-cookie").is_none());
    let html = page.text().await.expect("html");
    assert!(html.contains(&format!("data-panel-origin=\"{PANEL_ORIGIN}\"")));
    for (path, kind) in [
        ("/tokens.css", "text/css; charset=utf-8"),
        ("/chat/chat.css", "text/css; charset=utf-8"),
        ("/chat/chat.js", "text/javascript; charset=utf-8"),
    ] {
        let asset = bank
            .http
            .get(format!("{}{path}", bank.origin))
            .send()
            .await
            .expect("answer");
        assert_eq!(
            (asset.status().as_u16(), &asset.headers()["content-type"]),
            (200, &kind.parse().expect("header"))
        );
    }
    let missing = bank
        .http
        .get(format!("{}/chat/../secret", bank.origin))
        .send()
        .await
        .expect("answer");
    assert_eq!(problem(missing).await, (404, "not_found".to_owned()));
}

#[tokio::test]
async fn only_the_page_itself_may_call() {
    let bank = Bank::start().await;
    let url = format!("{}/redeem", bank.origin);
    let body = json!({"code": "x"});
    let port = bank.origin.rsplit(':').next().expect("port");
    let request = || bank.http.post(&url).json(&body);
    for (name, request) in [
        ("no origin", request()),
        ("the panel", request().header("origin", PANEL_ORIGIN)),
        ("null", request().header("origin", "null")),
        ("another", request().header("origin", "http://evil.example")),
        (
            "two",
            request()
                .header("origin", &bank.origin)
                .header("origin", &bank.origin),
        ),
        (
            "another site",
            request()
                .header("origin", &bank.origin)
                .header("sec-fetch-site", "cross-site"),
        ),
        (
            "another host",
            request()
                .header("origin", &bank.origin)
                .header("host", "evil.example"),
        ),
        (
            "another name of this machine",
            request()
                .header("origin", &bank.origin)
                .header("host", format!("localhost:{port}")),
        ),
    ] {
        let (status, code) = problem(request.send().await.expect("answer")).await;
        assert_eq!(status, 403, "{name}");
        assert!(
            code == "wrong_origin" || code == "wrong_host",
            "{name}: {code}"
        );
    }
    let framed = |dest: &'static str| {
        bank.http
            .get(format!("{}/", bank.origin))
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-dest", dest)
            .send()
    };
    assert_eq!(framed("iframe").await.expect("answer").status(), 200);
    assert_eq!(framed("document").await.expect("answer").status(), 403);
    let get = bank.http.get(&url).send().await.expect("answer");
    assert_eq!(problem(get).await, (405, "method_not_allowed".to_owned()));
    let health = bank
        .http
        .get(format!("{}/health", bank.origin))
        .send()
        .await
        .expect("answer");
    assert_eq!(health.text().await.expect("text"), r#"{"status":"ok"}"#);
}
