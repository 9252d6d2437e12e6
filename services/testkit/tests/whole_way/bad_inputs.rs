//! Broken and hostile calls as raw bytes: through the door, and straight to the bank server with a good request token, as if the
//! door were the attacker's. Each is refused with a typed answer, shows nothing internal, and changes no row.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_identity::{
    REQUEST_HEADER, RequestClaims, SigningKey, TokenId, VerifyingKeys, body_digest, sign_request,
    verify_session,
};
use countersign_testkit::{
    Service,
    people::{ToolAnswer, Turn},
};
use serde_json::{Value, json};

use crate::scene::Scene;

const REVISION: &str = "2026-07-28";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
/// Words of the inside that no answer may hold.
const INTERNAL: [&str; 10] = [
    "bank.", "sqlx", "SELECT", "panicked", "src/", "postgres", "serde", "unwrap", "rmcp", "RUST",
];

/// A transfer's body with these bytes as its arguments.
fn transfer(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"request_transfer","arguments":{arguments},{META}}}}}"#
    )
}

fn payment(payee: &str, amount: &str) -> String {
    transfer(&format!(
        r#"{{"payments":[{{"payee":"{payee}","amount":{amount}}}]}}"#
    ))
}

/// Amounts that are none, as JSON (the rows of surface bank-args, and more of each kind).
const AMOUNTS: [&str; 40] = [
    "20",
    "20.0",
    "100.0",
    "2e1",
    "20e0",
    "-5",
    "0",
    "-0",
    "NaN",
    "Infinity",
    "1e400",
    "9223372036854775808",
    "9007199254740993",
    "true",
    "null",
    "[]",
    "{}",
    "[\"20.00\"]",
    "\"\"",
    "\" 20.00\"",
    "\"20.00 \"",
    "\"-5.00\"",
    "\"+5\"",
    "\"5-\"",
    "\"(5)\"",
    "\"0x14\"",
    "\"007\"",
    "\"1e3\"",
    "\"NaN\"",
    "\"inf\"",
    "\"20,00\"",
    "\"1,000\"",
    "\"1.000,00\"",
    "\"20.001\"",
    "\"50.000000001\"",
    "\"0.00\"",
    "\"\\u0662\\u0660\"",
    "\"\\uff12\\uff10\"",
    "\"99999999999999999999\"",
    "\"20.00\\u0000\"",
];

/// Whole bodies that are no call. `PAYEE` stands for Bob's id.
fn bodies(payee: &str) -> Vec<(&'static str, Vec<u8>)> {
    let good = payment(payee, "\"20.00\"");
    let replace = |from: &str, to: &str| {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        changed.into_bytes()
    };
    let mut broken_utf8 = good.clone().into_bytes();
    let name = good.find("request_transfer").expect("the name");
    broken_utf8[name] = 0xC3;
    broken_utf8[name + 1] = 0x28;
    let many: Vec<String> = (0..50_000)
        .map(|number| format!("\"k{number}\":1"))
        .collect();
    vec![
        (
            "a key twice",
            replace(
                "\"amount\":\"20.00\"",
                "\"amount\":\"20.00\",\"amount\":\"900.00\"",
            ),
        ),
        (
            "a key twice, once escaped",
            replace(
                "\"amount\":\"20.00\"",
                "\"amount\":\"20.00\",\"\\u0061mount\":\"900.00\"",
            ),
        ),
        (
            "the name twice",
            replace(
                "\"name\":\"request_transfer\"",
                "\"name\":\"list_accounts\",\"name\":\"request_transfer\"",
            ),
        ),
        (
            "the name in another case beside it",
            replace(
                "\"name\":\"request_transfer\"",
                "\"name\":\"request_transfer\",\"Name\":\"list_accounts\"",
            ),
        ),
        (
            "the method twice",
            replace(
                "\"method\":\"tools/call\"",
                "\"method\":\"ping\",\"method\":\"tools/call\"",
            ),
        ),
        (
            "a prototype key",
            replace(
                "{\"payments\"",
                "{\"__proto__\":{\"amount\":\"900.00\"},\"payments\"",
            ),
        ),
        (
            "arguments as a list",
            transfer("[5000,\"Bob\"]").into_bytes(),
        ),
        ("arguments as text", transfer("\"{}\"").into_bytes()),
        (
            "a payment as a list",
            transfer(&format!("{{\"payments\":[[\"{payee}\",\"20.00\"]]}}")).into_bytes(),
        ),
        ("a null id", replace("\"id\":1", "\"id\":null")),
        ("a fraction as id", replace("\"id\":1", "\"id\":1.5")),
        ("an object as id", replace("\"id\":1", "\"id\":{}")),
        ("no id", replace("\"id\":1,", "")),
        (
            "another jsonrpc",
            replace("\"jsonrpc\":\"2.0\"", "\"jsonrpc\":\"1.0\""),
        ),
        (
            "two messages",
            [good.clone().into_bytes(), good.clone().into_bytes()].concat(),
        ),
        ("a batch", format!("[{good}]").into_bytes()),
        ("a line before it", format!("garbage\n{good}").into_bytes()),
        ("a byte order mark", format!("\u{feff}{good}").into_bytes()),
        ("a lone surrogate", replace("\"20.00\"", "\"\\ud800\"")),
        ("broken UTF-8", broken_utf8),
        (
            "a raw line break in a text",
            replace("\"20.00\"", "\"20\n.00\""),
        ),
        (
            "200 levels",
            transfer(&format!(
                "{{\"payments\":{}{}}}",
                "[".repeat(200),
                "]".repeat(200)
            ))
            .into_bytes(),
        ),
        (
            "fifty thousand keys",
            transfer(&format!("{{{}}}", many.join(","))).into_bytes(),
        ),
        (
            "no params",
            replace(&good[good.find(",\"params\"").expect("params")..], "}"),
        ),
        ("empty", Vec::new()),
        (
            "a payee of ten thousand letters",
            payment(&"p".repeat(10_000), "\"20.00\"").into_bytes(),
        ),
        ("a payee with a NUL", replace(payee, "A\\u0000l")),
        ("a payee turned around", replace(payee, "ecilA\\u202e")),
        ("a payee's name for its id", replace(payee, "Bob Smith")),
        (
            "a customer",
            replace("{\"payments\"", "{\"customer_id\":\"c2\",\"payments\""),
        ),
        (
            "an approval",
            replace(
                "{\"payments\"",
                "{\"approved\":true,\"skip_confirm\":1,\"payments\"",
            ),
        ),
        (
            "a note",
            replace("{\"payments\"", "{\"note\":\"thanks\",\"payments\""),
        ),
        (
            "a currency that is none",
            replace("{\"payments\"", "{\"currency\":\"EURO\",\"payments\""),
        ),
    ]
}

