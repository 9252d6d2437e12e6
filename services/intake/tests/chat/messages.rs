//! What is recorded, once, before anybody else hears of it.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    bank::{Bank, Chat, lines, problem},
    fake_agent::{Part, done, line, text},
};

const UTTERANCES: &str = "SELECT count(*) FROM bank.utterance";

#[tokio::test]
async fn a_message_is_on_record_before_the_agent_hears_of_it() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent
        .will_answer(&[Part::Hold, text("You have 5 left."), done()]);
    let mut message = chat.message("Pay grüße 20");
    message["spans"] = json!([{"kind": "paste", "start": 4, "end": 11}]);
    let sending = chat.send(&message);
    let looking = async {
        bank.agent.turn_came().await;
        let row = bank
            .text("SELECT u.body || ' ' || u.spans::text || ' ' || r.state FROM bank.utterance u JOIN bank.reply r USING (customer_id, conversation_id, utterance_id)")
            .await;
        assert_eq!(
            row,
            r#"Pay grüße 20 [{"end": 11, "kind": "paste", "start": 4}] running"#
        );
        bank.agent.go_on();
    };
    let (response, ()) = tokio::join!(sending, looking);
    let found = lines(response).await;
    assert_eq!(found[0]["type"], "recorded");
    assert_eq!(
        found[1..],
        [
            json!({"type": "text", "text": "You have 5 left."}),
            json!({"type": "done"})
        ]
    );
    assert_eq!(
        bank.text("SELECT state || ' ' || body FROM bank.reply")
            .await,
        "complete You have 5 left."
    );
}

#[tokio::test]
async fn the_agent_is_told_the_message_the_past_and_nothing_that_names_the_customer() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada Lovelace").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[text("You have 5."), done()]);
    chat.say("balance?").await;
    chat.say("and yesterday?").await;
    let turns = bank.agent.turns();
    let names: Vec<&String> = turns[1].as_object().expect("object").keys().collect();
    assert_eq!(
        names,
        [
            "history",
            "locale",
            "message",
            "remaining",
            "session_token",
            "turn_id"
        ]
    );
    assert_eq!(turns[1]["message"], "and yesterday?");
    assert_eq!(
        turns[1]["history"],
        json!([{"role": "customer", "text": "balance?"}, {"role": "assistant", "text": "You have 5."}])
    );
    let claims = bank.claims_of_last_turn();
    assert_eq!(claims.customer.uuid(), ada.id);
    assert_eq!(claims.conversation.to_string(), chat.conversation);
    assert_eq!(turns[1]["turn_id"], claims.turn.to_string());
    assert!(claims.expires_at - claims.issued_at <= 120);
    assert_ne!(turns[0]["session_token"], turns[1]["session_token"]);
    assert!(!turns[1].to_string().contains("Lovelace"));
}

#[tokio::test]
async fn a_new_conversation_remembers_nothing() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let mut chat = bank.open_chat(&ada).await;
    chat.say("Send 20 to Bob").await;
    let begun = bank
        .post("/conversations", &json!({}))
        .bearer_auth(&chat.bearer)
        .send()
        .await
        .expect("answer");
    assert_eq!(begun.status(), 201);
    let begun: Value = begun.json().await.expect("json");
    chat.conversation = begun["conversation"].as_str().expect("id").to_owned();
    chat.say("hello").await;
    assert_eq!(bank.agent.turns()[1]["history"], json!([]));
    // Without a name the newest is meant.
    let mut unnamed = chat.message("still here");
    unnamed
        .as_object_mut()
        .expect("object")
        .remove("conversation");
    lines(chat.send(&unnamed).await).await;
    assert_eq!(
        bank.claims_of_last_turn().conversation.to_string(),
        chat.conversation
    );
}

