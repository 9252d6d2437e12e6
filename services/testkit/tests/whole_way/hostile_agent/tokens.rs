//! The token of Ada's turn, in an attacker's hands: read, changed, and sent with whatever else there is.

use anyhow::{Context, ensure};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_testkit::Service;
use serde_json::{Value, json};

use super::{
    siege::{Siege, ran},
    tries,
};

/// What the token says to whoever reads it.
pub fn claims(token: &str) -> anyhow::Result<Value> {
    let middle = token.split('.').nth(1).context("three parts")?;
    Ok(serde_json::from_slice(&URL_SAFE_NO_PAD.decode(middle)?)?)
}

/// Another name in the token, other keys, no key, twice, in other places: 401 each.
pub async fn forged_tokens_name_nobody_else(siege: &Siege, kabir: &str) -> anyhow::Result<()> {
    let token = siege.token();
    let parts: Vec<&str> = token.split('.').collect();
    let [head, body, signature] = parts[..] else {
        anyhow::bail!("three parts")
    };
    let mut claims = claims(token)?;
    claims["sub"] = json!(kabir);
    let other = URL_SAFE_NO_PAD.encode(claims.to_string());
    let longer = {
        let mut claims = claims.clone();
        claims["exp"] = json!(claims["exp"].as_u64().unwrap_or_default() + 60);
        URL_SAFE_NO_PAD.encode(claims.to_string())
    };
    let none = URL_SAFE_NO_PAD.encode(br#"{"alg":"none","typ":"cs-session+jwt"}"#);
    let shared = URL_SAFE_NO_PAD.encode(br#"{"alg":"HS256","typ":"cs-session+jwt"}"#);
    for (words, header, value) in [
        (
            "another customer",
            "countersign-session",
            format!("{head}.{other}.{signature}"),
        ),
        (
            "a longer life",
            "countersign-session",
            format!("{head}.{longer}.{signature}"),
        ),
        (
            "no signature",
            "countersign-session",
            format!("{none}.{other}."),
        ),
        (
            "a shared key",
            "countersign-session",
            format!("{shared}.{other}.{signature}"),
        ),
        (
            "no header",
            "countersign-session",
            format!("{body}.{signature}"),
        ),
        (
            "twice in one",
            "countersign-session",
            format!("{token}, {token}"),
        ),
        ("as a bearer", "authorization", format!("Bearer {token}")),
        (
            "as a request token",
            "countersign-request",
            token.to_owned(),
        ),
    ] {
        let answer = siege
            .calls_with("list_accounts", json!({}), Some((header, value)))
            .await?;
        assert_eq!(answer.status, 401, "{words}: {}", answer.text);
    }
    Ok(())
}

/// Whatever the agent adds to its calls, the answers are Ada's, and the door's own token is in none of them.
pub async fn the_door_speaks_of_one_customer(siege: &Siege) -> anyhow::Result<()> {
    let kabir = siege.bank.customer("Kabir")?.id;
    let foreign: Vec<String> = {
        let mut admin = siege.bank.database().admin().await?;
        sqlx::query_scalar(
            "SELECT 'acc_' || replace(account_id::text, '-', '') FROM bank.account WHERE customer_id = $1 \
             UNION ALL SELECT 'pye_' || replace(payee_id::text, '-', '') FROM bank.payee WHERE customer_id = $1 \
             UNION ALL SELECT canary_code FROM bank.customer WHERE customer_id = $1",
        )
        .bind(kabir.uuid())
        .fetch_all(&mut admin)
        .await?
    };
    ensure!(foreign.len() > 3, "Kabir has things of his own");
    let account = foreign[0].as_str();
    let tools = [
        ("list_accounts", json!({})),
        ("list_payees", json!({})),
        ("list_transactions", json!({})),
        ("list_cards", json!({})),
        ("list_open_requests", json!({})),
        ("list_standing_orders", json!({})),
        ("list_documents", json!({})),
        ("get_limits", json!({})),
        ("get_balance", json!({"account": account})),
        ("list_transactions", json!({"account": account})),
        ("list_accounts", json!({"customer": kabir})),
        ("list_accounts", json!({"customer_id": kabir.to_string()})),
    ];
    let token = siege.token().to_owned();
    let mut heard = String::new();
    for (tool, arguments) in tools {
        let refused = arguments.as_object().is_some_and(|map| !map.is_empty());
        let body = tries::tool_call(tool, arguments);
        let header = Some(("countersign-session", token.clone()));
        let mut request = tries::request(&siege.bank, Service::Door, "POST", "/mcp", header, &body);
        if let Some(headers) = request["headers"].as_array_mut() {
            headers.push(json!(["countersign-customer", kabir]));
            headers.push(json!(["cookie", format!("customer={kabir}")]));
            headers.push(json!(["countersign-request", token]));
        }
        let answers = siege.place.sends(&[request]).await?;
        assert_eq!(ran(&answers[0]), !refused, "{tool}: {}", answers[0].text);
        heard.push_str(&answers[0].text);
    }
    for word in &foreign {
        assert!(!heard.contains(word.as_str()), "{word} was told");
    }
    // Every token begins so; the request token's header has its own name.
    for word in ["eyJ", "countersign-request", "cs-request"] {
        assert!(
            !heard.to_lowercase().contains(&word.to_lowercase()),
            "{word} was told"
        );
    }
    Ok(())
}
