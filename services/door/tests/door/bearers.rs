//! Callers known by another issuer's bearer tokens, over HTTP.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use serde_json::{Value, json};

use crate::client::Answer;
use crate::piped::{policy, server_program};
use crate::served::{Served, messages};
use crate::stand::{fresh_directory, now};

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://door.example/mcp";

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn key(seed: u8) -> ed25519_dalek::SigningKey {
    ed25519_dalek::SigningKey::from_bytes(&[seed; 32])
}

fn file_of(seeds: &[u8]) -> String {
    let jwk = |seed: &u8| {
        let x = encode(key(*seed).verifying_key().as_bytes());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": format!("key-{seed}"), "x": x})
    };
    json!({"keys": seeds.iter().map(jwk).collect::<Vec<_>>()}).to_string()
}

fn token(seed: u8, subject: &str, groups: &[&str]) -> String {
    let header = json!({"alg": "EdDSA", "kid": format!("key-{seed}"), "typ": "at+jwt"});
    let claims = json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": subject, "groups": groups,
        "nbf": now() - 10, "exp": now() + 300,
    });
    let text = format!(
        "{}.{}",
        encode(header.to_string()),
        encode(claims.to_string())
    );
    let signature = key(seed).sign(text.as_bytes());
    format!("{text}.{}", encode(signature.to_bytes()))
}

/// A door whose callers bring tokens, before a program.
fn door(more: &str) -> Served {
    let directory = fresh_directory();
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("keys.json");
    std::fs::write(&file, file_of(&[1])).unwrap();
    let command = format!("toy: {{command: ['{}'], env:", server_program().display());
    let policy = policy(more).replace("toy: {env:", &command);
    let file = file.to_str().unwrap().to_owned();
    let words = ["--jwks", &file, "--issuer", ISSUER, "--audience", AUDIENCE];
    Served::started(&policy, directory, &words)
}

/// Asks in the revision without sessions.
async fn call(door: &Served, bearer: Option<&str>, tool: &str, text: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": {"text": text}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let bearer = bearer.map(|token| format!("Bearer {token}"));
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
    door.ask("POST", &headers, &body.to_string()).await
}