/// Sends bytes straight to the bank server, with a request token that fits them: the door is the attacker's.
async fn direct(
    scene: &Scene,
    turn: &Turn,
    body: &[u8],
    number: u16,
) -> anyhow::Result<ToolAnswer> {
    let keys = scene.bank.stack().keys();
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let session_keys = VerifyingKeys::new(vec![keys.session.verifying_key_file()?])?;
    let session = verify_session(&session_keys, turn.session_token(), now)?;
    let token_id = countersign_testkit::secrets::random_bytes()?;
    let claims = RequestClaims {
        customer: session.customer,
        conversation: session.conversation,
        grant_secret: session.grant_secret,
        issued_at: now,
        token_id: TokenId::from_random(token_id),
        method: "POST".to_owned(),
        path: "/mcp".to_owned(),
        body_digest: body_digest(body),
        record_leaf: [u8::try_from(number % 256)?; 32],
    };
    let token = sign_request(&SigningKey::from_file(&keys.request)?, &claims)?;
    let response = scene
        .bank
        .http()?
        .post(format!("{}/mcp", scene.bank.origin(Service::BankMcp)))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", REVISION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "request_transfer")
        .header(REQUEST_HEADER, token)
        .body(body.to_vec())
        .send()
        .await?;
    let status = response.status().as_u16();
    let text = response.text().await?;
    Ok(ToolAnswer {
        status,
        body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
    })
}

async fn rows(scene: &Scene) -> anyhow::Result<Vec<i64>> {
    let mut admin = scene.bank.database().admin().await?;
    let counts: (i64, i64, i64, i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM bank.pending_action), (SELECT count(*) FROM bank.entry), (SELECT count(*) FROM bank.execution),
                (SELECT count(*) FROM bank.bank_event), (SELECT sum(balance_minor_units)::bigint FROM bank.account_balance)",
    )
    .fetch_one(&mut admin)
    .await?;
    Ok(vec![counts.0, counts.1, counts.2, counts.3, counts.4])
}

/// A refusal is typed, and shows nothing of the inside.
fn check(what: &str, answer: &ToolAnswer) {
    assert!(!answer.succeeded(), "{what}: {}", answer.body);
    assert!(
        answer.status < 500,
        "{what}: HTTP {} {}",
        answer.status,
        answer.body
    );
    let typed = answer.body["error"]["code"].is_i64()
        || answer.content()["code"].is_string()
        || answer.body["code"].is_string();
    assert!(typed, "{what}: HTTP {} {}", answer.status, answer.body);
    let text = answer.body.to_string();
    for word in INTERNAL {
        assert!(!text.contains(word), "{what} shows {word}: {text}");
    }
}

#[tokio::test]
async fn broken_and_hostile_calls_are_refused_through_the_door_and_without_it() -> anyhow::Result<()>
{
    let scene = Scene::begin_with_far_caps().await?;
    let turn = scene.ada_says("Send 20 to Bob").await?;
    let payee = scene.payee(&turn, "Bob").await?;
    let before = rows(&scene).await?;
    let mut calls: Vec<(String, Vec<u8>)> = AMOUNTS
        .iter()
        .map(|amount| {
            (
                format!("amount {amount}"),
                payment(&payee, amount).into_bytes(),
            )
        })
        .collect();
    calls.extend(
        bodies(&payee)
            .into_iter()
            .map(|(what, body)| (what.to_owned(), body)),
    );
    for (number, (what, body)) in calls.iter().enumerate() {
        let through = scene
            .door
            .send(
                turn.session_token(),
                "tools/call",
                Some("request_transfer"),
                body.clone(),
            )
            .await?;
        check(&format!("{what}, through the door"), &through);
        let straight = direct(&scene, &turn, body, u16::try_from(number)?).await?;
        check(&format!("{what}, to the bank server"), &straight);
    }
    assert_eq!(
        rows(&scene).await?,
        before,
        "a refused call changes nothing"
    );
    // The same call, unbroken, goes through both ways: what was refused above was the breakage.
    let good = payment(&payee, "\"20.00\"").into_bytes();
    let straight = direct(&scene, &turn, &good, 999).await?;
    assert!(straight.succeeded(), "{}", straight.body);
    let through = scene
        .door
        .send(
            turn.session_token(),
            "tools/call",
            Some("request_transfer"),
            good,
        )
        .await?;
    assert_eq!(
        through.content()["status"],
        json!("already_waiting"),
        "{}",
        through.body
    );
    turn.ends();
    Ok(())
}
