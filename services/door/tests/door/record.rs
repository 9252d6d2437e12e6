//! The record: every decision, before it takes effect, and no value of any customer.

use std::time::Duration;

use crate::client::call;
use crate::stand::{Stand, policy, start_door};

#[tokio::test]
async fn every_decision_is_recorded_with_names_and_without_values() {
    let stand = Stand::new().await;
    let post = stand.post();
    post.call("echo", r#"{"text":"my-private-words"}"#).await;
    let denied = post.call("secret", r#"{"pin-code":"9876"}"#).await;
    post.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"name\":\"my-private-words\"}}").await;
    let lines = stand.lines();
    let events: Vec<_> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        events,
        [
            "log_opened",
            "allowed",
            "answered",
            "allowed",
            "answered",
            "denied",
            "denied"
        ],
        "{lines:#?}"
    );
    let allowed = &lines[3];
    assert_eq!(allowed["tool"], "echo");
    assert_eq!(allowed["arguments"]["names"], serde_json::json!(["text"]));
    assert_eq!(allowed["rule"], "tools.echo");
    assert_eq!(allowed["policy"]["id"], "test");
    assert_eq!(allowed["received"], allowed["forwarded"]);
    assert!(allowed["customer"].as_str().unwrap().starts_with("cus_"));
    let receipt = denied.json()["error"]["data"]["receipt"].clone();
    let text = std::fs::read_to_string(stand.door.directory.join("decisions.jsonl")).unwrap();
    let line = text.lines().nth(5).unwrap();
    assert_eq!(
        receipt,
        countersign_receipts::leaf_hash(line.as_bytes()).to_string()
    );
    assert_eq!(lines[6]["reason"], "malformed");
    for value in ["my-private-words", "9876", &stand.token(1)] {
        assert!(!text.contains(value), "{value}");
    }
    let grant = crate::stand::claims(|_| {});
    assert!(!text.contains(grant.grant_secret.expose()));
}

#[tokio::test]
async fn the_same_arguments_have_another_commitment_every_time() {
    let stand = Stand::new().await;
    for _ in 0..2 {
        stand.post().call("echo", r#"{"text":"same"}"#).await;
    }
    let mut calls = stand.events("allowed");
    calls.retain(|line| line["method"] == "tools/call");
    assert_eq!(calls.len(), 2);
    assert_ne!(
        calls[0]["arguments"]["commitment"],
        calls[1]["arguments"]["commitment"]
    );
    assert_ne!(calls[0]["received"], calls[1]["received"]);
}

#[tokio::test]
async fn a_head_over_every_line_is_signed_within_a_second() {
    let stand = Stand::new().await;
    for _ in 0..5 {
        stand.post().call("echo", "{}").await;
    }
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    let (chain, head) = stand.audited();
    assert_eq!(head.size, chain.tree().size());
    assert_eq!(chain.tree().root_at(head.size), Ok(head.root));
}

#[tokio::test]
async fn names_and_escapes_of_a_client_stay_on_one_line() {
    let stand = Stand::new().await;
    let arguments = r#"{"x\n2026-01-01 ALLOWED":1,"\u001b]0;title\u0007":2}"#;
    stand.post().call("echo", arguments).await;
    let (chain, _) = stand.audited();
    let denied = stand.events("denied").pop().unwrap();
    assert_eq!(denied["arguments"]["names"], serde_json::json!([]));
    assert_eq!(denied["arguments"]["unnamed"], 2);
    assert_eq!(chain.tree().size() as usize, stand.lines().len());
}

#[tokio::test]
async fn a_door_whose_record_cannot_be_written_forwards_nothing() {
    let stand = Stand::new().await;
    let before = stand.server.behaviour.seen("tools/call").len();
    assert_eq!(stand.post().call("echo", "{}").await.status, 200);
    // Something stands where the head belongs: it cannot be signed, so nothing may go on.
    let head = stand.door.directory.join("decisions.checkpoint");
    std::fs::remove_file(&head).unwrap();
    std::fs::create_dir_all(head.join("in the way")).unwrap();
    stand.post().call("echo", "{}").await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let sent = stand.server.behaviour.seen("tools/call").len();
    for body in [
        call("echo", "{}"),
        call("secret", "{}"),
        r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#.into(),
    ] {
        let answer = stand.post().send(&body).await;
        assert_eq!(answer.code(), Some(-32_006), "{answer:?}");
    }
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), sent);
    assert!(sent > before);
    std::fs::remove_dir_all(&head).unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(stand.post().call("echo", "{}").await.json()["result"].is_object());
}

