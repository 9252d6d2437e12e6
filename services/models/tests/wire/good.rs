//! Answers as providers give them.

use countersign_models::{Event, ModelError, ToolCall, Usage};
use serde_json::{Value, json};

use crate::provider::{ALL, KEY, Provider, play, play_once, words};

fn call(id: &str, tool: &str, arguments: Value) -> Event {
    Event::Call(ToolCall {
        id: id.into(),
        tool: tool.into(),
        arguments: arguments.as_object().unwrap().clone(),
    })
}

fn wanted() -> Vec<Event> {
    vec![
        call("toolu_a", "list_payees", json!({})),
        call("toolu_b", "get_balance", json!({"account": "acc_1"})),
        Event::Usage(Usage {
            input_tokens: 422,
            output_tokens: 57,
        }),
        Event::Done,
    ]
}

#[tokio::test]
async fn words_parallel_calls_and_use_come_out_however_the_answer_is_cut() {
    for provider in ALL {
        let length = provider.parts().concat().len();
        for piece in [1, 2, 3, 7, 64, 1000, length] {
            let (_, events, error) = play(provider, vec![provider.good().in_pieces(piece)]).await;
            assert_eq!(error, None, "{provider:?} {piece}");
            assert_eq!(
                words(&events),
                "Ich schaue kurz nach. Grüße 👩",
                "{provider:?} {piece}"
            );
            let rest: Vec<Event> = events
                .into_iter()
                .filter(|event| !matches!(event, Event::Text(_)))
                .collect();
            assert_eq!(rest, wanted(), "{provider:?} {piece}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_anywhere_hands_out_no_call() {
    for provider in ALL {
        let parts = provider.parts();
        // The last part may be missing: an OpenAI stream counts from its finish reason on.
        for kept in 0..parts.len() - 1 {
            let broken = provider.answer(&parts[..kept].concat()).then_breaks();
            let ended = provider.answer(&parts[..kept].concat());
            for script in [broken, ended] {
                let (events, error) = play_once(provider, script).await;
                let calls = events
                    .iter()
                    .filter(|event| matches!(event, Event::Call(_) | Event::Done))
                    .count();
                let finished = provider == Provider::OpenaiChat && kept + 2 >= parts.len()
                    || provider == Provider::Bedrock && kept + 1 >= parts.len();
                assert!(
                    finished || (calls == 0 && error == Some(ModelError::Unavailable)),
                    "{provider:?} {kept}: {events:?} {error:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_reply_that_reached_its_length_hands_out_no_call() {
    for provider in ALL {
        let (whole, cut) = provider.endings();
        let (_, events, error) = play(provider, vec![provider.with(whole, cut)]).await;
        assert_eq!(error, None);
        assert_eq!(events.last(), Some(&Event::CutShort), "{provider:?}");
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, Event::Call(_) | Event::BadCall(_) | Event::Done)),
            "{provider:?}"
        );
    }
}

#[tokio::test]
async fn the_request_has_the_providers_form_and_the_key_in_its_place() {
    for provider in ALL {
        let (server, ..) = play(provider, vec![provider.good()]).await;
        let asked = &server.asked()[0];
        let body = asked.json();
        let head = asked.head.to_lowercase();
        let text = body.to_string();
        assert!(!text.contains(KEY), "{provider:?}");
        let result = |text: &Value| serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap();
        let (first, second) = match provider {
            Provider::Anthropic => {
                assert!(
                    asked.head.starts_with("POST /v1/messages "),
                    "{}",
                    asked.head
                );
                assert!(
                    head.contains(&format!("x-api-key: {KEY}"))
                        && head.contains("anthropic-version: 2023-06-01")
                );
                assert_eq!(
                    (&body["system"], &body["stream"], &body["max_tokens"]),
                    (&json!("Reviewed."), &json!(true), &json!(1024))
                );
                assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
                let blocks = &body["messages"][2]["content"];
                assert_eq!(
                    (&blocks[0]["tool_use_id"], &blocks[1]["tool_use_id"]),
                    (&json!("c1"), &json!("c2"))
                );
                assert_eq!(
                    (
                        &blocks[0]["is_error"],
                        &blocks[1]["is_error"],
                        &blocks[2]["type"]
                    ),
                    (&json!(false), &json!(true), &json!("text"))
                );
                (result(&blocks[0]["content"]), result(&blocks[1]["content"]))
            }
            Provider::OpenaiChat => {
                assert!(
                    asked.head.starts_with("POST /v1/chat/completions "),
                    "{}",
                    asked.head
                );
                assert!(head.contains(&format!("authorization: bearer {KEY}")));
                assert_eq!(
                    body["messages"][0],
                    json!({"role": "system", "content": "Reviewed."})
                );
                assert_eq!(
                    (
                        &body["max_completion_tokens"],
                        &body["stream_options"]["include_usage"]
                    ),
                    (&json!(1024), &json!(true))
                );
                assert_eq!(
                    body["messages"][2]["tool_calls"][1]["function"],
                    json!({"name": "list_cards", "arguments": "{}"})
                );
                assert_eq!(body["messages"][3]["tool_call_id"], "c1");
                (
                    result(&body["messages"][3]["content"]),
                    result(&body["messages"][4]["content"]),
                )
            }
            Provider::OpenaiResponses => {
                assert!(
                    asked.head.starts_with("POST /v1/responses "),
                    "{}",
                    asked.head
                );
                assert!(head.contains(&format!("authorization: bearer {KEY}")));
                assert_eq!(
                    (&body["instructions"], &body["store"]),
                    (&json!("Reviewed."), &json!(false))
                );
                assert_eq!(body["input"][1]["type"], "function_call");
                assert_eq!(body["input"][3]["call_id"], "c1");
                (
                    result(&body["input"][3]["output"]),
                    result(&body["input"][4]["output"]),
                )
            }
            Provider::Bedrock => {
                assert!(
                    asked
                        .head
                        .starts_with("POST /model/a.m-v1:0/converse-stream "),
                    "{}",
                    asked.head
                );
                assert!(
                    head.contains("authorization: aws4-hmac-sha256 credential=akid/")
                        && head.contains("/eu-central-1/bedrock/aws4_request")
                );
                assert!(!head.contains(KEY));
                assert_eq!(body["system"][0]["text"], "Reviewed.");
                let blocks = &body["messages"][2]["content"];
                assert_eq!(
                    (
                        &blocks[0]["toolResult"]["status"],
                        &blocks[1]["toolResult"]["status"]
                    ),
                    (&json!("success"), &json!("error"))
                );
                (
                    result(&blocks[0]["toolResult"]["content"][0]["text"]),
                    result(&blocks[1]["toolResult"]["content"][0]["text"]),
                )
            }
        };
        assert!(text.contains("[from the program, not from the customer] Go on."));
        assert_eq!(
            (&first["from_tool"], &first["status"], &first["data"]),
            (&json!("list_cards"), &json!("done"), &json!({"cards": []}))
        );
        assert!(
            first["warnings"][0]
                .as_str()
                .unwrap()
                .contains("It is data")
        );
        assert_eq!(
            (&second["status"], &second["data"]["code"]),
            (&json!("refused"), &json!("busy"))
        );
    }
}

#[tokio::test]
async fn a_server_that_tells_calls_apart_by_id_alone_is_understood() {
    let body = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"list_cards\",\"arguments\":\"{}\"}},{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"list_payees\",\"arguments\":{}}}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"list_accounts\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\n";
    let (_, events, error) = play(
        Provider::OpenaiChat,
        vec![Provider::OpenaiChat.answer(body.as_bytes())],
    )
    .await;
    assert_eq!(error, None);
    assert_eq!(
        events,
        [
            call("a", "list_cards", json!({})),
            call("b", "list_payees", json!({})),
            call("call_3", "list_accounts", json!({})),
            Event::Done
        ]
    );
}

#[tokio::test]
async fn what_a_provider_filtered_is_told_apart() {
    for (provider, declined) in [
        (Provider::Anthropic, "\"stop_reason\":\"refusal\""),
        (Provider::OpenaiChat, "\"finish_reason\":\"content_filter\""),
        (
            Provider::OpenaiResponses,
            "\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"content_filter\"},",
        ),
        (Provider::Bedrock, "\"stopReason\":\"guardrail_intervened\""),
    ] {
        let (_, events, _) = play(
            provider,
            vec![provider.with(provider.endings().0, declined)],
        )
        .await;
        assert_eq!(events.last(), Some(&Event::Declined), "{provider:?}");
        assert!(!events.iter().any(|event| matches!(event, Event::Call(_))));
    }
}
