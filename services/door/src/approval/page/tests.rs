use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use crate::approval::decision::Why;
use crate::approval::record::Record;
use crate::approval::terms::Terms;
use crate::approval::testing::{ALL, Memory, Told, ask, webhook_secret, webhook_signature};
use crate::clock::Now;

const ADDRESS: &str = "127.0.0.1:8499";
const ORIGIN: &str = "http://127.0.0.1:8499";

struct Stand {
    memory: Arc<Memory>,
    page: Arc<Page>,
    router: Router,
    told: Told,
}

impl Stand {
    fn new() -> Self {
        let memory = Memory::new();
        let holds = Arc::new(Holds::new(Arc::clone(&memory) as Arc<dyn Record>, ALL));
        let page = Arc::new(Page {
            holds,
            links: Links::new(ORIGIN.into(), None),
            webhook: Some(Webhook::new(&webhook_secret(7)).unwrap()),
        });
        let router = router(Arc::clone(&page), ADDRESS.parse().unwrap());
        let told = Told::new();
        let now = Now::read();
        page.holds
            .hold(ask(1, now, Terms::DEFAULT, &told), now)
            .unwrap();
        Self {
            memory,
            page,
            router,
            told,
        }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (StatusCode, Value) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (
            head.status,
            serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        )
    }

    async fn post(&self, path: &str, session: &str, body: &Value) -> (StatusCode, Value) {
        let bearer = format!("Bearer {session}");
        let headers = [
            ("host", ADDRESS),
            ("origin", ORIGIN),
            ("content-type", "application/json"),
            ("authorization", &bearer),
        ];
        self.send("POST", path, &headers, &body.to_string()).await
    }

    async fn get(&self, path: &str, session: &str) -> (StatusCode, Value) {
        let bearer = format!("Bearer {session}");
        let headers = [("host", ADDRESS), ("authorization", &*bearer)];
        self.send("GET", path, &headers, "").await
    }

    async fn session(&self) -> String {
        let link = self.page.links.open("Grace").unwrap();
        let token = link.split_once("/#").unwrap().1.to_owned();
        let (status, body) = self
            .post("/api/session", "", &json!({"token": token}))
            .await;
        assert_eq!(
            (status, &body["approver"]),
            (StatusCode::OK, &json!("Grace"))
        );
        let (again, _) = self
            .post("/api/session", "", &json!({"token": token}))
            .await;
        assert_eq!(again, StatusCode::FORBIDDEN);
        body["session"].as_str().unwrap().to_owned()
    }
}

fn hold() -> String {
    hex::encode([1; 16])
}

#[tokio::test]
async fn a_person_sees_the_whole_call_and_decides_once() {
    let stand = Stand::new();
    let session = stand.session().await;
    let (status, list) = stand.get("/api/holds", &session).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(list["holds"][0]["hold"], hold());
    let (_, whole) = stand.get(&format!("/api/holds/{}", hold()), &session).await;
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    assert_eq!(
        (&whole["message"], &whole["rule"]),
        (&json!(message), &json!("writes"))
    );
    let path = format!("/api/holds/{}/decide", hold());
    let other = json!({"digest": "00".repeat(32), "choice": "approve"});
    let (status, body) = stand.post(&path, &session, &other).await;
    assert_eq!(
        (status, &body["code"]),
        (StatusCode::CONFLICT, &json!("other_call"))
    );
    assert!(stand.told.whys().is_empty());

    let approve =
        json!({"digest": list["holds"][0]["digest"], "choice": "approve", "note": "checked"});
    let (status, done) = stand.post(&path, &session, &approve).await;
    assert_eq!((status, &done["why"]), (StatusCode::OK, &json!("released")));
    assert_eq!(stand.told.whys(), [Why::Released]);
    let signed = &stand.memory.lines()[0]["approval"]["payload"];
    let payload: Value = serde_json::from_str(signed.as_str().unwrap()).unwrap();
    assert_eq!(
        payload["decided_by"],
        json!({"way": "page", "name": "Grace"})
    );
    assert_eq!(payload["note"], "checked");
    for choice in ["approve", "deny"] {
        let late = json!({"digest": approve["digest"], "choice": choice});
        let (status, body) = stand.post(&path, &session, &late).await;
        assert_eq!(
            (status, &body["code"]),
            (StatusCode::CONFLICT, &json!("already_released"))
        );
    }
    let (_, list) = stand.get("/api/holds", &session).await;
    assert_eq!(list["holds"], json!([]));
    assert_eq!(list["past"][0]["receipt"], done["receipt"]);
}

