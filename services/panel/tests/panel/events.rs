//! Wake-ups: only for one's own, empty, and over with the session.

use std::time::Duration;

use reqwest::Response;
use serde_json::json;

use crate::bank::{Bank, Visitor};

/// Reads from a stream until it has said something else than comments; None when it is silent or over.
async fn next(stream: &mut Response) -> Option<String> {
    let reading = async {
        while let Ok(Some(bytes)) = stream.chunk().await {
            let text = String::from_utf8(bytes.to_vec()).expect("text");
            if !text.starts_with(':') {
                return Some(text);
            }
        }
        None
    };
    tokio::time::timeout(Duration::from_secs(2), reading)
        .await
        .unwrap_or(None)
}

async fn open(visitor: &Visitor<'_>) -> Response {
    let stream = visitor.get("/api/events").await;
    assert_eq!(stream.status(), 200);
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    stream
}

#[tokio::test]
async fn a_wake_up_is_empty_and_only_for_one_s_own() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    let (mut of_ada, mut of_kabir) = (open(&ada).await, open(&kabir).await);
    ada.writes("Send 20 to Bob").await;
    ada.is_asked(Some("Bob Smith"), Some(2_000)).await;
    assert_eq!(
        next(&mut of_ada).await.as_deref(),
        Some("event: wake\ndata:\n\n")
    );
    assert_eq!(
        next(&mut of_kabir).await,
        None,
        "another customer's affairs wake nobody"
    );
}

#[tokio::test]
async fn signing_out_ends_the_stream() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let stream = open(&ada).await;
    ada.post("/logout", &json!({})).await;
    let rest = tokio::time::timeout(Duration::from_secs(2), stream.text()).await;
    assert!(rest.is_ok(), "the stream ended by itself");
}

#[tokio::test]
async fn a_session_that_ended_without_a_word_ends_its_stream_within_a_minute() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    let (of_ada, mut of_kabir) = (open(&ada).await, open(&kabir).await);
    bank.plant(
        "UPDATE bank.session_grant g SET revoked_at = bank.bank_clock() FROM bank.customer c
          WHERE c.customer_id = g.customer_id AND c.display_name = 'Ada' AND g.audience = 'panel'",
    )
    .await;
    let rest = tokio::time::timeout(Duration::from_secs(65), of_ada.text()).await;
    assert!(rest.is_ok(), "the stream looked and ended by itself");
    kabir.writes("Send 20 to Bob").await;
    kabir.is_asked(None, Some(2_000)).await;
    assert!(next(&mut of_kabir).await.is_some(), "others go on");
}

#[tokio::test]
async fn a_session_has_a_few_streams_and_gets_its_places_back() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(open(&ada).await);
    }
    assert_eq!(ada.get("/api/events").await.status(), 429);
    assert_eq!(
        bank.sign_in("Kabir")
            .await
            .get("/api/events")
            .await
            .status(),
        200
    );
    drop(streams);
    for _ in 0..50 {
        if ada.get("/api/events").await.status() == 200 {
            return;
        }
        // The server notices a closed connection when it next writes: a wake-up makes it write.
        ada.writes("hello").await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("a place never came back");
}
