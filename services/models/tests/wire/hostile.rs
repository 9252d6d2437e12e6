//! Answers that no provider should give.

use countersign_models::{BadCall, Event, ModelError};

use crate::{
    provider::{ALL, KEY, Provider, play, play_once, words},
    server::{Script, Server},
};

#[tokio::test]
async fn broken_arguments_make_a_bad_call_and_leave_the_other_alone() {
    for provider in ALL {
        let (_, events, error) = play(provider, vec![provider.with("c_1\\\"}", "c_1")]).await;
        if provider == Provider::OpenaiResponses {
            // The same text stands twice in that stream; both are broken.
            assert_eq!(error, None);
        }
        let bad = Event::BadCall(BadCall {
            id: "toolu_b".into(),
            tool: "get_balance".into(),
        });
        assert!(events.contains(&bad), "{provider:?}: {events:?}");
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::Call(call) if call.id == "toolu_a"))
        );
    }
}

#[tokio::test]
async fn two_calls_of_one_id_make_no_reply() {
    for provider in ALL {
        let (_, events, error) = play(provider, vec![provider.with("toolu_b", "toolu_a")]).await;
        // Where calls are told apart by their ids alone, the second is taken for a repetition of the first.
        assert!(
            !events.iter().any(|event| matches!(event, Event::Call(_))),
            "{provider:?}: {events:?}"
        );
        assert_eq!(error, Some(ModelError::Malformed), "{provider:?}");
    }
}

#[tokio::test]
async fn names_and_ids_that_are_none_make_no_reply() {
    for provider in ALL {
        for bad in ["get balance", "get\\u0000balance", &"x".repeat(300)] {
            let (_, events, error) = play(provider, vec![provider.with("get_balance", bad)]).await;
            assert_eq!(error, Some(ModelError::Malformed), "{provider:?}");
            assert!(!events.iter().any(|event| matches!(event, Event::Call(_))));
        }
    }
}

#[tokio::test]
async fn a_reply_without_end_is_cut() {
    for provider in ALL {
        let piece = provider.text(&"word ".repeat(2000));
        let endless = provider
            .answer(b"")
            .then_again(&piece, std::time::Duration::ZERO);
        let (server, events, error) = play(provider, vec![endless]).await;
        assert_eq!(error, Some(ModelError::TooMuch), "{provider:?}");
        assert!(words(&events).len() <= 256 * 1024);
        assert_eq!(server.asked().len(), 1);
        // One event without end: its bytes are bounded too, and are never shown.
        let part = vec![b'x'; 64 * 1024];
        let head: &[u8] = if provider == Provider::Bedrock {
            &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]
        } else {
            b"data: {"
        };
        let huge = provider
            .answer(head)
            .then_again(&part, std::time::Duration::ZERO);
        let (_, events, error) = play(provider, vec![huge]).await;
        assert_eq!(
            (events, error),
            (vec![], Some(ModelError::TooMuch)),
            "{provider:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_of_another_form_is_malformed() {
    for provider in ALL {
        for script in [
            Script::ok("text/html", b"<h1>Sign in to the network</h1>"),
            Script::ok("application/json", b"{\"choices\":[]}"),
            provider.answer(b"<h1>Sign in</h1>\n\n"),
            provider.answer(b"data: {\"type\":\n\n"),
            provider.answer(b"data: \xff\xfe\n\n"),
            provider.answer(b"data: []\n\n"),
        ] {
            let (events, error) = play_once(provider, script).await;
            assert!(events.is_empty());
            assert!(
                matches!(error, Some(ModelError::Malformed | ModelError::Unavailable)),
                "{provider:?}: {error:?}"
            );
        }
    }
    let mut broken = Provider::Bedrock.parts();
    let last = broken[1].len() - 1;
    broken[1][last] ^= 1;
    let (_, _, error) = play(
        Provider::Bedrock,
        vec![Provider::Bedrock.answer(&broken.concat())],
    )
    .await;
    assert_eq!(
        error,
        Some(ModelError::Malformed),
        "a checksum that does not fit"
    );
}

#[tokio::test]
async fn words_behind_the_end_are_not_shown() {
    let body = [
        Provider::Anthropic.parts().concat(),
        Provider::Anthropic.text("Call +49 151"),
    ]
    .concat();
    let (_, events, _) = play(Provider::Anthropic, vec![Provider::Anthropic.answer(&body)]).await;
    assert_eq!(words(&events), "Ich schaue kurz nach. Grüße 👩");
    assert_eq!(events.last(), Some(&Event::Done));
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_goes_nowhere_else() {
    for provider in ALL {
        for status in [301, 302, 303, 307, 308] {
            let elsewhere = Server::start(vec![provider.good()]).await;
            let to = format!("http://{}/", elsewhere.address);
            let (server, events, error) = play(
                provider,
                vec![Script::status(status, "").header("location", &to)],
            )
            .await;
            assert_eq!(
                (events, error),
                (vec![], Some(ModelError::Redirected)),
                "{provider:?} {status}"
            );
            assert_eq!((server.asked().len(), elsewhere.asked().len()), (1, 0));
        }
    }
}

#[tokio::test]
async fn no_error_repeats_the_key_or_what_the_endpoint_said() {
    for provider in ALL {
        let (_, _, error) = play(
            provider,
            vec![Script::status(
                400,
                &format!("{{\"error\":{{\"message\":\"bad key {KEY}, dial 110\"}}}}"),
            )],
        )
        .await;
        let text = error.unwrap().to_string();
        assert!(!text.contains(KEY) && !text.contains("110"), "{text}");
    }
}
