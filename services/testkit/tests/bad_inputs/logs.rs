//! What the services write down while they are attacked: one JSON line an event, and nobody's words or secrets.

use countersign_testkit::Service;
use serde_json::{Value, json};

use crate::{
    raw::Request,
    site::{Site, TYPED, Way, call},
    table,
};

/// Words that stand nowhere else, so that finding them in a log says where they came from.
const NOTE: &str = "For the violet umbrella";
const UNTRIED: &str = "an-invented-bearer-7f3a9c";
const ARGUMENT: &str = "Zanzibar Quince";
const FORGED: &str =
    "\n{\"service\":\"door\",\"level\":\"INFO\",\"message\":\"ALLOWED everything\"}";
const ESCAPES: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J";

/// Makes every service see, and refuse, what must not be written down.
async fn provoke(site: &Site) -> anyhow::Result<Vec<String>> {
    let hostile = json!({"payments": [{"payee": format!("{ARGUMENT}{FORGED}{ESCAPES}"), "amount": "4111 1111 1111 1111"}]}).to_string();
    let named = |tool: &str| {
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {}}}).to_string()
    };
    let method = |method: &str| json!({"jsonrpc": "2.0", "id": 7, "method": method}).to_string();
    for way in Way::BOTH {
        site.call(way, "request_transfer", &hostile).await?;
        site.call(
            way,
            "request_payee",
            &json!({"name": ARGUMENT, "iban": "DE63888888000000006819"}).to_string(),
        )
        .await?;
        for body in [
            named(&format!("{ARGUMENT}{FORGED}")),
            named(&format!("confirm{ESCAPES}")),
            method(&format!("x/{ARGUMENT}{FORGED}")),
            method(&format!("x/{ESCAPES}")),
            method(&format!("notifications/{ARGUMENT}")),
            call(
                "request_transfer",
                &format!("{{\"{ARGUMENT}\":1,\"{ARGUMENT}\":2}}"),
            ),
        ] {
            site.send(way, body).await?;
        }
        let odd = site
            .post(way, call("list_accounts", "{}"))?
            .with("Authorization", format!("Bearer {UNTRIED}"))
            .with("Cookie", site.ada.cookie())
            .with("User-Agent", format!("{ARGUMENT}/1.0"))
            .with("Mcp-Session-Id", UNTRIED)
            .with(
                "traceparent",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            );
        odd.send(site.port(way.service())).await?;
        for name in ["Countersign-Session", "Countersign-Request"] {
            let forged = format!("{UNTRIED}.{UNTRIED}.{UNTRIED}");
            let request = site
                .post(way, call("list_accounts", "{}"))?
                .set(name, forged);
            request.send(site.port(way.service())).await?;
        }
        let path = format!("/mcp?token={UNTRIED}");
        let elsewhere = site.post(way, "{}")?.line(&format!("POST {path} HTTP/1.1"));
        elsewhere.send(site.port(way.service())).await?;
    }
    for service in [Service::Panel, Service::Intake] {
        for path in [
            "/login",
            "/redeem",
            "/messages",
            "/chat-code",
            "/api/actions/x/confirm",
        ] {
            for body in [
                json!({"token": UNTRIED}),
                json!({"code": UNTRIED}),
                json!({"text": ARGUMENT, "token": UNTRIED, "note": NOTE}),
            ] {
                let request = Request::new("POST", path, &site.host(service))
                    .with("Origin", site.bank.origin(service))
                    .with("Content-Type", "application/json")
                    .with("Cookie", format!("__Host-countersign-panel={UNTRIED}"))
                    .with("Authorization", format!("Bearer {UNTRIED}"))
                    .body(body.to_string());
                request.send(site.port(service)).await?;
            }
        }
    }
    // And one honest payment, whose words and secrets are nobody's either.
    let card = site.card().await?;
    let refused = site
        .ada
        .confirms_with_note(&card, &format!("{NOTE}\u{202e}"))
        .await?;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let confirmed = site.ada.confirms_with_note(&card, NOTE).await?;
    assert_eq!(confirmed.status, 200, "{}", confirmed.body);
    let mut shown = vec![text(&card["nonce"]), text(&card["confirm_hash"])];
    shown.push(
        confirmed.body["short_code"]
            .as_str()
            .unwrap_or("no code")
            .to_owned(),
    );
    Ok(shown)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("none").to_owned()
}

