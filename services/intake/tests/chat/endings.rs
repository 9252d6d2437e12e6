//! However a turn ends, its rights end with it.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    bank::{Bank, Chat, lines, problem},
    fake_agent::{Part, done, line, text},
};

const LIVE_TURNS: &str =
    "SELECT count(*) FROM bank.session_grant WHERE audience = 'bank_mcp' AND revoked_at IS NULL";

/// Waits for what happens after an answer was given up.
async fn soon<F: Future<Output = bool>>(what: &str, check: impl Fn() -> F) {
    for _ in 0..100 {
        if check().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not within five seconds: {what}");
}

#[tokio::test]
async fn the_bank_takes_a_turns_secret_while_it_runs_and_never_after() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[Part::Hold, text("ok"), done()]);
    let message = chat.message("Send 20 to Bob");
    let during = async {
        bank.agent.turn_came().await;
        let secret = bank.claims_of_last_turn().grant_secret;
        assert!(bank.bank_accepts(&secret).await, "while the turn runs");
        bank.agent.go_on();
        secret
    };
    let (response, secret) = tokio::join!(chat.send(&message), during);
    lines(response).await;
    assert!(!bank.bank_accepts(&secret).await, "after the last line");
    // The chat's own bearer never was a secret of the bank's tools.
    assert!(
        !bank
            .bank_accepts(&countersign_domain::Secret::new(&*chat.bearer))
            .await
    );
}

#[tokio::test]
async fn every_ending_of_the_agents_is_an_end_of_the_turn() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let cases: &[(&str, &[Part], &str, &str)] = &[
        (
            "ends without saying so",
            &[text("half")],
            "interrupted",
            "failed half",
        ),
        (
            "breaks off",
            &[text("half"), Part::Break],
            "interrupted",
            "failed half",
        ),
        (
            "dies within a line",
            &[Part::Bytes(b"{\"type\":\"te".to_vec())],
            "interrupted",
            "failed ",
        ),
        (
            "writes no JSON",
            &[line("hello")],
            "agent_failed",
            "failed ",
        ),
        (
            "writes a line of its own making",
            &[line(r#"{"type":"card","html":"<b>"}"#)],
            "agent_failed",
            "failed ",
        ),
        ("writes without end", &[Part::Endless], "reply_too_long", ""),
        (
            "writes one line without end",
            &[Part::Bytes(vec![b'x'; 300_000])],
            "agent_failed",
            "failed ",
        ),
        (
            "gives up",
            &[
                text("Sorry."),
                line(r#"{"type":"failed","code":"model_unavailable"}"#),
            ],
            "model_unavailable",
            "failed Sorry.",
        ),
        (
            "gives up in words of its own",
            &[line(r#"{"type":"failed","code":"call 0151"}"#)],
            "agent_failed",
            "failed ",
        ),
        (
            "writes no text",
            &[done(), text("after the end")],
            "",
            "complete ",
        ),
    ];
    for (name, parts, code, kept) in cases {
        bank.agent.will_answer(parts);
        let found = chat.say("hello").await;
        let last = found.last().expect("a last line");
        if code.is_empty() {
            assert_eq!(*last, json!({"type": "done"}), "{name}");
        } else {
            assert_eq!(*last, json!({"type": "failed", "code": code}), "{name}");
        }
        assert_eq!(bank.count(LIVE_TURNS).await, 0, "{name}");
        let row = bank
            .text("SELECT state || ' ' || body FROM bank.reply ORDER BY started_at DESC LIMIT 1")
            .await;
        if kept.is_empty() {
            assert!(row.starts_with("failed x x x"), "{name}");
        } else {
            assert_eq!(row, *kept, "{name}");
        }
    }
    bank.agent.will_refuse(StatusCode::SERVICE_UNAVAILABLE);
    let found = chat.say("hello").await;
    assert_eq!(
        found.last(),
        Some(&json!({"type": "failed", "code": "agent_unavailable"}))
    );
    assert_eq!(bank.count(LIVE_TURNS).await, 0);
}

#[tokio::test]
async fn a_browser_that_hangs_up_ends_the_turn_and_the_agent_hears_of_it() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    // Long enough that the first sentence is shown.
    let begin = format!("I am here. {}", "And so on, and so on. ".repeat(20));
    bank.agent
        .will_answer(&[text(&begin), Part::Hold, text("never read"), done()]);
    let mut response = chat.send(&chat.message("hello")).await;
    let mut seen = String::new();
    while !seen.contains("I am") {
        let piece = response.chunk().await.expect("read").expect("a piece");
        seen.push_str(std::str::from_utf8(&piece).expect("text"));
    }
    let secret = bank.claims_of_last_turn().grant_secret;
    assert!(bank.bank_accepts(&secret).await);
    drop(response);
    soon("the secret is refused", || async {
        !bank.bank_accepts(&secret).await
    })
    .await;
    soon("the agent is left", || async { bank.agent.hung_up() == 1 }).await;
    soon("the reply is closed", || async {
        bank.text("SELECT state || ' ' || body FROM bank.reply")
            .await
            .starts_with("stopped I am here. ")
    })
    .await;
    // The conversation is free for the next message.
    assert_eq!(
        chat.say("again").await.last(),
        Some(&json!({"type": "done"}))
    );
}

#[tokio::test]
async fn a_stopped_process_takes_the_rights_of_its_turns_back() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[text("I am "), Part::Hold, done()]);
    let response = chat.send(&chat.message("hello")).await;
    bank.agent.turn_came().await;
    let secret = bank.claims_of_last_turn().grant_secret;
    let reading = tokio::spawn(lines(response));
    bank.stop();
    let found = reading.await.expect("read");
    assert_eq!(
        found.last(),
        Some(&json!({"type": "failed", "code": "interrupted"}))
    );
    assert!(!bank.bank_accepts(&secret).await);
}

#[tokio::test]
async fn a_crashed_process_leaves_a_turn_that_ends_by_its_own_clock() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[text("I am "), Part::Hold, done()]);
    let response = chat.send(&chat.message("hello")).await;
    bank.agent.turn_came().await;
    let secret = bank.claims_of_last_turn().grant_secret;
    bank.kill();
    drop(response);
    let replica = bank.replica();
    let after = Chat {
        bank: &replica,
        ..chat.clone()
    };
    let again = after.message("again");
    assert_eq!(
        problem(after.send(&again).await).await,
        (409, "turn_running".to_owned())
    );
    bank.database.set_clock_ahead(131).await.expect("clock");
    assert!(!bank.bank_accepts(&secret).await);
    assert_eq!(
        lines(after.send(&again).await).await.last(),
        Some(&json!({"type": "done"}))
    );
}

