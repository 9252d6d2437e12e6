//! The door's side of a call: keys, tokens, messages.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    http::{Request, StatusCode},
};
use countersign_bank_mcp::{Bank, app::app, gate::Gate};
use countersign_domain::{ActionId, ConversationId, CustomerId, Secret};
use countersign_identity::{
    RequestClaims, SigningKey, TokenId, VerifyingKeyFile, VerifyingKeys, body_digest, generate_key,
    sign_request,
};
use countersign_serve::guard::Allowed;
use serde_json::{Value, json};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tower::ServiceExt;

/// The host the server answers to in the tests.
pub const HOST: &str = "bank.test:8483";
/// Seconds since 1970 in the tests' tokens.
const NOW: u64 = 1_790_000_000;

/// Random bytes for ids and keys.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("random bytes");
    bytes
}

/// Whom a call is for.
#[derive(Clone, Debug)]
pub struct Turn {
    pub customer: CustomerId,
    pub conversation: ConversationId,
    pub secret: Secret,
}

impl Turn {
    /// A turn that no database knows.
    pub fn unknown() -> Self {
        let uuid = |bytes| uuid::Uuid::from_bytes(bytes);
        Self {
            customer: CustomerId::from_uuid(uuid(random())),
            conversation: ConversationId::from_uuid(uuid(random())),
            secret: Secret::from_random(random()),
        }
    }
}

/// A running server and the key its door signs with.
#[derive(Clone)]
pub struct Door {
    router: Router,
    key: Arc<SigningKey>,
    public: VerifyingKeyFile,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub text: String,
}

impl Answer {
    /// The JSON body.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// The structured content of a tool's success.
    pub fn content(&self) -> Value {
        let json = self.json();
        assert_eq!(json["result"]["isError"], false, "{json}");
        json["result"]["structuredContent"].clone()
    }

    /// The code of a tool's refusal.
    pub fn refusal(&self) -> String {
        let json = self.json();
        assert_eq!(json["result"]["isError"], true, "{json}");
        let code = &json["result"]["structuredContent"]["code"];
        code.as_str()
            .unwrap_or_else(|| panic!("no code: {json}"))
            .to_owned()
    }
}

impl Door {
    /// A server over a database, or over none that answers.
    pub fn over(pool: PgPool) -> Self {
        let file = generate_key(random(), "door-test");
        let key = SigningKey::from_file(&file).expect("own key");
        let public = file.verifying_key_file().expect("public half");
        Self::with(pool, Arc::new(key), public)
    }

    fn with(pool: PgPool, key: Arc<SigningKey>, public: VerifyingKeyFile) -> Self {
        let keys = VerifyingKeys::new(vec![public.clone()]).expect("own public key");
        let allowed = Allowed {
            hosts: vec![HOST.to_owned()],
            origins: vec!["http://door.test".to_owned()],
        };
        let new_action_id = || ActionId::from_uuid(uuid::Uuid::now_v7());
        let gate = Gate {
            metrics: std::sync::Arc::default(),
            keys: keys.into(),
            bank: Bank {
                pool,
                new_action_id,
            },
            now: || NOW,
        };
        Self {
            router: app(allowed, gate),
            key,
            public,
        }
    }

    /// A second replica of the same server: the same keys, its own connections.
    pub fn replica(&self, pool: PgPool) -> Self {
        Self::with(pool, Arc::clone(&self.key), self.public.clone())
    }

    /// A server whose database never answers, for what is decided before it is asked.
    pub fn without_database() -> Self {
        let pool = PgPoolOptions::new()
            .acquire_timeout(std::time::Duration::from_millis(200))
            .connect_lazy("postgres://nobody@127.0.0.1:1/none")
            .expect("a lazy pool");
        Self::over(pool)
    }

    /// The claims of a good token for these bytes.
    pub fn claims(&self, turn: &Turn, body: &[u8]) -> RequestClaims {
        RequestClaims {
            customer: turn.customer,
            conversation: turn.conversation,
            grant_secret: turn.secret.clone(),
            issued_at: NOW,
            token_id: TokenId::from_random(random()),
            method: "POST".to_owned(),
            path: "/mcp".to_owned(),
            body_digest: body_digest(body),
            record_leaf: random(),
        }
    }

    /// Signs claims.
    pub fn sign(&self, claims: &RequestClaims) -> String {
        sign_request(&self.key, claims).expect("sign")
    }

    /// Sends a request as built.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .expect("an answer");
        let status = response.status();
        let body: Bytes = axum::body::to_bytes(response.into_body(), 1 << 20)
            .await
            .expect("a body");
        Answer {
            status,
            text: String::from_utf8(body.to_vec()).expect("text"),
        }
    }

    /// Sends raw bytes with a good token for exactly them.
    pub async fn post(&self, turn: &Turn, body: impl Into<Vec<u8>>) -> Answer {
        let body = body.into();
        let token = self.sign(&self.claims(turn, &body));
        self.send(request(&[("countersign-request", &token)], body))
            .await
    }

    /// Calls a tool.
    pub async fn call(&self, turn: &Turn, tool: &str, arguments: Value) -> Answer {
        self.post(turn, call_body(tool, &arguments)).await
    }
}

/// The bytes of a tool call as a 2025-11-25 client sends it.
pub fn call_body(tool: &str, arguments: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        .to_string()
        .into_bytes()
}

/// A POST with the headers every client sends, and more.
pub fn request(headers: &[(&str, &str)], body: Vec<u8>) -> Request<Body> {
    let mut request = Request::post("/mcp")
        .header("host", HOST)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body)).expect("a request")
}