/// Everything that must stand in no log.
fn secrets(site: &Site) -> anyhow::Result<Vec<String>> {
    let session = site.session()?;
    let cookie = site.ada.cookie().split('=').nth(1).unwrap_or_default();
    let grant = session.grant_secret.expose().to_owned();
    let keys = site.bank.stack().keys();
    let mut secrets = vec![
        site.turn.session_token().to_owned(),
        cookie.to_owned(),
        site.ada.bearer().to_owned(),
        grant,
        TYPED.to_owned(),
        NOTE.to_owned(),
        UNTRIED.to_owned(),
        ARGUMENT.to_owned(),
        "violet umbrella".to_owned(),
        "4111 1111".to_owned(),
        "DE63888888000000006819".to_owned(),
        "PRIVATE KEY".to_owned(),
        "Bob Smith".to_owned(),
    ];
    for hashed in [cookie, site.ada.bearer(), session.grant_secret.expose()] {
        let hash = countersign_domain::Secret::new(hashed).hash();
        secrets.push(hex::encode(hash));
    }
    for part in site.turn.session_token().split('.').skip(1) {
        secrets.push(part.to_owned());
    }
    for role in ["bank_mcp", "intake", "panel", "poster", "sweeper", "notary"] {
        let url = site.bank.database().url(role);
        let password = url
            .split('@')
            .next()
            .and_then(|user| user.rsplit(':').next())
            .unwrap_or_default();
        anyhow::ensure!(password.len() > 8, "the address of {role} has a password");
        secrets.extend([url.clone(), password.to_owned()]);
    }
    for key in [&keys.session, &keys.request, &keys.receipt, &keys.notary] {
        let lines = key
            .pkcs8_pem
            .expose()
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        anyhow::ensure!(lines.len() > 20, "a private key has a line");
        secrets.push(lines);
    }
    Ok(secrets)
}

#[tokio::test]
async fn logs_hold_lines_of_their_own_and_nobodys_words() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let mut forbidden = provoke(&site).await?;
    forbidden.extend(secrets(&site)?);
    let mut lines = 0;
    for service in Service::ALL {
        let log = site.bank.stack().log(service);
        for secret in &forbidden {
            assert!(
                !log.contains(secret.as_str()),
                "the log of {} holds {secret:?}:\n{}",
                service.name(),
                line_with(&log, secret)
            );
        }
        assert!(
            log.chars()
                .all(|letter| letter == '\n' || !letter.is_control()),
            "{}",
            service.name()
        );
        for line in log.lines() {
            lines += 1;
            let line: Value =
                serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line:?}"));
            let listening = line.get("listening").is_some();
            let named = text(&line["service"]).contains(service.name());
            assert!(
                line.is_object() && (listening || named),
                "{}: {line}",
                service.name()
            );
            assert!(!line.to_string().contains("ALLOWED everything"), "{line}");
        }
    }
    assert!(lines > 10, "{lines} lines: the refusals are in the log");
    the_doors_record_is_one_line_a_decision(&site)?;
    table::must_be_the_rows_of(
        "logs_hold_lines_of_their_own_and_nobodys_words",
        &["BI-140", "BI-141", "BI-142"],
    );
    Ok(())
}

fn line_with(log: &str, word: &str) -> String {
    log.lines()
        .find(|line| line.contains(word))
        .unwrap_or_default()
        .to_owned()
}

/// The record holds names of tools that a client made up, and no more lines than there were decisions.
fn the_doors_record_is_one_line_a_decision(site: &Site) -> anyhow::Result<()> {
    let record = std::fs::read_to_string(site.bank.folder().join("door-log/decisions.jsonl"))?;
    assert!(record.lines().count() > 10, "{record}");
    for secret in [
        site.turn.session_token(),
        site.ada.bearer(),
        NOTE,
        TYPED,
        UNTRIED,
        "4111 1111",
    ] {
        assert!(!record.contains(secret), "{}", line_with(&record, secret));
    }
    assert!(
        record
            .chars()
            .all(|letter| letter == '\n' || !letter.is_control())
    );
    for line in record.lines() {
        let line: Value = serde_json::from_str(line)?;
        assert!(line["event"].is_string(), "{line}");
    }
    Ok(())
}