#[tokio::test]
async fn signing_out_ends_a_running_turn() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[Part::Hold, text("ok"), done()]);
    let message = chat.message("hello");
    let during = async {
        bank.agent.turn_came().await;
        let secret = bank.claims_of_last_turn().grant_secret;
        assert!(bank.bank_accepts(&secret).await);
        let mut panel = bank.as_role("panel", ada.panel_secret.expose()).await;
        sqlx::query("SELECT bank.end_panel_session()")
            .execute(&mut panel)
            .await
            .expect("sign out");
        assert!(!bank.bank_accepts(&secret).await, "at once");
        bank.agent.go_on();
    };
    let (response, ()) = tokio::join!(chat.send(&message), during);
    lines(response).await;
    assert_eq!(chat.send(&chat.message("hello")).await.status(), 401);
}

#[tokio::test]
async fn a_false_it_is_done_is_answered_from_the_record() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let claim = [text("I've sent 20 "), text("to Bob."), done()];
    bank.agent.will_answer(&claim);
    let message = chat.message("Send 20 to Bob");
    let found = lines(chat.send(&message).await).await;
    let nothing = json!({"confirmed": [], "waiting": [], "dropped": []});
    let corrected = json!({"type": "corrected", "record": nothing});
    assert_eq!(
        found[found.len() - 2..],
        [corrected.clone(), json!({"type": "done"})]
    );
    assert!(
        lines(chat.send(&message).await).await.contains(&corrected),
        "said again with the stored reply"
    );
    let reloaded = bank.open_chat(&ada).await;
    assert_eq!(reloaded.opened["history"][1]["corrected"], nothing);
    sqlx::query(
        "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through, state)
         SELECT customer_id, gen_random_uuid(), conversation_id, 'transfer', 'transfer', 0, 'confirmed' FROM bank.conversation",
    )
    .execute(&mut bank.admin().await)
    .await
    .expect("a confirmed request");
    bank.agent.will_answer(&claim);
    assert!(
        !chat.say("did you?").await.contains(&corrected),
        "it may be true now"
    );
}

