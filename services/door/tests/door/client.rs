//! A client that writes its own bytes.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long any answer may take here.
const TIME_OUT: Duration = Duration::from_secs(20);

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.message()).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The body, or the data of the one event that a stream of them has.
    fn message(&self) -> String {
        if !self.head.contains("content-type: text/event-stream") {
            return self.body.clone();
        }
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.collect::<Vec<_>>().join("\n")
    }

    /// The code of a JSON-RPC error.
    pub fn code(&self) -> Option<i64> {
        serde_json::from_str::<serde_json::Value>(&self.message()).ok()?["error"]["code"].as_i64()
    }

    /// The reason in the data of a JSON-RPC error.
    pub fn reason(&self) -> String {
        self.json()["error"]["data"]["reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

/// Writes these bytes and reads the answer to the end of the connection.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may have answered and closed before everything was written.
        let _ = stream.write_all(bytes).await;
        let mut read = Vec::new();
        let _ = stream.read_to_end(&mut read).await;
        read
    };
    let read = tokio::time::timeout(TIME_OUT, exchange)
        .await
        .expect("an answer in time");
    let text = String::from_utf8_lossy(&read).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") {
        unchunk(body)
    } else {
        body.to_owned()
    };
    Answer {
        status: status.unwrap_or(0),
        head,
        body,
    }
}

fn unchunk(mut chunked: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = chunked.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        chunked = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

/// A POST in the making.
#[derive(Clone)]
pub struct Post {
    pub address: SocketAddr,
    pub headers: Vec<(String, String)>,
    pub method: &'static str,
}

impl Post {
    /// A POST of JSON with this session token.
    pub fn new(address: SocketAddr, token: &str) -> Self {
        let headers = [
            ("Host", address.to_string().as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Countersign-Session", token),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            address,
            headers: headers.into(),
            method: "POST",
        }
    }

    /// The same without a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(header, _)| !header.eq_ignore_ascii_case(name));
        self
    }

    /// The same with one more header.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with another value of a header.
    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    /// The head and the body as they go over the wire.
    pub fn bytes(&self, body: &[u8]) -> Vec<u8> {
        let mut head = format!("{} /mcp HTTP/1.1\r\nConnection: close\r\n", self.method);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        [head.as_bytes(), body].concat()
    }

    /// Sends it.
    pub async fn send(&self, body: impl AsRef<[u8]>) -> Answer {
        raw(self.address, &self.bytes(body.as_ref())).await
    }

    /// Sends a call of a tool as the older revision has it.
    pub async fn call(&self, name: &str, arguments: &str) -> Answer {
        self.send(call(name, arguments)).await
    }
}

/// A call of a tool.
pub fn call(name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
    )
}
