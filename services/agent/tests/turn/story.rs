//! The newcomer's story, through the agent's own program.

use serde_json::json;

use crate::{
    fixture::{FixtureDoor, Mood, TOKEN},
    process::{AgentProcess, lines, reply},
};

#[tokio::test]
async fn send_twenty_to_bob_is_prepared_and_told() {
    let (door, address) = FixtureDoor::start(Mood::Well).await;
    let agent = AgentProcess::start(address).await;
    let response = agent.turn(json!([]), "Send 20 to Bob").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    let lines = lines(&response.text().await.unwrap());
    assert_eq!(
        lines[0],
        json!({"type": "looked_at", "tool": "list_payees"})
    );
    assert_eq!(
        lines[1],
        json!({"type": "prepared", "action": format!("act_{:032x}", 7)})
    );
    assert_eq!(lines.last().unwrap(), &json!({"type": "done"}));
    let reply = reply(&lines);
    assert!(reply.contains("offline model"), "{reply}");
    assert!(
        reply.contains("I've prepared it: Send 20.00 EUR to Bob Smith"),
        "{reply}"
    );
    assert_eq!(
        door.calls(),
        [
            ("list_payees".to_owned(), json!({})),
            (
                "request_transfer".to_owned(),
                json!({"payments": [{"payee": format!("pye_{:032x}", 2), "amount": "20"}]})
            ),
        ]
    );
}

#[tokio::test]
async fn the_correction_of_a_later_turn_is_understood_from_the_history() {
    let (door, address) = FixtureDoor::start(Mood::Well).await;
    let agent = AgentProcess::start(address).await;
    let history = json!([
        {"role": "customer", "text": "Send 20 to Bob"},
        {"role": "assistant", "text": "I've prepared it."},
    ]);
    let lines = lines(
        &agent
            .turn(history, "actually 30")
            .await
            .text()
            .await
            .unwrap(),
    );
    assert!(!reply(&lines).contains("offline model"));
    assert_eq!(
        door.calls()[1].1,
        json!({"payments": [{"payee": format!("pye_{:032x}", 2), "amount": "30"}]})
    );
}

#[tokio::test]
async fn the_door_sees_the_turns_token_and_no_other_credential() {
    let (door, address) = FixtureDoor::start(Mood::Well).await;
    let agent = AgentProcess::start(address).await;
    agent
        .turn(json!([]), "Send 20 to Bob")
        .await
        .text()
        .await
        .unwrap();
    let seen = door.seen.lock().unwrap();
    assert!(seen.requests >= 4, "greeting, list and two calls");
    assert_eq!(seen.with_token, seen.requests);
    assert_eq!(seen.other_credentials, 0);
}

#[tokio::test]
async fn the_log_names_tools_and_quotes_nobody() {
    let (_, address) = FixtureDoor::start(Mood::Well).await;
    let agent = AgentProcess::start(address).await;
    let history = json!([{"role": "customer", "text": "my secret word is xylophone"}]);
    let response = agent.turn(history, "Send 20 to Bob").await;
    response.text().await.unwrap();
    let log = agent.into_log().await;
    assert!(log.contains("request_transfer"), "{log}");
    for text in [
        TOKEN,
        "xylophone",
        "Bob",
        "Smith",
        "20.00",
        "pye_",
        "words of the fixture",
    ] {
        assert!(!log.contains(text), "{text}: {log}");
    }
}