#[tokio::test]
async fn a_double_send_is_one_message_and_one_turn() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[
        Part::Hold,
        line(r#"{"type":"looked_at","tool":"list_payees"}"#),
        text("You have 5."),
        done(),
    ]);
    let message = chat.message("Send 20 to Bob");
    // Both answers begin while the agent holds its own back.
    let (one, other) = tokio::join!(chat.send(&message), chat.send(&message));
    bank.agent.turn_came().await;
    bank.looks_at("list_payees").await;
    bank.agent.go_on();
    let (one, other) = tokio::join!(lines(one), lines(other));
    assert_eq!(one, other);
    assert_eq!(one.len(), 4);
    assert_eq!(
        one[1],
        json!({"type": "looked_at", "tool": "list_payees", "receipt": "0a".repeat(32)})
    );
    let later = lines(chat.send(&message).await).await;
    assert_eq!(later, one);
    assert_eq!(bank.count(UTTERANCES).await, 1);
    assert_eq!(bank.agent.turns().len(), 1);
}

#[tokio::test]
async fn an_id_stands_for_one_message_only() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let mut message = chat.message("Send 20 to Bob");
    lines(chat.send(&message).await).await;
    message["text"] = json!("Send 900 to Bob");
    assert_eq!(
        problem(chat.send(&message).await).await,
        (409, "message_id_reused".to_owned())
    );
    message["text"] = json!("Send 20 to Bob");
    message["spans"] = json!([{"kind": "paste", "start": 0, "end": 4}]);
    assert_eq!(
        problem(chat.send(&message).await).await,
        (409, "message_id_reused".to_owned())
    );
    assert_eq!(bank.count(UTTERANCES).await, 1);
}

#[tokio::test]
async fn a_second_message_waits_for_the_first_reply_and_is_not_recorded_meanwhile() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let (chat, tab) = (bank.open_chat(&ada).await, bank.open_chat(&ada).await);
    assert_eq!(chat.conversation, tab.conversation);
    bank.agent.will_answer(&[Part::Hold, text("one"), done()]);
    let first = chat.message("first");
    let second = tab.message("second");
    let meanwhile = async {
        bank.agent.turn_came().await;
        let refused = problem(tab.send(&second).await).await;
        assert_eq!(refused, (409, "turn_running".to_owned()));
        assert_eq!(bank.count(UTTERANCES).await, 1);
        bank.agent.go_on();
    };
    let ((), first) = tokio::join!(meanwhile, async { lines(chat.send(&first).await).await });
    assert_eq!(first.last(), Some(&json!({"type": "done"})));
    let again = lines(tab.send(&second).await).await;
    assert_eq!(again.last(), Some(&json!({"type": "done"})));
    assert_eq!(bank.count(UTTERANCES).await, 2);
}

#[tokio::test]
async fn two_messages_at_once_begin_one_turn() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    for round in 0..5 {
        bank.agent.will_answer(&[Part::Hold, done()]);
        let (one, other) = (chat.message("a"), chat.message("b"));
        let (one, other) = tokio::join!(chat.send(&one), chat.send(&other));
        let mut statuses = [one.status().as_u16(), other.status().as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "round {round}");
        bank.agent.turn_came().await;
        bank.agent.go_on();
        let _ = tokio::join!(one.text(), other.text());
    }
    assert_eq!(bank.count(UTTERANCES).await, 5);
}

#[tokio::test]
async fn two_processes_answer_one_message_at_a_time() {
    let bank = Bank::start().await;
    let other = bank.replica();
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let there = Chat {
        bank: &other,
        ..chat.clone()
    };
    for round in 0..3 {
        bank.agent.will_answer(&[Part::Hold, text("one"), done()]);
        let message = chat.message("hello");
        let (same, newer) = (message.clone(), there.message("another"));
        let meanwhile = async {
            bank.agent.turn_came().await;
            assert_eq!(
                problem(there.send(&newer).await).await,
                (409, "turn_running".to_owned())
            );
            let repeating = there.send(&same).await;
            bank.agent.go_on();
            lines(repeating).await
        };
        let (here, repeated) =
            tokio::join!(async { lines(chat.send(&message).await).await }, meanwhile);
        assert_eq!(here, repeated, "round {round}");
        let newer = there.send(&newer).await;
        bank.agent.turn_came().await;
        assert_eq!(lines(newer).await.last(), Some(&json!({"type": "done"})));
    }
    assert_eq!(bank.count(UTTERANCES).await, 6);
    assert_eq!(bank.agent.turns().len(), 6);
}

