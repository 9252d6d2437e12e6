//! Calls that wait for a person, over HTTP: held, decided on the door's page, and only then sent on.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_receipts::{CallOpening, SignedApproval};
use serde_json::{Value, json};

use crate::client::{Answer, raw};
use crate::stand::{Stand, fresh_directory, policy};

/// The page of a door, and a session on it.
pub struct Page {
    address: SocketAddr,
    session: String,
}

impl Page {
    /// Opens the page by the link that the door wrote into its file.
    async fn open(stand: &Stand) -> Self {
        Self::beside(&stand.door.directory).await
    }

    /// Opens the page of the door whose record lies in this folder.
    pub async fn beside(record: &Path) -> Self {
        let link = std::fs::read_to_string(record.join("approval-links")).unwrap();
        let (name, link) = link.trim().split_once('\t').unwrap();
        assert_eq!(name, "Grace");
        let (origin, token) = link.split_once("/#").unwrap();
        let address = origin.strip_prefix("http://").unwrap().parse().unwrap();
        let mut page = Self {
            address,
            session: String::new(),
        };
        let answer = page.post("/api/session", &json!({"token": token})).await;
        page.session = answer.json()["session"].as_str().unwrap().to_owned();
        page
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &body.to_string()).await
    }

    async fn get(&self, path: &str) -> Value {
        self.send("GET", path, "").await.json()
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let Self { address, session } = self;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\n\
             authorization: Bearer {session}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        raw(*address, request.as_bytes()).await
    }

    /// The one call that is held, once it is.
    pub async fn held(&self) -> Value {
        for _ in 0..100 {
            let list = self.get("/api/holds").await;
            if let Some(hold) = list["holds"].get(0) {
                return hold.clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nothing is held");
    }

    pub async fn decide(&self, hold: &Value, choice: &str) -> Answer {
        let path = format!("/api/holds/{}/decide", hold["hold"].as_str().unwrap());
        let body = json!({"digest": hold["digest"], "choice": choice});
        self.post(&path, &body).await
    }
}

/// A door that holds, with Grace as its approver.
async fn stand(change: impl FnOnce(String) -> String) -> Stand {
    let stand = Stand::new().await;
    let directory = fresh_directory();
    let mut config = stand.config(&change(policy()));
    config["log_directory"] = json!(directory);
    config["approvals"] = json!({"approvers": ["Grace"]});
    let door = crate::stand::start_door(config, directory).await.unwrap();
    Stand { door, ..stand }
}

fn held_call(meta: &str) -> String {
    format!(
        r#"{{ "jsonrpc":"2.0", "id":"h-1","method":"tools/call","params":{{"name":"held_tool","_meta":{{{meta}}},"arguments":{{}} }}}}"#
    )
}

#[tokio::test]
async fn an_approved_call_goes_on_as_it_was_held_and_its_record_says_who_decided() {
    let stand = stand(|policy| policy).await;
    let page = Page::open(&stand).await;
    let meta = r#""dev.countersign/commit":"c0ffee0","progressToken":"p""#;
    let body = held_call(meta);
    let post = stand.post();
    let waiting = tokio::spawn(async move { post.send(&body).await });
    let hold = page.held().await;
    // Other calls go on meanwhile.
    let other = stand.post().call("echo", r#"{"text":"x"}"#).await;
    assert_eq!(other.code(), None, "{other:?}");
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 1);

    let path = format!("/api/holds/{}", hold["hold"].as_str().unwrap());
    let shown = page.get(&path).await;
    let left = held_call(r#""progressToken":"p""#);
    assert_eq!(shown["message"], left, "as the server will receive it");
    assert_eq!(
        (&shown["commit"], &shown["rule"]),
        (&json!("c0ffee0"), &json!("hold-held"))
    );

    let decided = page.decide(&hold, "approve").await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let answer = waiting.await.unwrap();
    assert_eq!((answer.status, answer.code()), (200, None), "{answer:?}");
    assert!(answer.body.starts_with(": held\n\n"), "{answer:?}");
    assert_eq!(answer.json()["id"], "h-1");
    let seen = stand.server.behaviour.seen("tools/call");
    assert_eq!(seen[1].body, left.as_bytes());

    let line = stand.wait_for("released").await;
    let signed: SignedApproval = serde_json::from_value(line["approval"].clone()).unwrap();
    let approval = signed.verify(&stand.verifier()).unwrap();
    assert!(approval.is_released_by_a_person());
    assert_eq!(approval.decided_by.as_ref().unwrap().name, "Grace");
    assert_eq!(
        approval.call,
        stand.events("held")[0]["call"].as_str().unwrap()
    );
    let opening = CallOpening {
        salt: approval.digest,
        server: "toy".into(),
        method: "tools/call".into(),
        tool: Some("held_tool".into()),
        definition: None,
        identity: String::new(),
        policy_sha256: String::new(),
        message: left,
    };
    assert_ne!(
        opening.digest(),
        approval.digest,
        "without the salt nobody tries values"
    );
    // The token of the forwarded call names the line that released it.
    assert_eq!(
        hex::encode(seen[1].claims.record_leaf),
        decided.json()["receipt"].as_str().unwrap()
    );
    let late = page.decide(&hold, "deny").await;
    assert_eq!(
        (late.status, late.json()["code"].clone()),
        (409, json!("already_released"))
    );
}

#[tokio::test]
async fn a_denied_call_never_arrives() {
    let stand = stand(|policy| policy).await;
    let page = Page::open(&stand).await;
    let post = stand.post().set("Accept", "application/json");
    let waiting = tokio::spawn(async move { post.send(&held_call("")).await });
    let hold = page.held().await;
    let other = json!({"hold": hold["hold"], "digest": "00".repeat(32)});
    assert_eq!(page.decide(&other, "approve").await.status, 409);
    assert_eq!(page.decide(&hold, "deny").await.status, 200);
    let answer = waiting.await.unwrap();
    assert_eq!(answer.code(), Some(-32_003), "{answer:?}");
    assert!(answer.head.contains("content-type: application/json"));
    assert_eq!(answer.json()["id"], "h-1");
    let data = &answer.json()["error"]["data"];
    assert_eq!(data["approval"], hold["hold"]);
    assert_eq!(data["rule"], "hold-held");
    assert!(data["receipt"].is_string());
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 0);
    assert_eq!(stand.events("denied").len(), 1);
}

#[tokio::test]
async fn what_nobody_decided_is_denied_in_time() {
    let stand = stand(|policy| {
        policy.replace(
            "effect: require_approval",
            "effect: require_approval, ttl_seconds: 1",
        )
    })
    .await;
    let answer = stand.post().send(&held_call("")).await;
    assert_eq!(answer.code(), Some(-32_004), "{answer:?}");
    assert_eq!(stand.events("denied")[0]["reason"], "expired");
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 0);
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_call_with_it() {
    let stand = stand(|policy| policy).await;
    let page = Page::open(&stand).await;
    let post = stand.post();
    let waiting = tokio::spawn(async move { post.send(&held_call("")).await });
    let hold = page.held().await;
    waiting.abort();
    let line = stand.wait_for("denied").await;
    assert_eq!(line["reason"], "withdrawn");
    let late = page.decide(&hold, "approve").await;
    assert_eq!(late.json()["code"], "already_withdrawn");
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 0);
}

