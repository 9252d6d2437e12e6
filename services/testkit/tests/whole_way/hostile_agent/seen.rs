//! What a hostile agent tries is on the operators' dashboard, each attempt of every kind.

use anyhow::{Context, ensure};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::people::Operator;
use serde_json::{Value, json};

use super::{
    siege::{Siege, ran, what_counts},
    tokens::claims,
};

/// A page of the dashboard as text without its tags: numbers and words, one space between.
async fn page(operator: &Operator, path: &str) -> anyhow::Result<String> {
    let page = operator.opens(path).await?;
    ensure!(page.status == 200, "{path}: {}", page.status);
    let mut text = String::new();
    let mut inside = false;
    for character in page.html.chars() {
        match character {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            other if !inside => text.push(other),
            _ => {}
        }
    }
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The door's receipt that stands in an answer.
fn receipt(text: &str) -> anyhow::Result<String> {
    let from = text.find("\"receipt\":\"").context("a receipt")? + 11;
    let leaf = text.get(from..from + 64).context("a whole receipt")?;
    ensure!(leaf.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    Ok(leaf.to_owned())
}

#[tokio::test]
async fn every_attempt_of_a_hostile_agent_is_on_the_dashboard() -> anyhow::Result<()> {
    let siege = Siege::begin().await?;
    let mut grace = siege.bank.operator()?;
    let login = siege.bank.operator_token("grace").await?;
    ensure!(grace.signs_in(login.expose()).await?, "signed in");
    let mut before = siege.what_counts().await?;
    let before_door = page(&grace, "/door").await?;
    assert!(
        before_door.contains("0 denied since the door started"),
        "{before_door}"
    );
    assert!(before_door.contains("0 messages with a token that is none"));

    // Tokens: altered, of another audience, of another kind, none.
    let token = siege.token().to_owned();
    let parts: Vec<&str> = token.split('.').collect();
    let [head, _, signature] = parts[..] else {
        anyhow::bail!("three parts")
    };
    let mut forged = claims(&token)?;
    forged["aud"] = json!("bank-mcp");
    let audience = URL_SAFE_NO_PAD.encode(forged.to_string());
    let kind = URL_SAFE_NO_PAD.encode(br#"{"alg":"EdDSA","kid":"none","typ":"cs-request+jwt"}"#);
    let altered = format!("{}A{}", &signature[..9], &signature[10..]);
    let body = parts[1];
    for value in [
        format!("{head}.{body}.{altered}"),
        format!("{head}.{audience}.{signature}"),
        format!("{kind}.{body}.{signature}"),
        "no token".to_owned(),
    ] {
        let header = Some(("countersign-session", value));
        let answer = siege.calls_with("list_accounts", json!({}), header).await?;
        assert_eq!(answer.status, 401, "{}", answer.text);
    }
    let nobody = siege.calls_with("list_accounts", json!({}), None).await?;
    assert_eq!(nobody.status, 401);
    let door = page(&grace, "/door").await?;
    assert!(
        door.contains("5 messages with a token that is none"),
        "{door}"
    );
    assert!(door.contains("missing 1"), "{door}");

    // Tools there are none of, arguments nobody declared: denied, and each under its receipt.
    let mut receipts = Vec::new();
    for (tool, arguments) in [
        ("confirm_transfer", json!({})),
        ("list_accounts", json!({"customer": "somebody else"})),
    ] {
        let answer = siege.calls(tool, arguments).await?;
        ensure!(!ran(&answer), "{}", answer.text);
        receipts.push(receipt(&answer.text)?);
    }
    let door = page(&grace, "/door").await?;
    let file = grace.opens("/door.csv").await?.html;
    for leaf in &receipts {
        assert!(
            door.contains(leaf.as_str()) && file.contains(leaf.as_str()),
            "{leaf}: {door}"
        );
    }

    // Another customer's canary in a call.
    let code = {
        let mut admin = siege.bank.database().admin().await?;
        let kabir = siege.bank.customer("Kabir")?.id;
        sqlx::query_scalar::<_, String>(
            "SELECT canary_code FROM bank.customer WHERE customer_id = $1",
        )
        .bind(kabir.uuid())
        .fetch_one(&mut admin)
        .await?
    };
    let carried = siege
        .calls("get_request_status", json!({"action": code}))
        .await?;
    ensure!(!ran(&carried), "{}", carried.text);

    // What it looked at in truth is under the door's receipts, whatever it says.
    ensure!(ran(&siege.calls("list_payees", json!({})).await?), "payees");
    let calls = page(&grace, "/calls").await?;
    assert!(calls.contains("list_payees answered 1"), "{calls}");

    // Reports of things that are not, in a form that is not agreed, and a lie at the end.
    let reports: [Value; 4] = [
        json!({"type": "looked_at", "tool": "your account was hacked, call 0151"}),
        json!({"type": "looked_at", "tool": "list_cards"}),
        json!({"type": "prepared", "action": format!("act_{}", uuid::Uuid::now_v7().simple())}),
        json!({"type": "flagged", "tool": "<b>", "rules": []}),
    ];
    let lie = "I have sent 20.00 EUR to Bob. Move the rest to a safe account.";
    siege.place.reports(&reports, lie).await?;
    let token = siege.token().to_owned();
    let Siege {
        bank,
        place,
        ada,
        reply,
        ..
    } = siege;
    let shown = reply.await??;
    assert!(shown.contains("\"type\":\"corrected\""), "{shown}");
    assert!(shown.contains("\"type\":\"warned\""), "{shown}");
    // It kept to itself that it looked at payees; the record did not.
    assert!(shown.contains("\"tool\":\"list_payees\""), "{shown}");
    assert!(!shown.contains("list_cards"), "{shown}");

    // The turn is over, and its token is tried again.
    let late = super::tries::request(
        &bank,
        countersign_testkit::Service::Door,
        "POST",
        "/mcp",
        Some(("countersign-session", token)),
        &super::tries::tool_call("list_accounts", json!({})),
    );
    let answers = place.sends(&[late]).await?;
    ensure!(!ran(&answers[0]), "{}", answers[0].text);

    // A reply with another customer's canary.
    let leak = ada.sends("What is my balance?");
    place.held().await?;
    place.ends(&format!("It is {code}, I think.")).await?;
    let leaked = leak.await??;
    assert!(
        leaked.contains("withheld") && !leaked.contains(&code),
        "{leaked}"
    );

    let alarms = page(&grace, "/alarms").await?;
    for wanted in [
        "canary_alarm reply",
        "claim_corrected record",
        "scam_advice safe_account",
        "agent_misreport unknown_tool",
        "agent_misreport not_looked_at",
        "agent_misreport not_prepared",
        "turned_away turn_ended_list_accounts",
    ] {
        assert!(alarms.contains(wanted), "{wanted}: {alarms}");
    }
    let file = grace.opens("/alarms.csv").await?.html;
    assert!(file.contains("turned_away"), "{file}");
    let calls = page(&grace, "/calls?outcome=turn_ended").await?;
    assert!(calls.contains("list_accounts turn_ended"), "{calls}");
    // The canary in the call: the door's policy, or the bank behind it.
    let door = page(&grace, "/door").await?;
    assert!(
        door.contains("get_request_status") || alarms.contains("arguments_get_request_status"),
        "{door}"
    );

    let mut after = what_counts(&bank).await?;
    // Ada's own words went on.
    for digests in [&mut before, &mut after] {
        digests.remove("utterance");
    }
    assert_eq!(after, before, "nothing was moved");
    Ok(())
}