#[tokio::test]
async fn a_record_that_was_cut_keeps_the_door_shut() {
    let stand = Stand::new().await;
    for _ in 0..3 {
        stand.post().call("echo", "{}").await;
    }
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    let mut config = stand.config(&policy());
    let directory = crate::stand::fresh_directory();
    std::fs::create_dir_all(&directory).unwrap();
    for name in ["decisions.jsonl", "decisions.checkpoint"] {
        std::fs::copy(stand.door.directory.join(name), directory.join(name)).unwrap();
    }
    config["log_directory"] = directory.to_str().unwrap().into();
    let path = directory.join("decisions.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let cut: String = whole
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&path, cut).unwrap();
    let refused = start_door(config.clone(), directory.clone())
        .await
        .err()
        .unwrap();
    assert!(
        refused.contains("does not hold what its last head was signed for"),
        "{refused}"
    );
    std::fs::write(&path, whole).unwrap();
    assert!(start_door(config, directory).await.is_ok());
}

#[tokio::test]
async fn a_record_that_vanishes_shuts_the_door_until_there_is_one_again() {
    let stand = Stand::new().await;
    assert_eq!(stand.post().call("echo", "{}").await.status, 200);
    let directory = stand.door.directory.clone();
    // At once: the door would put a file into a directory that is being emptied.
    let aside = directory.with_extension("aside");
    std::fs::rename(&directory, &aside).unwrap();
    std::fs::remove_dir_all(&aside).unwrap();
    let before = stand.server.behaviour.seen("tools/call").len();
    for name in ["echo", "secret"] {
        let refused = stand.post().call(name, "{}").await;
        assert_eq!(refused.code(), Some(-32_006), "{refused:?}");
    }
    assert_eq!(stand.server.behaviour.seen("tools/call").len(), before);
    std::fs::create_dir_all(&directory).unwrap();
    // A head may have failed meanwhile; the next one, half a second later, opens the door again.
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!(stand.post().call("echo", "{}").await.status, 200);
    let lines = stand.lines();
    assert_eq!(lines[0]["event"], "log_resumed");
    assert!(lines[0]["lost"].as_u64() > Some(0), "{}", lines[0]);
}

#[tokio::test]
async fn a_decision_names_the_catalogue_and_what_was_withheld_from_it() {
    let stand = Stand::new().await;
    stand.post().call("echo", "{}").await;
    stand.post().call("echo", "{}").await;
    let mut calls = stand.events("allowed");
    calls.retain(|line| line["tool"] == "echo");
    let catalogue = &calls[1]["catalogue"];
    assert_eq!(catalogue["sha256"].as_str().map(str::len), Some(64));
    let withheld = catalogue["withheld"].as_array().unwrap();
    assert!(!withheld.is_empty(), "{catalogue}");
    assert!(withheld.iter().all(|name| name != "echo"), "{catalogue}");
}

#[tokio::test]
async fn a_door_that_is_asked_to_stop_closes_its_record() {
    let mut stand = Stand::new().await;
    stand.post().call("echo", "{}").await;
    stand.door.stop().await;
    let (chain, head) = stand.audited();
    assert_eq!(head.size, chain.tree().size());
    assert_eq!(stand.lines().pop().unwrap()["event"], "log_closed");
}

#[tokio::test]
async fn a_door_does_not_start_with_what_it_cannot_use() {
    let stand = Stand::new().await;
    for (path, value, words) in [
        (
            "/policy_yaml",
            serde_json::json!("version: 1\nid: t\ndefault: allow\n"),
            "none of: deny",
        ),
        ("/policy_yaml", serde_json::json!(""), "policy"),
        (
            "/policy_yaml",
            serde_json::json!("version: 1\nid: t\ndefault: deny\nservers: {toy: {}, more: {}}\n"),
            "names more beside",
        ),
        ("/session_keys", serde_json::json!([]), "1 to 16 keys"),
        (
            "/request_key/pkcs8_pem",
            serde_json::json!("x"),
            "not an Ed25519 key",
        ),
        (
            "/receipt_key/pkcs8_pem",
            serde_json::json!("x"),
            "not an Ed25519 key",
        ),
        (
            "/upstream/url",
            serde_json::json!("ftp://a/"),
            "http://HOST",
        ),
        (
            "/log_directory",
            serde_json::json!("/dev/null/log"),
            "record",
        ),
        ("/log_origin", serde_json::json!("a b"), "origin"),
        ("/surprise", serde_json::json!(1), "unknown"),
    ] {
        let mut config = stand.config(&policy());
        config["log_directory"] = crate::stand::fresh_directory().to_str().unwrap().into();
        match config.pointer_mut(path) {
            Some(place) => *place = value,
            None => config[&path[1..]] = value,
        }
        let refused = start_door(config, crate::stand::fresh_directory())
            .await
            .err();
        let refused = refused.unwrap_or_else(|| panic!("{path} must be refused"));
        assert!(refused.contains(words), "{path}: {refused}");
    }
}