#[tokio::test]
async fn a_tool_that_changed_while_its_call_was_held_is_not_released() {
    let stand = stand(|policy| policy.replace("held_*", "echo")).await;
    let page = Page::open(&stand).await;
    let post = stand.post();
    let waiting = tokio::spawn(async move { post.call("echo", r#"{"text":"x"}"#).await });
    let hold = page.held().await;
    stand
        .server
        .behaviour
        .edition
        .store(1, std::sync::atomic::Ordering::SeqCst);
    let list = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;
    stand.post().send(list).await;
    let decided = page.decide(&hold, "approve").await;
    assert_eq!(decided.json()["code"], "changed_while_held", "{decided:?}");
    let answer = waiting.await.unwrap();
    assert_eq!(answer.code(), Some(-32_005), "{answer:?}");
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), 0);
}

#[tokio::test]
async fn a_door_that_stops_denies_what_it_holds() {
    let mut stand = stand(|policy| policy).await;
    let page = Page::open(&stand).await;
    let post = stand.post();
    let waiting = tokio::spawn(async move { post.send(&held_call("")).await });
    page.held().await;
    stand.door.stop().await;
    let answer = waiting.await.unwrap();
    assert_eq!(answer.reason(), "door_stops", "{answer:?}");
    assert_eq!(stand.events("denied")[0]["reason"], "shut_down");
    let links: PathBuf = stand.door.directory.join("approval-links");
    assert!(!links.exists(), "what it names is gone");
    stand.audited();
}

#[tokio::test]
async fn what_a_call_says_to_the_door_reaches_no_server_and_loosens_nothing() {
    let stand = stand(|policy| policy).await;
    for meta in [
        r#""dev.countersign/approved":true"#,
        r#""dev.countersign/person":"no""#,
    ] {
        let answer = stand.post().send(&held_call(meta)).await;
        assert_eq!(answer.code(), Some(-32_602), "{meta} {answer:?}");
        assert_eq!(answer.reason(), "unknown_door_member");
    }
    let call = |name: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{{"text":"x"}},"_meta":{{"a":1,"dev.countersign/person":true}}}}}}"#
        )
    };
    let allowed = stand.post().send(&call("echo")).await;
    assert_eq!(allowed.code(), None, "{allowed:?}");
    let seen = stand.server.behaviour.seen("tools/call");
    let left = call("echo").replace(r#","dev.countersign/person":true"#, "");
    assert_eq!(seen[0].body, left.as_bytes());
    let denied = stand.post().send(&call("secret")).await;
    assert_eq!(denied.code(), Some(-32_001));
}