fn said(answer: &Answer) -> String {
    let message = messages(answer).pop().unwrap();
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_brings_no_good_token_learns_where_to_get_one() {
    let door = door("");
    let about = "https://door.example/.well-known/oauth-protected-resource/mcp";
    let none = call(&door, None, "echo", "x").await;
    assert_eq!(none.status, 401, "{none:?}");
    let challenge = format!("www-authenticate: bearer resource_metadata=\"{about}\"");
    assert!(none.head.contains(&challenge), "{none:?}");
    for bad in [
        token(2, "ada", &[]),
        token(1, "ada", &[]) + "x",
        "x".repeat(40_000),
    ] {
        let refused = call(&door, Some(&bad), "echo", "x").await;
        assert_eq!(refused.status, 401, "{refused:?}");
        assert!(
            refused.head.contains("error=\"invalid_token\""),
            "{refused:?}"
        );
        assert!(!refused.body.contains("key"), "{refused:?}");
    }
    let host = format!("Host: {}", door.address);
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n");
        let metadata = crate::client::raw(door.address, request.as_bytes()).await;
        assert_eq!(metadata.status, 200, "{metadata:?}");
        let metadata = metadata.json();
        assert_eq!(metadata["resource"], AUDIENCE);
        assert_eq!(metadata["authorization_servers"], json!([ISSUER]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    }
    for method in ["GET", "DELETE"] {
        let answer = door.ask(method, &[("Mcp-Session-Id", "x")], "").await;
        assert_eq!(answer.status, 401, "{answer:?}");
    }
    assert!(door.events("allowed").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_and_rates_are_each_callers_own() {
    let rules = "rules:\n  - {id: staff, tool: echo, effect: allow, identities: ['group:staff', bob], rate_per_minute: 2}\n  - {id: not-eve, tool: '*', effect: deny, identities: [eve]}\n";
    let door = door(rules);
    let (ada, bob) = (token(1, "ada", &["staff"]), token(1, "bob", &[]));
    let eve = token(1, "eve", &["staff"]);
    for caller in [&ada, &bob] {
        for _ in 0..2 {
            assert_eq!(said(&call(&door, Some(caller), "echo", "x").await), "x");
        }
        let third = call(&door, Some(caller), "echo", "x").await;
        assert_eq!(third.reason(), "rate", "{third:?}");
    }
    assert_eq!(
        call(&door, Some(&eve), "echo", "x").await.reason(),
        "denied_by_rule"
    );
    let other = token(1, "carol", &["customers"]);
    assert_eq!(
        call(&door, Some(&other), "echo", "x").await.reason(),
        "not_allowed_to_caller"
    );
    // Each has a server of its own, and none of them gets the token.
    let seen = said(&call(&door, Some(&ada), "seen", "").await);
    assert!(
        !seen.contains(&ada) && !seen.to_lowercase().contains("bearer"),
        "{seen}"
    );
    let identities: Vec<_> = door
        .events("allowed")
        .into_iter()
        .map(|line| line["identity"].as_str().unwrap().to_owned())
        .collect();
    assert!(identities.contains(&"ada".to_owned()) && identities.contains(&"bob".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_its_bearers_alone() {
    let door = door("");
    let ada = format!("Bearer {}", token(1, "ada", &["staff"]));
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let begun = door
        .ask("POST", &[("Authorization", &ada)], initialize)
        .await;
    let name = |line: &str| line.strip_prefix("mcp-session-id: ").map(str::to_owned);
    let session = begun.head.lines().find_map(name);
    let session = session.unwrap_or_else(|| panic!("{begun:?}"));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let status = async |bearer: &str| {
        let headers = [("Authorization", bearer), ("Mcp-Session-Id", &*session)];
        door.ask("POST", &headers, ping).await.status
    };
    assert_eq!(status(&ada).await, 200);
    // Another token of hers is as good; another's, or hers in another role, is not.
    let again = format!("Bearer {}", token(1, "ada", &["staff"]));
    assert_eq!(status(&again).await, 200);
    assert_eq!(
        status(&format!("Bearer {}", token(1, "bob", &["staff"]))).await,
        404
    );
    assert_eq!(
        status(&format!("Bearer {}", token(1, "ada", &[]))).await,
        404
    );
    assert_eq!(status("Bearer x").await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_come_and_go_with_their_file() {
    let door = door("");
    let file = door.directory.join("keys.json");
    let (old, new) = (token(1, "ada", &[]), token(2, "ada", &[]));
    let until = async |token: &str, status: u16| {
        let since = Instant::now();
        while call(&door, Some(token), "echo", "x").await.status != status {
            assert!(since.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    until(&old, 200).await;
    // However many unknown keys are named, the file is looked at as often as ever.
    for seed in 2..60 {
        assert_eq!(
            call(&door, Some(&token(seed, "ada", &[])), "echo", "x")
                .await
                .status,
            401
        );
    }
    std::fs::write(&file, file_of(&[1, 2])).unwrap();
    until(&new, 200).await;
    until(&old, 200).await;
    std::fs::write(&file, file_of(&[2])).unwrap();
    until(&old, 401).await;
    until(&new, 200).await;
}

#[test]
fn a_door_without_usable_keys_does_not_start() {
    for (keys, words) in [
        (
            Some("{\"keys\":[]}"),
            vec!["--issuer", ISSUER, "--audience", AUDIENCE],
        ),
        (None, vec!["--issuer", ISSUER, "--audience", AUDIENCE]),
        (Some("{}"), vec!["--issuer", ISSUER, "--audience", AUDIENCE]),
        (Some(""), vec!["--issuer", ISSUER]),
        (Some(""), vec!["--audience", AUDIENCE]),
    ] {
        let directory = fresh_directory();
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("keys.json");
        if let Some(keys) = keys {
            std::fs::write(&file, keys).unwrap();
        }
        std::fs::write(directory.join("policy.yaml"), policy("")).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .args(["serve", "--listen", "127.0.0.1:0", "--policy"])
            .arg(directory.join("policy.yaml"))
            .arg("--jwks")
            .arg(&file)
            .args(&words)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{words:?}");
    }
}

/// Over HTTP behind as well: the token stays at the door.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_http_never_sees_the_token() {
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel::<String>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let handler = move |headers: axum::http::HeaderMap, body: String| {
        let told = told.clone();
        async move {
            let _ = told.send(format!("{headers:?}"));
            let message: Value = serde_json::from_str(&body).unwrap();
            let result = match message["method"].as_str() {
                Some("tools/list") => {
                    json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
                }
                _ => json!({"content": [{"type": "text", "text": "answered"}]}),
            };
            axum::Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        }
    };
    let router = axum::Router::new().route("/mcp", axum::routing::post(handler));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let directory = fresh_directory();
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("keys.json");
    std::fs::write(&file, file_of(&[1])).unwrap();
    let url = format!("toy: {{url: 'http://{address}/mcp'}}");
    let policy = policy("").replace("toy: {env: {GIVEN: given}}", &url);
    let file = file.to_str().unwrap().to_owned();
    let words = ["--jwks", &file, "--issuer", ISSUER, "--audience", AUDIENCE];
    let door = Served::started(&policy, directory, &words);
    assert_eq!(call(&door, None, "echo", "x").await.status, 401);
    let bearer = token(1, "ada", &[]);
    assert_eq!(
        said(&call(&door, Some(&bearer), "echo", "x").await),
        "answered"
    );
    let mut count = 0;
    while let Ok(headers) = heard.try_recv() {
        count += 1;
        assert!(
            !headers.contains("authorization") && !headers.contains(&bearer),
            "{headers}"
        );
    }
    assert_eq!(count, 2, "the list and the call");
}
