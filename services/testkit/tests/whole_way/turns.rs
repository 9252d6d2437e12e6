//! What a token is good for: its turn, its customer, its door, once.

use countersign_testkit::Service;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn a_token_is_worth_nothing_after_its_turn() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let reply = scene.ada.sends("Send 20 to Bob");
    let turn = scene.agent.turn("Send 20 to Bob").await?;
    let payee = scene.payee(&turn, "Bob").await?;
    let token = turn.session_token().to_owned();
    turn.ends();
    reply.await??;
    let late = scene
        .door
        .call(
            &token,
            "request_transfer",
            json!({"payments": [{"payee": payee, "amount": "20.00"}]}),
        )
        .await?;
    assert!(!late.succeeded(), "{}", late.body);
    let read = scene.door.call(&token, "list_accounts", json!({})).await?;
    assert!(
        !read.succeeded(),
        "an ended turn reads nothing either: {}",
        read.body
    );
    assert!(scene.ada.cards().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_bank_server_answers_nobody_but_the_door() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("what is my balance").await?;
    let http = scene.bank.http()?;
    let url = format!("{}/mcp", scene.bank.origin(Service::BankMcp));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_accounts", "arguments": {},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}});
    for (header, value) in [
        ("countersign-session", turn.session_token()),
        ("countersign-request", turn.session_token()),
        ("authorization", &format!("Bearer {}", turn.session_token())),
        ("x-nothing", "at all"),
    ] {
        let answer = http
            .post(&url)
            .header(header, value)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "list_accounts")
            .json(&body)
            .send()
            .await?;
        assert_eq!(answer.status().as_u16(), 401, "{header}");
    }
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn what_the_agent_holds_opens_no_page_of_the_panel() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    assert!(scene.transfer(&turn, "Bob", "20.00").await?.succeeded());
    let card = scene.ada.open_card().await?;
    let action = card["action"].as_str().unwrap_or_default().to_owned();
    let money = scene.bank.money().await?;
    let http = scene.bank.http()?;
    let panel = scene.bank.origin(Service::Panel);
    let confirm = format!("{panel}/api/actions/{action}/confirm");
    let body = json!({"version": card["version"], "confirm_hash": card["confirm_hash"], "nonce": card["nonce"], "note": ""});
    let token = turn.session_token();
    let attempts = [
        http.post(&confirm).header("origin", &panel).json(&body),
        http.post(&confirm)
            .header("origin", &panel)
            .bearer_auth(token)
            .json(&body),
        http.post(&confirm)
            .header("origin", &panel)
            .header("cookie", format!("__Host-countersign-panel={token}"))
            .json(&body),
        http.post(&confirm)
            .header("origin", &panel)
            .header("countersign-session", token)
            .json(&body),
        http.post(&confirm)
            .header("origin", scene.bank.origin(Service::Intake))
            .header("cookie", scene.ada.cookie())
            .json(&body),
        http.post(&confirm)
            .header("cookie", scene.ada.cookie())
            .json(&body),
        http.post(format!("{panel}/login"))
            .header("origin", &panel)
            .json(&json!({"token": token})),
        http.post(format!("{panel}/login"))
            .header("origin", &panel)
            .json(&json!({"token": ""})),
        http.post(format!("{panel}/demo/switch"))
            .header("origin", &panel)
            .json(&json!({"customer": "Ada"})),
        http.post(format!("{panel}/chat-code"))
            .header("origin", &panel)
            .json(&json!({})),
    ];
    for (number, attempt) in attempts.into_iter().enumerate() {
        let answer = attempt.send().await?;
        assert!(
            !answer.status().is_success(),
            "attempt {number} was answered {}",
            answer.status()
        );
        assert!(
            answer
                .headers()
                .get("set-cookie")
                .is_none_or(|cookie| cookie
                    .to_str()
                    .is_ok_and(|cookie| cookie.contains("Max-Age=0"))),
            "attempt {number}"
        );
    }
    assert_eq!(scene.bank.money().await?, money);
    turn.ends();
    Ok(())
}

#[tokio::test]
async fn a_message_sent_twice_is_one_message() -> anyhow::Result<()> {
    let scene = Scene::begin().await?;
    let http = scene.bank.http()?;
    let chat = scene.bank.origin(Service::Intake);
    let id = uuid::Uuid::now_v7();
    let send = || {
        http.post(format!("{chat}/messages"))
            .header("origin", &chat)
            .bearer_auth(scene.ada.bearer())
            .json(&json!({"client_message_id": id, "text": "Send 20 to Bob", "spans": []}))
    };
    let first = tokio::spawn(send().send());
    scene.agent.turn("Send 20 to Bob").await?.ends();
    first.await??.text().await?;
    let second = send().send().await?;
    assert!(second.status().is_success());
    let mut admin = scene.bank.database().admin().await?;
    let recorded: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.utterance")
        .fetch_one(&mut admin)
        .await?;
    assert_eq!(recorded, 1);
    Ok(())
}
