//! Who may ask: the exact host, the page's own origin, no neighbour; and what every answer carries.

use reqwest::Response;
use serde_json::json;

use crate::bank::{Bank, CHAT_ORIGIN};

#[tokio::test]
async fn only_the_page_s_own_origin_changes_anything() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let url = format!("{}/chat-code", bank.origin);
    let post = || {
        bank.http
            .post(&url)
            .header("cookie", &ada.cookie)
            .json(&json!({}))
    };
    assert_eq!(post().send().await.unwrap().status(), 403, "no origin");
    for origin in [
        "null",
        CHAT_ORIGIN,
        "http://localhost",
        "https://evil.example",
        "http://127.0.0.1:8480",
    ] {
        assert_eq!(
            post()
                .header("origin", origin)
                .send()
                .await
                .unwrap()
                .status(),
            403,
            "{origin}"
        );
    }
    let neighbour = post()
        .header("origin", &bank.origin)
        .header("sec-fetch-site", "same-site");
    assert_eq!(neighbour.send().await.unwrap().status(), 403);
    assert_eq!(
        post()
            .header("origin", &bank.origin)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    assert_eq!(bank.count("SELECT count(*) FROM bank.chat_code").await, 1);
}

#[tokio::test]
async fn another_site_cannot_even_read_and_another_host_is_not_answered() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    for site in ["cross-site", "same-site"] {
        let answer = bank
            .get("/")
            .header("cookie", &ada.cookie)
            .header("sec-fetch-site", site);
        assert_eq!(answer.send().await.unwrap().status(), 403, "{site}");
    }
    for site in ["none", "same-origin"] {
        let answer = bank
            .get("/")
            .header("cookie", &ada.cookie)
            .header("sec-fetch-site", site);
        assert_eq!(answer.send().await.unwrap().status(), 200, "{site}");
    }
    let port = bank.origin.rsplit(':').next().unwrap();
    for host in [
        format!("127.0.0.1:{port}"),
        "localhost".to_owned(),
        format!("evil.example:{port}"),
    ] {
        let answer = bank.get("/").header("host", &host).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{host}");
    }
}

fn check_headers(answer: &Response, what: &str) {
    let header = |name: &str| {
        answer
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap())
    };
    let csp = header("content-security-policy").unwrap_or_else(|| panic!("{what} has no CSP"));
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        &format!("frame-src {CHAT_ORIGIN}"),
    ] {
        assert!(
            csp.split("; ").any(|one| one == part),
            "{what}: {part} in {csp}"
        );
    }
    assert!(!csp.contains("unsafe"), "{what}");
    assert_eq!(
        header("cross-origin-opener-policy"),
        Some("same-origin"),
        "{what}"
    );
    assert_eq!(
        header("cross-origin-resource-policy"),
        Some("same-origin"),
        "{what}"
    );
    assert_eq!(header("referrer-policy"), Some("same-origin"), "{what}");
    assert_eq!(header("x-content-type-options"), Some("nosniff"), "{what}");
    assert_eq!(header("cross-origin-embedder-policy"), None, "{what}");
    assert_eq!(header("access-control-allow-origin"), None, "{what}");
}

#[tokio::test]
async fn every_answer_carries_the_page_s_policy() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let home = ada.get("/").await;
    check_headers(&home, "home");
    let html = home.text().await.unwrap();
    let script = html
        .split('"')
        .find(|part| part.ends_with("/panel/main.js"))
        .unwrap()
        .to_owned();
    for path in [
        "/accounts",
        "/nowhere",
        "/receipts/act_1",
        "/api/cards",
        "/assets/0/panel/main.js",
        &script,
    ] {
        check_headers(&ada.get(path).await, path);
    }
    assert_eq!(
        ada.get("/api/cards").await.headers()["cache-control"],
        "no-store"
    );
    assert!(
        ada.get(&script).await.headers()["cache-control"]
            .to_str()
            .unwrap()
            .contains("immutable")
    );
    check_headers(&bank.get("/").send().await.unwrap(), "sign in");
    check_headers(
        &bank.post("/login", &json!({})).send().await.unwrap(),
        "a bad login",
    );
    for inline in [" style=", " onclick=", "javascript:", "<script>"] {
        assert!(!html.contains(inline), "{inline}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_the_expected_one_changes_nothing() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    ada.writes("Send 20 to Bob").await;
    let asked = ada.is_asked(Some("Bob Smith"), Some(2_000)).await;
    let path = format!("/api/actions/{}/cancel", asked.text());
    for (body, wanted) in [
        (r#"{"version":1,"note":"x"}"#, 422),
        (r#"{"version":1,"version":1}"#, 422),
        (r#"{"version":"1"}"#, 422),
        (r#"{"version":1.5}"#, 422),
        (r#"{}"#, 422),
        ("version=1", 400),
        ("", 400),
    ] {
        let answer = bank
            .http
            .post(format!("{}{path}", bank.origin))
            .header("origin", &bank.origin)
            .header("cookie", &ada.cookie)
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), wanted, "{body}");
    }
    let form = bank
        .http
        .post(format!("{}{path}", bank.origin))
        .header("origin", &bank.origin)
        .header("cookie", &ada.cookie)
        .header("content-type", "text/plain")
        .body(r#"{"version":1}"#);
    assert_eq!(form.send().await.unwrap().status(), 415);
    let long = json!({"version": 1, "note": "x".repeat(20_000)});
    assert_eq!(ada.post(&path, &long).await.status(), 413);
    assert_eq!(ada.card(&asked).await["state"], "pending");
}
