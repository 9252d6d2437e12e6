//! Asking again, waiting, giving up, going away.

use std::time::{Duration, Instant};

use countersign_models::{Event, ModelError};
use futures_util::StreamExt;
use serde_json::json;

use crate::{
    provider::{ALL, Provider, ask, play, prompt, words},
    server::{Script, Server},
};

#[tokio::test]
async fn what_may_pass_is_asked_again_and_the_wait_a_server_asks_for_is_kept() {
    for status in [429, 500, 502, 503, 529] {
        let refusal = Script::status(status, "{}").header("retry-after", "0");
        let (server, events, error) = play(
            Provider::Anthropic,
            vec![refusal.clone(), refusal, Provider::Anthropic.good()],
        )
        .await;
        assert_eq!(
            (error, events.last()),
            (None, Some(&Event::Done)),
            "{status}"
        );
        assert_eq!(server.asked().len(), 3);
    }
    let began = Instant::now();
    let refusal = Script::status(429, "{}").header("retry-after", "1");
    let (_, events, _) = play(
        Provider::OpenaiChat,
        vec![refusal, Provider::OpenaiChat.good()],
    )
    .await;
    assert_eq!(events.last(), Some(&Event::Done));
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn tries_are_bounded_and_a_long_wait_is_a_no() {
    let refusal = Script::status(429, "{}").header("retry-after", "0");
    let (server, events, error) = play(Provider::Anthropic, vec![refusal]).await;
    assert_eq!((events, error), (vec![], Some(ModelError::Overloaded)));
    assert_eq!(server.asked().len(), 3);
    let began = Instant::now();
    let refusal = Script::status(503, "{}").header("retry-after", "3600");
    let (server, _, error) = play(Provider::Anthropic, vec![refusal]).await;
    assert_eq!(
        (error, server.asked().len()),
        (Some(ModelError::Overloaded), 1)
    );
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn what_will_not_pass_is_not_asked_again() {
    for (provider, status, body, wanted) in [
        (
            Provider::Anthropic,
            401,
            r#"{"type":"error","error":{"type":"authentication_error"}}"#,
            ModelError::KeyRefused,
        ),
        (
            Provider::Anthropic,
            400,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}"#,
            ModelError::TooLong,
        ),
        (
            Provider::OpenaiChat,
            429,
            r#"{"error":{"code":"insufficient_quota"}}"#,
            ModelError::KeyRefused,
        ),
        (
            Provider::OpenaiChat,
            400,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            ModelError::TooLong,
        ),
        (
            Provider::OpenaiResponses,
            404,
            r#"{"error":{"code":"model_not_found"}}"#,
            ModelError::RequestRefused(404),
        ),
        (
            Provider::Bedrock,
            403,
            r#"{"message":"no"}"#,
            ModelError::KeyRefused,
        ),
        (
            Provider::Bedrock,
            400,
            r#"{"message":"Input is too long for requested model."}"#,
            ModelError::TooLong,
        ),
        (
            Provider::Bedrock,
            400,
            "not JSON",
            ModelError::RequestRefused(400),
        ),
    ] {
        let (server, _, error) = play(provider, vec![Script::status(status, body)]).await;
        assert_eq!(
            (error, server.asked().len()),
            (Some(wanted), 1),
            "{provider:?} {body}"
        );
    }
}

#[tokio::test]
async fn an_overload_at_the_head_of_a_stream_is_asked_again_and_one_behind_words_is_not() {
    for provider in ALL {
        let (server, events, error) = play(
            provider,
            vec![provider.answer(&provider.overloaded()), provider.good()],
        )
        .await;
        assert_eq!((error, server.asked().len()), (None, 2), "{provider:?}");
        assert_eq!(events.last(), Some(&Event::Done));
        let late = [provider.text("Half a "), provider.overloaded()].concat();
        let (server, events, error) =
            play(provider, vec![provider.answer(&late), provider.good()]).await;
        assert_eq!(
            (error, server.asked().len()),
            (Some(ModelError::Overloaded), 1),
            "{provider:?}"
        );
        assert_eq!(words(&events), "Half a ");
    }
}

#[tokio::test]
async fn silence_and_chatter_without_words_end_in_time() {
    for provider in ALL {
        let (_, events, error) = play(
            provider,
            vec![provider.answer(&provider.text("Well")).then_silence()],
        )
        .await;
        assert_eq!(
            (words(&events).as_str(), error),
            ("Well", Some(ModelError::TimedOut)),
            "{provider:?}"
        );
    }
    let began = Instant::now();
    let pings = |provider: Provider| {
        provider
            .answer(b"")
            .then_again(&provider.ping(), Duration::from_millis(50))
    };
    let (one, other, mute) = tokio::join!(
        play(Provider::Anthropic, vec![pings(Provider::Anthropic)]),
        play(Provider::Bedrock, vec![pings(Provider::Bedrock)]),
        play(Provider::OpenaiChat, vec![Script::mute()]),
    );
    for (_, events, error) in [one, other, mute] {
        assert_eq!((events, error), (vec![], Some(ModelError::TimedOut)));
    }
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn going_away_ends_the_request() {
    for provider in ALL {
        let server =
            Server::start(vec![provider.answer(&provider.text("Well")).then_silence()]).await;
        let model = provider.model(
            server.address,
            json!({"silence_seconds_max": 60, "reply_seconds_max": 60}),
        );
        let prompt = prompt();
        let mut stream = model.reply(&prompt).await.unwrap();
        assert_eq!(stream.next().await, Some(Ok(Event::Text("Well".into()))));
        assert_eq!(server.hung_up(), 0);
        drop(stream);
        let noticed = async {
            while server.hung_up() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), noticed)
            .await
            .expect("the server sees it");
    }
}

#[tokio::test]
async fn a_model_that_is_away_is_unavailable() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let model = Provider::Anthropic.model(nobody, json!({"retries_max": 1}));
    assert_eq!(ask(model.as_ref()).await.1, Some(ModelError::Unavailable));
}
