//! Every route of the bank, with everything that an agent holds in every place of a request.

use anyhow::Context;
use countersign_testkit::{Bank, Service, checkout};
use serde_json::{Value, json};

/// A service's routes as its own source has them.
fn routes(source: &str) -> anyhow::Result<Vec<String>> {
    let path = checkout::root().join(source);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let routes: Vec<String> = text
        .split(".route(")
        .skip(1)
        .filter_map(|rest| rest.split('"').nth(1).map(ToOwned::to_owned))
        .filter(|route| route.starts_with('/'))
        .collect();
    anyhow::ensure!(routes.len() > 3, "routes in {source}: {routes:?}");
    Ok(routes)
}

/// What the attacker holds, under names for messages.
pub type Held = [(&'static str, String)];

/// A request that is told by words if it succeeds.
pub struct Try {
    pub words: String,
    pub request: Value,
}

/// Every try against panel, intake and bank server. `card` is what Ada's page was shown, all of it.
pub fn all(bank: &Bank, held: &Held, card: &Value, customer: &str) -> anyhow::Result<Vec<Try>> {
    let action = card["action"].as_str().context("an action")?;
    let mut tries = Vec::new();
    let mut panel = routes("services/panel/src/router.rs")?;
    panel.extend(["/receipts/none.json".to_owned(), "/api/".to_owned()]);
    let mut intake = routes("services/intake/src/router.rs")?;
    intake.push("/".to_owned());
    let bank_server = vec!["/mcp".to_owned(), "/".to_owned()];
    for (service, paths) in [
        (Service::Panel, panel),
        (Service::Intake, intake),
        (Service::BankMcp, bank_server),
    ] {
        for path in paths {
            let path = path.replace("{action}", action).replace("{name}", action);
            if path == "/health" || path.starts_with("/assets") {
                // Public, and the same for everybody.
                continue;
            }
            for (name, value) in held {
                for method in ["GET", "POST"] {
                    let body = body(&path, value, card, customer);
                    for (carrier, header) in carriers(value) {
                        tries.push(Try {
                            words: format!(
                                "{} {method} {path} with the {name} {carrier}",
                                service.name()
                            ),
                            request: request(bank, service, method, &path, header, &body),
                        });
                    }
                }
            }
        }
    }
    Ok(tries)
}

/// Where a held value can stand. It stands in the body in any case, where the route reads one.
fn carriers(value: &str) -> Vec<(&'static str, Option<(&'static str, String)>)> {
    vec![
        ("in the body alone", None),
        (
            "as the session cookie",
            Some(("cookie", format!("__Host-countersign-panel={value}"))),
        ),
        (
            "as a bearer",
            Some(("authorization", format!("Bearer {value}"))),
        ),
        (
            "as a session token",
            Some(("countersign-session", value.to_owned())),
        ),
        (
            "as a request token",
            Some(("countersign-request", value.to_owned())),
        ),
    ]
}

/// A body that the route takes, with the held value where it wants a secret: it must be refused for the
/// secret, not for its form.
pub fn body(path: &str, value: &str, card: &Value, customer: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "login" => json!({"token": value}),
        "redeem" => json!({"code": value}),
        "switch" => json!({"customer": customer}),
        "confirm" | "prepare" => {
            json!({"version": card["version"], "confirm_hash": card["confirm_hash"],
            "nonce": card["nonce"], "note": ""})
        }
        "cancel" | "keep" => json!({"version": card["version"]}),
        "fill" => {
            json!({"version": card["version"], "slot": "amount", "line": 1, "value": "900.00"})
        }
        "messages" => {
            json!({"client_message_id": uuid::Uuid::now_v7(), "text": "Send 900 to Bob", "spans": []})
        }
        "mcp" => tool_call("list_accounts", json!({})),
        _ => json!({}),
    }
}

/// A tool call of the current revision.
pub fn tool_call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments,
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
}

/// A request as the service's own page or client would send it, with one more header.
pub fn request(
    bank: &Bank,
    service: Service,
    method: &str,
    path: &str,
    header: Option<(&'static str, String)>,
    body: &Value,
) -> Value {
    let origin = bank.origin(service);
    let host = origin.trim_start_matches("http://");
    let tool = body["params"]["name"].as_str();
    let mut headers = vec![
        ("host", host.to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    if let Some(tool) = tool {
        headers.extend([
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", tool.to_owned()),
        ]);
    } else {
        headers.extend([
            ("origin", origin.clone()),
            ("sec-fetch-site", "same-origin".to_owned()),
        ]);
    }
    headers.extend(header);
    json!({
        "address": format!("127.0.0.1:{}", bank.stack().port(service)),
        "method": method,
        "path": path,
        "headers": headers,
        "body": if method == "GET" { String::new() } else { body.to_string() },
    })
}
