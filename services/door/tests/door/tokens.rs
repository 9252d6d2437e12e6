//! Session tokens in, request tokens out.

use countersign_domain::CustomerId;
use countersign_identity::{SigningKey, generate_key, sign_session};

use crate::stand::{Stand, claims, now};

#[tokio::test]
async fn the_server_gets_a_token_of_its_own_for_exactly_this_call() {
    let stand = Stand::new().await;
    let post = stand
        .post()
        .with("Authorization", "Bearer of-the-client")
        .with("Cookie", "a=b")
        .with("Countersign-Request", "forged")
        .with("X-Forwarded-For", "10.0.0.1")
        .with("Forwarded", "for=10.0.0.1")
        .with("Mcp-Param-Payee", "bob")
        .with(
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        );
    assert_eq!(post.call("echo", "{}").await.status, 200);
    let seen = stand.server.behaviour.seen("tools/call").remove(0);
    assert_eq!(
        seen.claims.customer,
        CustomerId::from_uuid(uuid::Uuid::from_u128(1))
    );
    assert_eq!(seen.claims.conversation, claims(|_| {}).conversation);
    assert_eq!(
        seen.claims.grant_secret.expose(),
        claims(|_| {}).grant_secret.expose()
    );
    for absent in [
        "authorization",
        "cookie",
        "countersign-session",
        "x-forwarded-for",
        "forwarded",
        "origin",
    ] {
        assert!(!seen.headers.contains_key(absent), "{absent}");
    }
    assert_eq!(seen.headers["mcp-param-payee"], "bob");
    assert!(seen.headers.contains_key("traceparent"));
    assert_eq!(
        seen.headers.get_all("countersign-request").iter().count(),
        1
    );
    assert_eq!(stand.server.behaviour.refused(), 0);
    // The token names the record of the decision that let the call pass.
    let text = std::fs::read_to_string(stand.door.directory.join("decisions.jsonl")).unwrap();
    let leaf = countersign_receipts::Hash::from(seen.claims.record_leaf);
    let line = text
        .lines()
        .find(|line| countersign_receipts::leaf_hash(line.as_bytes()) == leaf)
        .expect("the record holds the leaf");
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["event"], "allowed");
    assert_eq!(line["call"], seen.claims.token_id.to_string());
}

#[tokio::test]
async fn every_call_has_another_token() {
    let stand = Stand::new().await;
    for _ in 0..3 {
        stand.post().call("echo", "{}").await;
    }
    let mut ids: Vec<_> = stand
        .server
        .behaviour
        .all()
        .iter()
        .map(|seen| seen.claims.token_id.to_string())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[tokio::test]
async fn a_message_without_a_good_session_token_is_answered_401_and_goes_nowhere() {
    let stand = Stand::new().await;
    let good = stand.token(1);
    let other_key = SigningKey::from_file(&generate_key([9; 32], "session")).unwrap();
    let unknown_kid = SigningKey::from_file(&generate_key([1; 32], "../../k")).is_err();
    assert!(unknown_kid, "such an id is no key's");
    let forged = sign_session(&other_key, &claims(|_| {})).unwrap();
    let expired = stand.token_with(|claims| {
        claims.issued_at = now() - 200;
        claims.expires_at = now() - 120;
    });
    let early = stand.token_with(|claims| {
        claims.issued_at = now() + 60;
        claims.expires_at = now() + 120;
    });
    let mut changed = good.clone();
    let middle = changed.find('.').unwrap() + 20;
    let other = if changed.as_bytes()[middle] == b'A' {
        "B"
    } else {
        "A"
    };
    changed.replace_range(middle..=middle, other);
    let unsigned = format!("{}.", good.rsplit_once('.').unwrap().0);
    for (why, token) in [
        ("empty", ""),
        ("no token", "x"),
        ("other key", &forged),
        ("expired", &expired),
        ("not yet", &early),
        ("changed", &changed),
        ("unsigned", &unsigned),
        ("two in one", &format!("{good},{good}")),
    ] {
        let answer = stand
            .post()
            .set("Countersign-Session", token)
            .call("echo", "{}")
            .await;
        assert_eq!(answer.status, 401, "{why} {answer:?}");
        assert!(!answer.body.contains("expired"), "{why}");
    }
    let twice = stand
        .post()
        .with("Countersign-Session", &good)
        .call("echo", "{}")
        .await;
    assert_eq!(twice.status, 401);
    let none = stand
        .post()
        .without("Countersign-Session")
        .call("echo", "{}")
        .await;
    assert_eq!(none.status, 401);
    let elsewhere = stand
        .post()
        .without("Countersign-Session")
        .with("Authorization", &format!("Bearer {good}"));
    assert_eq!(elsewhere.call("echo", "{}").await.status, 401);
    assert!(stand.server.behaviour.all().is_empty());
    assert!(stand.events("allowed").is_empty());
}

#[tokio::test]
async fn a_token_verified_before_ends_at_its_time() {
    let stand = Stand::new().await;
    let brief = stand.token_with(|claims| {
        claims.issued_at = now();
        claims.expires_at = now() + 1;
    });
    let post = stand.post().set("Countersign-Session", &brief);
    assert_eq!(post.call("echo", "{}").await.status, 200);
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    assert_eq!(post.call("echo", "{}").await.status, 401);
}