#[tokio::test]
async fn nobody_without_a_session_sees_or_decides_anything() {
    let stand = Stand::new();
    stand.session().await;
    let digest = stand.page.holds.open()[0].digest;
    let decide = format!("/api/holds/{}/decide", hold());
    let stop = format!("/api/holds/{}/stop", hold());
    let body = json!({"digest": digest, "choice": "approve"});
    for session in ["", "0", &"0".repeat(64)] {
        for path in [
            "/api/holds",
            "/api/holds?after=0",
            &format!("/api/holds/{}", hold()),
        ] {
            let (status, seen) = stand.get(path, session).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
            assert!(!seen.to_string().contains("write_file"));
        }
        assert_eq!(
            stand.post(&decide, session, &body).await.0,
            StatusCode::UNAUTHORIZED
        );
        assert_eq!(
            stand.post(&stop, session, &json!({})).await.0,
            StatusCode::UNAUTHORIZED
        );
    }
    assert_eq!(stand.page.holds.open().len(), 1);
    assert!(stand.memory.lines().is_empty());
}

#[tokio::test]
async fn another_host_another_page_and_another_site_are_refused() {
    let stand = Stand::new();
    let session = stand.session().await;
    let bearer = format!("Bearer {session}");
    let digest = stand.page.holds.open()[0].digest;
    let body = json!({"digest": digest, "choice": "approve"}).to_string();
    let path = format!("/api/holds/{}/decide", hold());
    let with = |host: &'static str, origin: Option<&'static str>, site: Option<&'static str>| {
        let mut headers = vec![
            ("host", host),
            ("content-type", "application/json"),
            ("authorization", &bearer),
        ];
        headers.extend(origin.map(|origin| ("origin", origin)));
        headers.extend(site.map(|site| ("sec-fetch-site", site)));
        headers
    };
    for headers in [
        with("localhost:8499", Some(ORIGIN), None),
        with("evil.example", Some(ORIGIN), None),
        with("127.0.0.1:8498", Some(ORIGIN), None),
        with(ADDRESS, None, None),
        with(ADDRESS, Some("null"), None),
        with(ADDRESS, Some("http://localhost:8499"), None),
        with(ADDRESS, Some("http://evil.example"), None),
        with(ADDRESS, Some(ORIGIN), Some("cross-site")),
    ] {
        let (status, _) = stand.send("POST", &path, &headers, &body).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    for path in ["/", "/api/holds"] {
        let headers = with("rebound.example:8499", None, None);
        assert_eq!(
            stand.send("GET", path, &headers, "").await.0,
            StatusCode::FORBIDDEN
        );
        let headers = with(ADDRESS, None, Some("cross-site"));
        assert_eq!(
            stand.send("GET", path, &headers, "").await.0,
            StatusCode::FORBIDDEN
        );
    }
    assert!(stand.told.whys().is_empty());
    let good = with(ADDRESS, Some(ORIGIN), Some("same-origin"));
    assert_eq!(
        stand.send("POST", &path, &good, &body).await.0,
        StatusCode::OK
    );
}

