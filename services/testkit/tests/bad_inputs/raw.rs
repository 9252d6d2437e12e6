//! Requests as bytes, so that a test can send what no library would.

use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::Answer;

/// How long a test waits for the end of an answer.
const PATIENCE: Duration = Duration::from_secs(45);

/// One request: every header in its place, as often as it was given.
#[derive(Clone, Debug)]
pub struct Request {
    line: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Request {
    /// A request of a method for a target, to a host.
    pub fn new(method: &str, target: &str, host: &str) -> Self {
        let request = Self {
            line: format!("{method} {target} HTTP/1.1"),
            headers: Vec::new(),
            body: Vec::new(),
        };
        request.with("Host", host).with("Connection", "close")
    }

    /// Another method; everything else stays.
    pub fn method(mut self, method: &str) -> Self {
        let target = self.line.split_once(' ').map_or("", |(_, target)| target);
        self.line = format!("{method} {target}");
        self
    }

    /// Another request line.
    pub fn line(mut self, line: &str) -> Self {
        line.clone_into(&mut self.line);
        self
    }

    /// One more header.
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Without a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// The header with this value alone.
    pub fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).with(name, value)
    }

    /// The body, whose length is announced unless a header says otherwise.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.line).into_bytes();
        let announced = |name: &str| {
            self.headers
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        let length = (!announced("content-length") && !self.line.starts_with("GET")).then(|| {
            (
                "Content-Length".to_owned(),
                self.body.len().to_string().into(),
            )
        });
        for (name, value) in self.headers.iter().chain(&length) {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it to a port of this machine and reads to the end of the connection.
    pub async fn send(&self, port: u16) -> anyhow::Result<Answer> {
        exchange(port, &self.bytes()).await
    }
}

/// Sends bytes on a connection of their own and reads all that comes back.
pub async fn exchange(port: u16, bytes: &[u8]) -> anyhow::Result<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))
        .await
        .context("connect")?;
    // A server that refuses early closes while the rest is still being sent.
    let _ = stream.write_all(bytes).await;
    read_to_end(&mut stream).await
}

/// Reads what still comes.
pub async fn read_to_end(stream: &mut TcpStream) -> anyhow::Result<Answer> {
    let mut received = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut received));
    // A refused request may end in a reset after its answer.
    let _ = read.await.context("the connection ends")?;
    Ok(Answer::read(&received))
}
