//! What must not reach a browser, whatever the agent says: another customer's canary, a question for a secret, an
//! address that passes for the bank's. And what is recorded of it.

use serde_json::{Value, json};

use crate::{
    bank::{Bank, Chat, Customer},
    fake_agent::{Part, done, line, text},
};

/// A code with letters, so that every disguise of it is one.
const CODE: &str = "7KQ2XW9ZL4BTM3HD";
/// Ten characters of it.
const PART: &str = "Q2XW9ZL4BT";

async fn with_code(bank: &Bank, name: &str, code: &str) -> Customer {
    let customer = bank.customer(name).await;
    sqlx::query("UPDATE bank.customer SET canary_code = $2 WHERE customer_id = $1")
        .bind(customer.id)
        .bind(code)
        .execute(&mut bank.admin().await)
        .await
        .expect("code");
    customer
}

async fn answers(chat: &Chat<'_>, words: &[&str]) -> Vec<Value> {
    let parts: Vec<_> = words
        .iter()
        .map(|words| text(words))
        .chain([done()])
        .collect();
    chat.bank.agent.will_answer(&parts);
    chat.say("hello").await
}

fn words(found: &[Value]) -> String {
    found
        .iter()
        .filter_map(|line| line["text"].as_str())
        .collect()
}

const ALARMS: &str = "SELECT count(*) FROM bank.chat_event WHERE kind = 'canary_alarm'";

#[tokio::test]
async fn another_customers_canary_never_reaches_the_page_in_any_disguise() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    with_code(&bank, "Kabir", CODE).await;
    let chat = bank.open_chat(&ada).await;
    let reversed: String = PART.chars().rev().collect();
    let disguises = [
        PART,
        CODE,
        "q2xw9zl4bt",
        "Ｑ２ＸＷ９ＺＬ４ＢＴ",
        "Q2\u{425}W9\u{396}L4\u{412}\u{422}",
        "Q-2.X W_9/Z*L\n4,B T",
        "Q\u{336}2\u{336}X\u{336}W\u{336}9\u{336}Z\u{336}L\u{336}4\u{336}B\u{336}T",
        "UTJYVzlaTDRCVA==",
        "51325857395a4c344254",
        "%51%32%58%57%39%5A%4C%34%42%54",
        "&#81;&#50;&#88;&#87;&#57;&#90;&#76;&#52;&#66;&#84;",
        "81 50 88 87 57 90 76 52 66 84",
        "D2KJ9MY4OG",
        &reversed,
        "first Q2XW9 and then ZL4BT",
    ];
    for (number, disguise) in disguises.iter().enumerate() {
        let found = answers(&chat, &["Here it is: ", disguise, ". Keep it."]).await;
        assert_eq!(
            found.last(),
            Some(&json!({"type": "failed", "code": "withheld"})),
            "{disguise}"
        );
        let shown = words(&found);
        assert!(
            !shown.contains(disguise) && !shown.contains("Keep it"),
            "{disguise}: {shown}"
        );
        let alarms = i64::try_from(number).expect("few") + 1;
        assert_eq!(bank.count(ALARMS).await, alarms, "{disguise}");
    }
    let kept = bank
        .text("SELECT string_agg(body, ' ') FROM bank.reply")
        .await;
    assert!(!kept.contains("Q2XW9Z"), "{kept}");
}

#[tokio::test]
async fn a_canary_told_one_character_at_a_time_shows_nine_at_most() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    with_code(&bank, "Kabir", CODE).await;
    let chat = bank.open_chat(&ada).await;
    let spelled: Vec<String> = CODE
        .chars()
        .map(|c| format!("{c}. And so it goes on and on. "))
        .collect();
    let pieces: Vec<&str> = spelled.iter().map(String::as_str).collect();
    // Words between the characters end every run; told like that it is prose, which is the limit of this alarm.
    let found = answers(&chat, &pieces).await;
    assert_eq!(found.last(), Some(&json!({"type": "done"})));
    let characters: Vec<String> = CODE.chars().map(String::from).collect();
    let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
    let found = answers(&chat, &characters).await;
    assert_eq!(
        found.last(),
        Some(&json!({"type": "failed", "code": "withheld"}))
    );
    assert!(words(&found).len() < 10, "{found:?}");
}

#[tokio::test]
async fn a_code_that_nobody_can_be_asked_about_is_withheld() {
    let bank = Bank::start().await;
    let ada = with_code(&bank, "Ada", CODE).await;
    let chat = bank.open_chat(&ada).await;
    bank.agent
        .will_answer(&[Part::Hold, text("It is "), text(CODE), done()]);
    let response = chat.send(&chat.message("hello")).await;
    bank.agent.turn_came().await;
    // The session is over: the database does not know any more whose code her own would be.
    sqlx::query(
        "UPDATE bank.session_grant SET revoked_at = bank.bank_clock() WHERE audience = 'intake'",
    )
    .execute(&mut bank.admin().await)
    .await
    .expect("revoked");
    bank.agent.go_on();
    let found = crate::bank::lines(response).await;
    assert!(!words(&found).contains(CODE), "{found:?}");
    assert_eq!(
        found.last(),
        Some(&json!({"type": "failed", "code": "withheld"}))
    );
}