#[tokio::test]
async fn what_is_not_a_message_is_refused_and_leaves_nothing() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.customer("Ada").await, bank.customer("Kabir").await);
    let chat = bank.open_chat(&ada).await;
    let others = bank.open_chat(&kabir).await;
    let long = "x".repeat(2001);
    let id = Uuid::now_v7();
    let base = |text: &str, spans: Value| json!({"client_message_id": id, "conversation": chat.conversation, "text": text, "spans": spans});
    let cases = [
        (base("", json!([])), 422, "message_empty"),
        (base(" \n ", json!([])), 422, "message_empty"),
        (base(&long, json!([])), 422, "message_too_long"),
        (base("a\0b", json!([])), 422, "message_characters"),
        (
            base("é", json!([{"kind": "paste", "start": 0, "end": 1}])),
            422,
            "invalid_spans",
        ),
        (
            base("a", json!([{"kind": "paste", "start": 0, "end": 2}])),
            422,
            "invalid_spans",
        ),
        (
            base("a", json!([{"kind": "typed", "start": 0, "end": 1}])),
            422,
            "invalid_body",
        ),
        (
            base("a", json!([{"kind": "paste", "start": -1, "end": 1}])),
            422,
            "invalid_body",
        ),
        (base("a", json!(null)), 422, "invalid_body"),
        (
            json!({"client_message_id": id, "text": "a"}),
            422,
            "invalid_body",
        ),
        (
            json!({"client_message_id": "7", "text": "a", "spans": []}),
            422,
            "invalid_body",
        ),
        (
            json!({"client_message_id": id, "text": "a", "spans": [], "customer": ada.id}),
            422,
            "invalid_body",
        ),
        (
            json!({"client_message_id": id, "text": 7, "spans": []}),
            422,
            "invalid_body",
        ),
        (json!([]), 422, "invalid_body"),
        (
            json!({"client_message_id": id, "conversation": others.conversation, "text": "a", "spans": []}),
            404,
            "not_found",
        ),
    ];
    for (body, status, code) in cases {
        assert_eq!(
            problem(chat.send(&body).await).await,
            (status, code.to_owned()),
            "{body}"
        );
    }
    for raw in [
        "",
        "{",
        "{\"text\":\"\\ud800\"}",
        "{\"text\":\"a\",\"text\":\"b\"}",
    ] {
        let response = bank
            .http
            .post(format!("{}/messages", bank.origin))
            .header("origin", &bank.origin)
            .header("content-type", "application/json")
            .bearer_auth(&chat.bearer)
            .body(raw)
            .send()
            .await
            .expect("answer");
        let (status, code) = problem(response).await;
        assert!(
            matches!(
                (status, code.as_str()),
                (400, "invalid_json") | (422, "invalid_body")
            ),
            "{raw}: {status} {code}"
        );
    }
    let huge = base(&"x".repeat(80_000), json!([]));
    assert_eq!(
        problem(chat.send(&huge).await).await,
        (413, "too_large".to_owned())
    );
    assert_eq!(bank.count(UTTERANCES).await, 0);
    assert_eq!(bank.agent.turns().len(), 0);
}

#[tokio::test]
async fn a_flood_is_stopped() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    for _ in 0..30 {
        chat.say("hello").await;
    }
    let refused = problem(chat.send(&chat.message("hello")).await).await;
    assert_eq!(refused, (429, "too_many_messages".to_owned()));
    assert_eq!(bank.count(UTTERANCES).await, 30);
    let other = bank.customer("Kabir").await;
    bank.open_chat(&other).await.say("hello").await;
}