#[tokio::test]
async fn the_page_is_walled_in_and_opens_itself_to_nobody() {
    let stand = Stand::new();
    for path in ["/", "/approvals/main.js", "/api/holds"] {
        let request = Request::get(path)
            .header("host", ADDRESS)
            .body(Body::empty());
        let response = stand
            .router
            .clone()
            .oneshot(request.unwrap())
            .await
            .unwrap();
        let headers = response.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        for wanted in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "trusted-types 'none'",
        ] {
            assert!(policy.contains(wanted), "{path}: {policy}");
        }
        assert_eq!(headers["cache-control"], "no-store");
        let opened = |name: &http::HeaderName| {
            name.as_str().starts_with("access-control") || name == http::header::SET_COOKIE
        };
        assert!(!headers.keys().any(opened), "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_is_said_and_stays_held() {
    let stand = Stand::new();
    let session = stand.session().await;
    *stand.memory.failing.lock().unwrap() = true;
    let digest = stand.page.holds.open()[0].digest;
    let body = json!({"digest": digest, "choice": "approve"});
    let path = format!("/api/holds/{}/decide", hold());
    let (status, problem) = stand.post(&path, &session, &body).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(problem["code"], "not_recorded");
    assert_eq!(stand.page.holds.open().len(), 1);
    assert!(stand.told.whys().is_empty());
}

#[tokio::test]
async fn news_comes_when_something_changes() {
    let stand = Stand::new();
    let session = stand.session().await;
    let (_, list) = stand.get("/api/holds", &session).await;
    let path = format!("/api/holds?after={}", list["version"]);
    let holds = Arc::clone(&stand.page.holds);
    let later = async {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let now = Now::read();
        holds
            .hold(ask(2, now, Terms::DEFAULT, &Told::new()), now)
            .unwrap();
    };
    let ((_, news), ()) = tokio::join!(stand.get(&path, &session), later);
    assert_eq!(news["holds"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_person_stops_a_countdown() {
    let stand = Stand::new();
    let session = stand.session().await;
    let now = Now::read();
    let countdown = Some(std::time::Duration::from_secs(60));
    let terms = Terms {
        countdown,
        ..Terms::DEFAULT
    };
    stand
        .page
        .holds
        .hold(ask(2, now, terms, &Told::new()), now)
        .unwrap();
    let (_, list) = stand.get("/api/holds", &session).await;
    assert!(list["holds"][1]["countdown_in"].as_u64().unwrap() <= 60_000);
    let path = format!("/api/holds/{}/stop", hex::encode([2; 16]));
    assert_eq!(
        stand.post(&path, &session, &json!({})).await.0,
        StatusCode::NO_CONTENT
    );
    let (_, list) = stand.get("/api/holds", &session).await;
    assert_eq!(list["holds"][1]["countdown_in"], Value::Null);
}

impl Stand {
    async fn review(&self, id: &str, key: u8, body: &Value) -> (StatusCode, Value) {
        let stamp = Now::read().utc.unix_timestamp().to_string();
        let body = body.to_string();
        let signature = webhook_signature(key, id, &stamp, body.as_bytes());
        let headers = [
            ("host", ADDRESS),
            ("content-type", "application/json"),
            ("webhook-id", id),
            ("webhook-timestamp", &stamp),
            ("webhook-signature", &signature),
        ];
        self.send("POST", "/webhook", &headers, &body).await
    }
}

#[tokio::test]
async fn a_signed_review_decides_where_the_rule_takes_one() {
    let stand = Stand::new();
    let now = Now::read();
    let terms = Terms {
        ways: ALL,
        ..Terms::DEFAULT
    };
    stand
        .page
        .holds
        .hold(ask(2, now, terms, &stand.told), now)
        .unwrap();
    let digest = |number: u8| stand.page.holds.seen(&[number; 16]).unwrap().digest;
    let body = |number: u8, approver: &str| json!({"approval": hex::encode([number; 16]), "digest": digest(number), "decision": "approve", "approver": approver});
    let (status, _) = stand.review("a", 8, &body(2, "Ada")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let (status, problem) = stand.review("b", 7, &body(1, "Ada")).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::FORBIDDEN, &json!("wrong_way"))
    );
    let (status, problem) = stand.review("c", 7, &body(2, "")).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("not_signed"))
    );
    let mut more = body(2, "Ada");
    more["skip"] = true.into();
    assert_eq!(
        stand.review("d", 7, &more).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert!(stand.told.whys().is_empty());
    let good = body(2, "Ada");
    assert_eq!(stand.review("e", 7, &good).await.0, StatusCode::OK);
    assert_eq!(stand.told.whys(), [Why::Released]);
    assert_eq!(
        stand.review("e", 7, &good).await.0,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(stand.review("f", 7, &good).await.0, StatusCode::CONFLICT);
}