#[tokio::test]
async fn parts_told_over_several_replies_are_noticed() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    with_code(&bank, "Kabir", CODE).await;
    let chat = bank.open_chat(&ada).await;
    let first = answers(&chat, &["The first part is 7KQ2X."]).await;
    assert_eq!(first.last(), Some(&json!({"type": "done"})));
    for _ in 0..8 {
        answers(&chat, &["Nothing to see here."]).await;
    }
    let last = answers(&chat, &["And the rest is W9ZL4."]).await;
    assert_eq!(
        last.last(),
        Some(&json!({"type": "failed", "code": "withheld"}))
    );
    assert_eq!(words(&last), "");
}

#[tokio::test]
async fn ones_own_canary_is_ones_own() {
    let bank = Bank::start().await;
    let kabir = with_code(&bank, "Kabir", CODE).await;
    let chat = bank.open_chat(&kabir).await;
    let found = answers(&chat, &["Your box reference is ", CODE, "."]).await;
    assert_eq!(found.last(), Some(&json!({"type": "done"})));
    assert_eq!(words(&found), format!("Your box reference is {CODE}."));
    assert_eq!(bank.count(ALARMS).await, 0);
}

#[tokio::test]
async fn what_was_noticed_is_recorded_and_the_page_is_told() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    bank.agent.will_answer(&[
        line(r#"{"type":"flagged","tool":"list_payees","rules":["tool_order","Call +49 151"]}"#),
        line(r#"{"type":"flagged","tool":"call 0151","rules":["tool_order"]}"#),
        text("Your card 4111 1111 1111 1111 is fine. See https://evil.example/x for more. I have sent 20 to Bob."),
        line(r#"{"type":"guardrail","guardrail":"built_in","rule":"off_topic","side":"message"}"#),
        done(),
    ]);
    let found = chat.say("hello").await;
    assert_eq!(
        words(&found),
        "Your card [redacted: card ending 1111] is fine. See https://evil.example/x for more. I have sent 20 to Bob."
    );
    let kinds: Vec<&str> = found[1..]
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect();
    assert_eq!(
        kinds,
        ["flagged", "text", "foreign", "text", "corrected", "done"]
    );
    assert_eq!(
        found[3],
        json!({"type": "foreign", "text": "https://evil.example/x"})
    );
    let recorded = bank
        .text("SELECT string_agg(kind || ' ' || rule || ' ' || number, ', ' ORDER BY kind, rule) FROM bank.chat_event")
        .await;
    assert_eq!(
        recorded,
        "agent_misreport unknown_tool 1, claim_corrected record 1, foreign_contact reply 1, guardrail_hit built_in_off_topic 1, injection_flagged tool_order 1, masked card 1"
    );
    let mut intake = bank.as_role("intake", &chat.bearer).await;
    for forbidden in [
        "SELECT count(*) FROM bank.chat_event",
        "DELETE FROM bank.chat_event",
        "UPDATE bank.chat_event SET number = 2",
        "SELECT count(*) FROM bank.canary_run",
        "SELECT key FROM bank.canary_key",
    ] {
        assert!(
            sqlx::query(forbidden).execute(&mut intake).await.is_err(),
            "{forbidden}"
        );
    }
}

#[tokio::test]
async fn a_reply_that_asks_for_a_secret_is_withheld() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let found = answers(
        &chat,
        &[
            "Your card is blocked. ",
            "To unlock it, please tell me your PIN.",
        ],
    )
    .await;
    assert_eq!(
        found.last(),
        Some(&json!({"type": "failed", "code": "secret_asked"}))
    );
    assert!(!words(&found).contains("PIN"), "{found:?}");
    assert_eq!(
        bank.count("SELECT count(*) FROM bank.chat_event WHERE kind = 'secret_asked'")
            .await,
        1
    );
}

#[tokio::test]
async fn a_budget_that_is_used_up_ends_the_turn_before_the_agent_is_asked() {
    let bank = Bank::start().await;
    let ada = bank.customer("Ada").await;
    let chat = bank.open_chat(&ada).await;
    let used = |tokens: u32| {
        line(
            &json!({"type": "used", "input_tokens": tokens, "output_tokens": 10, "cost_micros": 5})
                .to_string(),
        )
    };
    bank.agent
        .will_answer(&[text("One."), used(400_000), done()]);
    chat.say("one").await;
    bank.agent
        .will_answer(&[text("Two."), used(700_000), done()]);
    chat.say("two").await;
    assert_eq!(
        bank.agent.turns()[1]["remaining"],
        json!({"tokens": 599_990, "cost_micros": 9_999_995})
    );
    let found = chat.say("three").await;
    assert_eq!(
        found.last(),
        Some(&json!({"type": "failed", "code": "budget"}))
    );
    assert_eq!(bank.agent.turns().len(), 2, "the agent is not asked");
}
