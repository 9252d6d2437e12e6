//! The targets over HTTP.

use serde_json::{Value, json};

use crate::stdio::POLICY;
use crate::token;
use crate::workshop::Workshop;

/// No door.
pub const DIRECT: &str = "http direct";
/// nginx as a reverse proxy with kept connections.
pub const NGINX: &str = "http nginx";
/// The door, for whoever reaches its address.
pub const DOOR: &str = "http door";
/// The door with a session token in and a request token out.
pub const TOKENS: &str = "http door, tokens";

/// Ports of the echo servers and of what stands before them.
const PORTS: std::ops::Range<u16> = 9_310..9_320;

/// Every target over HTTP.
///
/// # Errors
/// When a file of theirs cannot be written.
pub fn targets(workshop: &Workshop) -> anyhow::Result<Vec<Value>> {
    let mut ports = PORTS;
    let mut port = || ports.next().unwrap_or_default();
    let echo = |port: u16| json!(["python3", "-S", "-E", "{echo}", "http", port.to_string()]);
    let url = |port: u16| format!("http://127.0.0.1:{port}/mcp");

    let own = port();
    let mut targets =
        vec![json!({"name": DIRECT, "kind": "http", "cmd": echo(own), "url": url(own)})];
    if let Some(nginx) = &workshop.nginx {
        let (front, back) = (port(), port());
        let file = workshop.write("nginx.conf", &nginx_file(workshop, front, back))?;
        targets.push(json!({
            "name": NGINX, "kind": "http", "url": url(front), "needs": [echo(back)],
            "cmd": [nginx, "-e", "stderr", "-p", workshop.folder(), "-c", file],
        }));
    }
    let (front, back) = (port(), port());
    let policy = format!("{POLICY}servers:\n  echo:\n    url: {}\n", url(back));
    let policy = workshop.write("http.yaml", &policy)?;
    targets.push(json!({
        "name": DOOR, "kind": "http", "url": url(front), "needs": [echo(back)],
        "cmd": [
            workshop.door, "serve", "--policy", policy, "--listen", format!("127.0.0.1:{front}"),
            "--log", workshop.record("http-door")?, "--keys", workshop.keys()?,
        ],
    }));
    let (front, back) = (port(), port());
    let session = token::key("bench-session")?;
    let config = json!({
        "listen": {"bind": [format!("127.0.0.1:{front}")]},
        "hosts": [format!("127.0.0.1:{front}")],
        "origins": [],
        "policy_yaml": format!("{POLICY}servers:\n  echo:\n    request_tokens: true\n"),
        "upstream": {"name": "echo", "url": url(back)},
        "session_keys": [session.verifying_key_file()?],
        "request_key": token::key("bench-request")?,
        "receipt_key": token::key("bench-log")?,
        "record": "written",
        "log_directory": workshop.record("http-tokens")?,
        "log_origin": "countersign.example/bench",
    });
    let config = workshop.write("tokens.json", &config.to_string())?;
    let session = workshop.write("session.json", &serde_json::to_string(&session)?)?;
    targets.push(json!({
        "name": TOKENS, "kind": "http", "url": url(front), "needs": [echo(back)],
        "cmd": [workshop.door, "--config", config],
        "headers_from": [std::env::current_exe()?, "token", session],
    }));
    Ok(targets)
}

fn nginx_file(workshop: &Workshop, front: u16, back: u16) -> String {
    let folder = workshop.folder().display();
    format!(
        "daemon off;\nmaster_process off;\nworker_processes 1;\nerror_log stderr error;\npid {folder}/nginx.pid;\n\
         events {{ worker_connections 512; }}\n\
         http {{\n  access_log off;\n  client_body_temp_path {folder}/body;\n  proxy_temp_path {folder}/proxy;\n\
         \x20 fastcgi_temp_path {folder}/f;\n  uwsgi_temp_path {folder}/u;\n  scgi_temp_path {folder}/s;\n\
         \x20 keepalive_requests 1000000;\n\
         \x20 upstream echo {{ server 127.0.0.1:{back}; keepalive 64; keepalive_requests 1000000; }}\n\
         \x20 server {{\n    listen 127.0.0.1:{front};\n    location / {{\n      proxy_pass http://echo;\n\
         \x20     proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n    }}\n  }}\n}}\n"
    )
}
