//! Guardrails in a turn: what the model and the customer get to see, and a guardrail that cannot be asked.

use std::sync::{Arc, Mutex};

use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::post};
use countersign_agent::guard::{self, GuardConfig, Guards};
use countersign_models::{Message, Prompt};
use serde_json::{Value, json};

use crate::{
    conduct::{DONE, play_guarded, says},
    process::reply,
};

fn guards(configs: Value) -> Guards {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let configs: Vec<GuardConfig> = serde_json::from_value(configs).unwrap();
    guard::open(Some(configs)).unwrap()
}

fn asked(prompt: &Prompt) -> &str {
    match prompt.messages.last() {
        Some(Message::Customer(text)) => text,
        other => panic!("{other:?}"),
    }
}

type Seen = Arc<Mutex<Vec<Value>>>;

/// A guardrail's endpoint that gives one answer.
async fn endpoint(status: StatusCode, answer: Value) -> (String, Seen) {
    let seen = Seen::default();
    let app = Router::new()
        .fallback(post(
            move |State(seen): State<Seen>, uri: axum::http::Uri, Json(mut body): Json<Value>| {
                let answer = answer.clone();
                async move {
                    body["path"] = uri.path().into();
                    seen.lock().unwrap().push(body);
                    (status, Json(answer)).into_response()
                }
            },
        ))
        .with_state(seen.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (format!("http://{address}"), seen)
}

fn bedrock(endpoint: &str, message: &str, reply: &str) -> Value {
    json!({"kind": "bedrock", "guardrail": "abc123", "version": "2", "region": "eu-central-1", "endpoint": endpoint,
        "credentials": {"kind": "access_key", "access_key_id": "AKID", "secret_access_key": "secret"},
        "message": message, "reply": reply, "seconds_max": 2})
}

#[tokio::test]
async fn a_secret_does_not_reach_the_model_and_what_is_off_topic_does_not_either() {
    let usual = || guard::open(None).unwrap();
    let (_, lines, told) = play_guarded(
        usual(),
        "Was 4111 1111 1111 1111 charged?",
        vec![vec![says("No."), DONE]],
    )
    .await;
    assert_eq!(asked(&told[0]), "Was [redacted: card ending 1111] charged?");
    assert_eq!(
        lines[0],
        json!({"type": "guardrail", "guardrail": "built_in", "rule": "card", "side": "message"})
    );
    let (door, lines, told) = play_guarded(
        usual(),
        "Write me a poem about spring",
        vec![vec![says("Roses"), DONE]],
    )
    .await;
    assert_eq!((told.len(), door.seen.lock().unwrap().requests), (0, 0));
    assert!(reply(&lines).contains("can't take that up"), "{lines:?}");
    assert_eq!(lines.last().unwrap(), &json!({"type": "done"}));
}

#[tokio::test]
async fn a_reply_that_asks_for_a_secret_is_stopped_where_it_does() {
    let usual = guard::open(None).unwrap();
    let words = [
        "Your card is blocked. ",
        "Please tell ",
        "me your PIN. ",
        "Then we go on.",
    ];
    let step = words
        .iter()
        .map(|words| says(words))
        .chain([DONE])
        .collect();
    let (_, lines, _) = play_guarded(usual, "hello", vec![step]).await;
    let said = reply(&lines);
    assert!(
        said.starts_with("Your card is blocked. ")
            && said.contains("was stopped")
            && !said.contains("PIN"),
        "{said}"
    );
    assert_eq!(lines.last().unwrap(), &json!({"type": "done"}));
}

#[tokio::test]
async fn bedrock_is_asked_about_both_sides_and_its_mask_is_used() {
    let answer = json!({"usage": {"sensitiveInformationPolicyUnits": 1}, "action": "GUARDRAIL_INTERVENED",
        "outputs": [{"text": "Hello {NAME}"}],
        "assessments": [{"sensitiveInformationPolicy": {"piiEntities": [{"type": "NAME", "action": "ANONYMIZED"}]}}]});
    let (url, seen) = endpoint(StatusCode::OK, answer).await;
    let step = vec![says("Hello "), says("Bob Smith"), DONE];
    let (_, lines, told) = play_guarded(
        guards(json!([bedrock(&url, "mask", "mask")])),
        "I am Bob",
        vec![step],
    )
    .await;
    assert_eq!(
        (asked(&told[0]), reply(&lines).as_str()),
        ("Hello {NAME}", "Hello {NAME}")
    );
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2, "a reply is asked about whole");
    assert_eq!(
        (&seen[0]["source"], &seen[1]["source"]),
        (&json!("INPUT"), &json!("OUTPUT"))
    );
    assert_eq!(seen[1]["content"][0]["text"]["text"], "Hello Bob Smith");
    assert_eq!(seen[0]["path"], "/guardrail/abc123/version/2/apply");
}

#[tokio::test]
async fn a_classifier_on_this_machine_stops_what_reaches_its_threshold() {
    let (url, seen) = endpoint(
        StatusCode::OK,
        json!([[{"label": "INJECTION", "score": 0.91}]]),
    )
    .await;
    let classifier = |least: u32| {
        guards(
            json!([{"kind": "classifier", "endpoint": format!("{url}/classify"), "labels": {"INJECTION": least}, "message": "block", "reply": "off"}]),
        )
    };
    let (_, lines, told) =
        play_guarded(classifier(900), "hello", vec![vec![says("Hi."), DONE]]).await;
    assert_eq!(told.len(), 0);
    assert_eq!(lines[0]["rule"], "injection");
    assert_eq!(seen.lock().unwrap()[0]["path"], "/classify");
    let (_, lines, told) =
        play_guarded(classifier(920), "hello", vec![vec![says("Hi."), DONE]]).await;
    assert_eq!((told.len(), reply(&lines).as_str()), (1, "Hi."));
}

#[tokio::test]
async fn a_guardrail_that_gives_no_verdict_says_no() {
    let (busy, _) = endpoint(StatusCode::SERVICE_UNAVAILABLE, json!({})).await;
    let (closed, _) = endpoint(StatusCode::FORBIDDEN, json!({})).await;
    let (empty, _) = endpoint(StatusCode::OK, json!({"action": "NONE", "usage": {"topicPolicyUnits": 0}, "outputs": [], "assessments": []})).await;
    let (nonsense, _) = endpoint(StatusCode::OK, json!("fine")).await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for (url, rule) in [
        (busy, "unavailable"),
        (closed, "refused"),
        (empty, "checks_nothing"),
        (nonsense, "malformed"),
        (format!("http://{nobody}"), "unavailable"),
    ] {
        let (_, lines, told) = play_guarded(
            guards(json!([bedrock(&url, "block", "off")])),
            "hello",
            vec![vec![says("Hi."), DONE]],
        )
        .await;
        assert_eq!(told.len(), 0, "{rule}");
        assert_eq!(lines[0]["rule"], rule);
        let (_, lines, _) = play_guarded(
            guards(json!([bedrock(&url, "off", "block")])),
            "hello",
            vec![vec![says("Secret."), DONE]],
        )
        .await;
        assert!(!reply(&lines).contains("Secret"), "{lines:?}");
    }
}