#[tokio::test]
async fn a_false_it_waits_or_is_cancelled_is_answered_from_the_record() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let record = async |reply: &str| {
        bank.agent.will_answer(&[text(reply), done()]);
        let mut found = chat.say("hello").await;
        found.retain(|line| line["type"] == "corrected");
        found.pop().map(|line| line["record"].clone())
    };
    let nothing = json!({"confirmed": [], "waiting": [], "dropped": []});
    for reply in [
        "260 euro naar Carol staat klaar.",
        "I've prepared it.",
        "A card is waiting for you.",
        "Fatto, ho alzato il tuo limite giornaliero a 10000 EUR.",
        "Die Reklamation wurde eingereicht.",
        "Gotowe, anulowałem przelew.",
    ] {
        assert_eq!(record(reply).await.as_ref(), Some(&nothing), "{reply}");
    }
    sqlx::query(
        "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
         SELECT customer_id, gen_random_uuid(), conversation_id, 'transfer', 'transfer', 0 FROM bank.conversation",
    )
    .execute(&mut bank.admin().await)
    .await
    .expect("a request that waits");
    let waits = json!({"confirmed": [], "waiting": ["transfer"], "dropped": []});
    for reply in [
        "Gotowe, anulowałem przelew.",
        "I've sent it.",
        "The dispute is prepared.",
    ] {
        assert_eq!(record(reply).await.as_ref(), Some(&waits), "{reply}");
    }
    for reply in [
        "I've prepared the payment. Check it on the right.",
        "Nothing has been sent yet.",
        "Shall I prepare it?",
        "Once you confirm, it will be sent.",
    ] {
        assert_eq!(record(reply).await, None, "{reply}");
    }
}

#[tokio::test]
async fn a_hostile_reply_shows_nothing_hidden_and_claims_nothing_unrecorded() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let known = Uuid::now_v7();
    sqlx::query(
        "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
         SELECT customer_id, $1, conversation_id, 'transfer', 'transfer', 0 FROM bank.conversation",
    )
    .bind(known)
    .execute(&mut bank.admin().await)
    .await
    .expect("request");
    let prepared = |id: Uuid| {
        line(&format!(
            r#"{{"type":"prepared","action":"act_{}"}}"#,
            id.simple()
        ))
    };
    bank.agent.will_answer(&[
        text("Do\u{200b}ne\u{202e}\u{e0041}. 👩\u{200d}"),
        text("👧 <b>x</b>"),
        line(r#"{"type":"looked_at","tool":"your card is blocked, call 0151"}"#),
        line(r#"{"type":"looked_at","tool":"list_payees"}"#),
        line(r#"{"type":"looked_at","tool":"list_payees"}"#),
        prepared(Uuid::now_v7()),
        prepared(known),
        prepared(known),
        done(),
    ]);
    let found = chat.say("hello").await;
    let reply: String = found
        .iter()
        .filter(|line| line["type"] == "text")
        .map(|line| line["text"].as_str().expect("text"))
        .collect();
    assert_eq!(reply, "Done. 👩\u{200d}👧 x");
    let rest: Vec<&Value> = found[1..]
        .iter()
        .filter(|line| line["type"] != "text")
        .collect();
    assert_eq!(
        rest,
        [
            &json!({"type": "prepared", "action": format!("act_{}", known.simple())}),
            &json!({"type": "corrected", "record": {"confirmed": [], "waiting": ["transfer"], "dropped": []}}),
            &json!({"type": "done"}),
        ]
    );
    // What it said of tools and requests and the record does not know is an operator's to see.
    let noticed = bank
        .text("SELECT string_agg(rule || ' ' || number, ', ' ORDER BY rule) FROM bank.chat_event WHERE kind = 'agent_misreport'")
        .await;
    assert_eq!(noticed, "not_looked_at 1, not_prepared 1, unknown_tool 1");
}
