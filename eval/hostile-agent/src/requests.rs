//! HTTP by hand, from this process's place.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::calls;

/// Most that is read of an answer.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Time in which an answer that streams is cut, in seconds.
const PATIENCE_SECONDS: i64 = 3;

/// A request, whole but for what HTTP itself needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    address: SocketAddr,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// What came back.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// The way the connection was made; empty when none was.
    way: &'static str,
    /// The HTTP status; zero without an answer.
    status: u16,
    /// The answer's head and body as they came.
    text: String,
}

/// Sends each and reports each answer.
pub fn send(requests: &[Request]) -> Vec<Answer> {
    requests
        .iter()
        .map(|request| one(request).unwrap_or_default())
        .collect()
}

fn one(request: &Request) -> io::Result<Answer> {
    let (way, socket) = calls::any_way(&request.address)?;
    crate::raw::set_read_time_out(&socket, PATIENCE_SECONDS)?;
    let mut stream = File::from(socket);
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!(
        "Connection: close\r\nContent-Length: {}\r\n\r\n",
        request.body.len()
    ));
    stream.write_all(head.as_bytes())?;
    stream.write_all(request.body.as_bytes())?;
    let mut bytes = Vec::new();
    // A stream without end is cut by the time-out; what came until then counts.
    let _ = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_default();
    Ok(Answer { way, status, text })
}
