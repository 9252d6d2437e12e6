//! What came back, its code, and what must never stand in it.

use serde_json::Value;

/// Longest refusal: a code, a sentence, a receipt.
const REFUSAL_BYTES_MAX: usize = 1_500;
/// Words of the bank's insides. None has any business in an answer.
const INTERNAL: [&str; 26] = [
    "select ",
    "insert ",
    "update bank",
    "bank.",
    "pg_",
    "postgres",
    "sqlx",
    "serde",
    "rmcp",
    "hyper",
    "axum",
    "tokio",
    "panicked",
    "unwrap",
    "backtrace",
    ".rs",
    "/src/",
    "/home/",
    // In two parts: no path of a machine stands in the sources.
    concat!("/ro", "ot/"),
    "/tmp/",
    "target/debug",
    "constraint",
    "row-level",
    "deserialize",
    "invalid type",
    " at line ",
];

/// The code of a refusal, in the form in which the surface has codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// The member `code` of a problem, whose `type` agrees with it.
    Problem(String),
    /// The code of a JSON-RPC error.
    Rpc(i64),
    /// The code with which a tool refused.
    Tool(String),
}

impl Code {
    pub fn problem(code: &str) -> Option<Self> {
        Some(Self::Problem(code.to_owned()))
    }

    pub const fn rpc(code: i64) -> Option<Self> {
        Some(Self::Rpc(code))
    }

    pub fn tool(code: &str) -> Option<Self> {
        Some(Self::Tool(code.to_owned()))
    }
}

/// One answer. Everything is empty where the connection ended without one.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Answer {
    /// Takes an answer apart.
    pub fn read(received: &[u8]) -> Self {
        let split = received
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or(received.len());
        let head = String::from_utf8_lossy(&received[..split]).to_lowercase();
        let body = received.get(split + 4..).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") {
            joined(body)
        } else {
            body.to_vec()
        };
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_default();
        Self {
            status,
            head,
            text: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// The JSON of the body, or of the last event in it; null where there is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .ok()
            .or_else(|| {
                let data = self
                    .text
                    .lines()
                    .filter_map(|line| line.strip_prefix("data:"));
                data.filter_map(|data| serde_json::from_str(data).ok())
                    .next_back()
            })
            .unwrap_or(Value::Null)
    }

    /// The structured content of a tool's answer.
    pub fn content(&self) -> Value {
        self.json()["result"]["structuredContent"].clone()
    }

    /// The typed code of a refusal; none for a success, and none for a refusal without one.
    pub fn code(&self) -> Option<Code> {
        let json = self.json();
        if let Some(code) = json["error"]["code"].as_i64() {
            return Some(Code::Rpc(code));
        }
        if json["result"]["isError"] == true {
            let code = json["result"]["structuredContent"]["code"].as_str()?;
            return Some(Code::Tool(code.to_owned()));
        }
        let code = json["code"].as_str()?;
        let typed = self.head.contains("content-type: application/problem+json")
            && json["type"] == format!("urn:countersign:problem:{code}")
            && json["status"] == self.status;
        typed.then(|| Code::Problem(code.to_owned()))
    }

    /// Checks that this refuses with a status and a code, in few words and without the bank's insides.
    pub fn must_refuse(&self, status: u16, code: Option<Code>, what: &str) {
        assert_eq!(
            (self.status, self.code()),
            (status, code),
            "{what}: {} {}",
            self.head,
            self.text
        );
        self.must_show_nothing_internal(what);
    }

    /// Checks that a refusal is short and names nothing of the bank's insides.
    pub fn must_show_nothing_internal(&self, what: &str) {
        assert!(
            self.text.len() <= REFUSAL_BYTES_MAX,
            "{what}: {} bytes of refusal",
            self.text.len()
        );
        let text = self.text.to_lowercase();
        for word in INTERNAL {
            assert!(!text.contains(word), "{what}: {word:?} in {}", self.text);
        }
    }
}

/// A body that came in chunks.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|size| usize::from_str_radix(size.trim(), 16).ok())
            .unwrap_or_default();
        let Some(chunk) = rest.get(end + 2..end + 2 + size).filter(|_| size > 0) else {
            break;
        };
        body.extend_from_slice(chunk);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    body
}
