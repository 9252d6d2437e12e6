//! What the door answers instead of forwarding: one table of codes.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use countersign_receipts::Hash;
use countersign_serve::Verbatim;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

/// Codes of JSON-RPC errors that the door answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The policy refuses the call.
    Blocked,
    /// A person has to approve, and nobody can.
    ApprovalNeeded,
    /// The decision could not be recorded or the call could not be signed.
    NotRecorded,
    /// Headers and body say different things.
    HeaderMismatch,
    /// A revision of the protocol that is not served.
    UnsupportedVersion,
    /// The message is malformed; the code is JSON-RPC's own.
    Malformed(i32),
    /// The server behind the door did not answer as it must.
    Upstream,
}

impl Code {
    const fn number(self) -> i32 {
        match self {
            Self::Blocked => -32_001,
            Self::ApprovalNeeded => -32_002,
            Self::NotRecorded => -32_006,
            Self::HeaderMismatch => -32_020,
            Self::UnsupportedVersion => -32_022,
            Self::Malformed(code) => code,
            Self::Upstream => -32_603,
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::Blocked => "The door's policy refuses this call",
            Self::ApprovalNeeded => {
                "This call needs a person's approval, and nobody can give it here"
            }
            Self::NotRecorded => "The door cannot record this call, so it does not forward it",
            Self::HeaderMismatch => "Headers and body of the message differ",
            Self::UnsupportedVersion => "This protocol version is not served",
            Self::Malformed(_) => "The message is malformed",
            Self::Upstream => "The server behind the door did not answer",
        }
    }

    /// Decisions are answers like any other; what is malformed is HTTP's affair too.
    const fn status(self) -> StatusCode {
        match self {
            Self::Blocked | Self::ApprovalNeeded | Self::NotRecorded => StatusCode::OK,
            Self::HeaderMismatch | Self::UnsupportedVersion | Self::Malformed(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::Upstream => StatusCode::BAD_GATEWAY,
        }
    }
}

/// A refusal on its way to the client. It repeats nothing that the client or a server wrote.
#[derive(Debug)]
pub struct Refusal {
    code: Code,
    status: Option<StatusCode>,
    data: Box<Data>,
}

#[derive(Debug, Default, Serialize)]
struct Data {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Hash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supported: Option<&'static [&'static str]>,
}

impl Refusal {
    /// A refusal with a reason's code.
    pub fn new(code: Code, reason: &str) -> Self {
        Self {
            code,
            status: None,
            data: Box::new(Data {
                reason: Some(reason.to_owned()),
                ..Data::default()
            }),
        }
    }

    /// Names the line of the policy that decided.
    pub fn with_rule(mut self, rule: &str) -> Self {
        self.data.rule = Some(rule.to_owned());
        self
    }

    /// Names the declared argument that is the reason.
    pub fn with_argument(mut self, argument: Option<&str>) -> Self {
        self.data.argument = argument.map(str::to_owned);
        self
    }

    /// Names the record of the decision.
    pub fn with_receipt(mut self, leaf: Hash) -> Self {
        self.data.receipt = Some(leaf);
        self
    }

    /// Answers with another HTTP status.
    pub const fn with_status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    /// Names the revisions that are served.
    pub fn with_supported(mut self, versions: &'static [&'static str]) -> Self {
        self.data.supported = Some(versions);
        self
    }

    /// The reason's code.
    pub fn reason(&self) -> &str {
        self.data.reason.as_deref().unwrap_or_default()
    }

    /// The body of the error, under the id as it was written or under null.
    pub fn json(&self, id: Option<&str>) -> String {
        let data = serde_json::to_string(&self.data).unwrap_or_else(|_| "{}".to_owned());
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":"{}","data":{data}}}}}"#,
            id.unwrap_or("null"),
            self.code.number(),
            self.code.message(),
        )
    }

    /// The whole response. `id` is the raw JSON of the id to answer under.
    pub fn respond(&self, id: Option<&str>) -> Response {
        let mut response = Body::from(self.json(id)).into_response();
        *response.status_mut() = self.status.unwrap_or_else(|| self.code.status());
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        response.extensions_mut().insert(Verbatim);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_json_rpc_error_under_the_id_as_written() {
        let refusal = Refusal::new(Code::Blocked, "not_listed").with_rule("default");
        let body: serde_json::Value = serde_json::from_str(&refusal.json(Some("\"7\""))).unwrap();
        assert_eq!(body["id"], "7");
        assert_eq!(body["error"]["code"], -32_001);
        assert_eq!(
            body["error"]["data"],
            serde_json::json!({"reason": "not_listed", "rule": "default"})
        );
        assert!(refusal.json(None).contains(r#""id":null"#));
    }
}
