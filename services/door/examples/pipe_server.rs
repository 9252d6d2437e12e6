//! A server on pipes for the door's tests: every tool is one way to behave, well or badly.
//!
//! Its first argument stands in its definitions. With `among` as the second it offers more, for tests with
//! several servers: resources, prompts, pages, and a tool that writes whatever it is told to.

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

const TOOLS: [&str; 15] = [
    "echo",
    "exit",
    "hang",
    "wrong_id",
    "twice",
    "ask",
    "long_line",
    "crlf",
    "noise",
    "chatter",
    "env",
    "family",
    "late",
    "spaced",
    "seen",
];

fn main() {
    let mut seen: Vec<String> = Vec::new();
    let mut kept: Vec<Value> = Vec::new();
    let edition = std::env::args().nth(1).unwrap_or_default();
    let among = std::env::args().nth(2).is_some();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        seen.push(line);
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") => answer(
                &id,
                &json!({
                    "protocolVersion": std::env::args().nth(3).map_or_else(
                        || message["params"]["protocolVersion"].clone(),
                        Value::from,
                    ),
                    "capabilities": match among {
                        false => json!({"tools": {"listChanged": true}}),
                        true => json!({
                            "tools": {"listChanged": true}, "resources": {}, "prompts": {},
                            "logging": {}, "completions": {}, "tasks": {"list": {}},
                        }),
                    },
                    "serverInfo": {"name": "pipes", "version": "1"},
                    "instructions": edition,
                }),
            ),
            Some("tools/list") if among => {
                let names = TOOLS.iter().chain(&["forge", "deep__name"]);
                let tools: Vec<_> = names.map(|name| tool(name, &edition)).collect();
                let from = message["params"]["cursor"].as_str().unwrap_or("0");
                let from: usize = from.parse().unwrap_or(usize::MAX);
                let to = (from.saturating_add(10)).min(tools.len());
                match tools.get(from..to) {
                    None => refuse(&id, -32_602),
                    Some(page) if to < tools.len() => {
                        answer(&id, &json!({"tools": page, "nextCursor": to.to_string()}));
                    }
                    Some(page) => answer(&id, &json!({"tools": page})),
                }
            }
            Some("server/discover") if among => answer(
                &id,
                &json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}}, "ttlMs": 1_000, "cacheScope": "public",
                }),
            ),
            Some("resources/list") if among => {
                let uris = [format!("toy://{edition}"), "toy://shared".to_owned()];
                let resources: Vec<_> = uris
                    .iter()
                    .map(|uri| json!({"uri": uri, "name": "r"}))
                    .collect();
                answer(&id, &json!({"resources": resources}));
            }
            Some("resources/templates/list") if among => {
                let template = format!("toy://{edition}/{{id}}");
                let templates = [json!({"uriTemplate": template, "name": "t"})];
                answer(&id, &json!({"resourceTemplates": templates}));
            }
            Some("prompts/list") if among => {
                answer(&id, &json!({"prompts": [{"name": "greet"}]}));
            }
            Some("resources/read" | "prompts/get" | "completion/complete" | "logging/setLevel")
                if among =>
            {
                answer(&id, &json!({"edition": edition, "said": message["params"]}));
            }
            Some("tools/list") => {
                let tools: Vec<_> = TOOLS.iter().map(|name| tool(name, &edition)).collect();
                answer(&id, &json!({"tools": tools}));
            }
            Some("tasks/list") if among => {
                answer(&id, &json!({"tasks": [task(&edition), task("shared")]}));
            }
            Some("tasks/get" | "tasks/result" | "tasks/cancel") if among => {
                answer(&id, &json!({"edition": edition, "said": message["params"]}));
            }
            Some("tools/call") if message["params"].get("task").is_some() => {
                answer(&id, &json!({"task": task(&edition)}));
            }
            Some("tools/call") => call(&message, &id, &seen, &mut kept),
            Some("ping") => answer(&id, &json!({})),
            Some(_) => {}
            // The answer to the question it asked the client.
            None => {
                if let Some(asked) = kept.pop() {
                    say(&asked, &message.to_string());
                }
            }
        }
    }
}

fn call(message: &Value, id: &Value, seen: &[String], kept: &mut Vec<Value>) {
    let text = message["params"]["arguments"]["text"]
        .as_str()
        .unwrap_or_default();
    match message["params"]["name"].as_str().unwrap_or_default() {
        "echo" => say(id, text),
        "exit" => std::process::exit(7),
        "hang" => loop {
            std::thread::sleep(Duration::from_secs(60));
        },
        "wrong_id" => {
            say(&json!("nobody-asked"), "wrong");
            say(id, "right");
        }
        "twice" => {
            say(id, "first");
            say(id, "second");
        }
        "ask" => {
            kept.push(id.clone());
            write(&format!(
                r#"{{"jsonrpc":"2.0","id":"server-1","method":"{text}","params":{{"message":"Who?"}}}}"#
            ));
        }
        "long_line" => write(&"x".repeat(9 << 20)),
        "crlf" => write(&format!("{}\r", result(id, "crlf"))),
        "noise" => {
            write("starting up, please wait");
            write("");
            write(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#);
            say(id, "after the noise");
        }
        "chatter" => {
            let line = format!("{}\n", "e".repeat(1023));
            for _ in 0..256 {
                let _ = std::io::stderr().write_all(line.as_bytes());
            }
            say(id, "after the chatter");
        }
        "env" => {
            let names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
            say(id, &names.join(" "));
        }
        "family" => {
            let child = Command::new("sleep")
                .arg("600")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn();
            say(
                id,
                &format!("{} {}", std::process::id(), child.expect("sleep").id()),
            );
        }
        "late" => {
            // Answered in the other order, when the next one comes.
            kept.push(id.clone());
            if text == "go" {
                while let Some(id) = kept.pop() {
                    say(&id, "late");
                }
            }
        }
        "spaced" => write(&result(id, text).replace(',', " ,\r ")),
        "seen" => say(id, &seen.join("\n")),
        "forge" => {
            write(text);
            say(id, "forged");
        }
        _ => refuse(id, -32_602),
    }
}

fn task(edition: &str) -> Value {
    json!({"taskId": format!("task-{edition}"), "status": "working", "ttl": 1_000})
}

fn tool(name: &str, edition: &str) -> Value {
    json!({"name": name, "description": edition, "inputSchema": {"type": "object"}})
}

fn refuse(id: &Value, code: i32) {
    write(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"not here"}}}}"#
    ));
}

fn result(id: &Value, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
        .to_string()
}

fn say(id: &Value, text: &str) {
    write(&result(id, text));
}

fn answer(id: &Value, result: &Value) {
    write(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn write(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}
