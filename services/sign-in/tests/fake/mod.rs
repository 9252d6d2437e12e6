//! A provider in the test's hands: real sockets, real signatures, and whatever the test wants it to say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::{
    Form, Json, Router,
    extract::State,
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, KeyPair,
    },
};
use serde_json::{Value, json};

/// Seconds since the epoch.
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a clock")
        .as_secs()
}

/// The S256 challenge of a verifier (RFC 7636, section 4.2).
pub fn challenge(verifier: &str) -> String {
    BASE64.encode(ring::digest::digest(
        &ring::digest::SHA256,
        verifier.as_bytes(),
    ))
}

/// A token before it is signed.
#[derive(Clone)]
pub struct Claims {
    pub head: Value,
    pub body: Value,
    key: Signing,
    long_key: Arc<EcdsaKeyPair>,
}

#[derive(Clone)]
enum Signing {
    Key(Arc<EcdsaKeyPair>),
    Secret(String),
    Nothing,
}

impl Claims {
    /// Takes a member away.
    pub fn drop(&mut self, name: &str) {
        self.body.as_object_mut().expect("an object").remove(name);
    }

    pub fn unsigned(&mut self) {
        self.head["alg"] = json!("none");
        self.key = Signing::Nothing;
    }

    pub fn signed_by_secret(&mut self, secret: &str) {
        self.head["alg"] = json!("HS256");
        self.key = Signing::Secret(secret.to_owned());
    }

    /// Signed by a key that the provider publishes, in a way that is not on the list.
    pub fn signed_in_another_way(&mut self) {
        self.head = json!({"alg": "ES384", "kid": "long"});
        self.key = Signing::Key(self.long_key.clone());
    }

    pub fn signed_by_stranger(&mut self) {
        self.key = Signing::Key(Arc::new(new_key(&ECDSA_P256_SHA256_FIXED_SIGNING)));
    }

    /// The token.
    pub fn token(&self) -> String {
        let message = format!(
            "{}.{}",
            BASE64.encode(self.head.to_string()),
            BASE64.encode(self.body.to_string())
        );
        let signature = match &self.key {
            Signing::Key(key) => key
                .sign(&SystemRandom::new(), message.as_bytes())
                .expect("a signature")
                .as_ref()
                .to_vec(),
            Signing::Secret(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
                hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
            }
            Signing::Nothing => Vec::new(),
        };
        format!("{message}.{}", BASE64.encode(signature))
    }
}

#[derive(Default)]
struct Says {
    discovery: BTreeMap<String, Value>,
    token: String,
    requests: Vec<BTreeMap<String, String>>,
    discoveries: usize,
}

/// The provider.
#[derive(Clone)]
pub struct Fake {
    issuer: String,
    key: Arc<Mutex<Arc<EcdsaKeyPair>>>,
    long_key: Arc<EcdsaKeyPair>,
    says: Arc<Mutex<Says>>,
}

impl Fake {
    /// A provider on a port of its own, for as long as the test runs.
    pub async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let fake = Self {
            issuer,
            key: Arc::new(Mutex::new(Arc::new(new_key(
                &ECDSA_P256_SHA256_FIXED_SIGNING,
            )))),
            long_key: Arc::new(new_key(&ECDSA_P384_SHA384_FIXED_SIGNING)),
            says: Arc::default(),
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discover))
            .route("/jwks", get(keys))
            .route("/token", post(token))
            .with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }

    pub fn issuer(&self) -> String {
        self.issuer.clone()
    }

    /// Claims that hold, for a sign-in with this nonce.
    pub fn claims(&self, nonce: &str) -> Claims {
        Claims {
            head: json!({"alg": "ES256", "kid": "k"}),
            body: json!({
                "iss": self.issuer, "aud": "panel", "sub": "person-1", "sid": "session-1", "nonce": nonce,
                "iat": now(), "exp": now() + 300, "auth_time": now() - 5,
            }),
            key: Signing::Key(self.key()),
            long_key: self.long_key.clone(),
        }
    }

    /// Claims of a logout token that holds.
    pub fn logout_claims(&self) -> Claims {
        Claims {
            head: json!({"alg": "ES256", "kid": "k", "typ": "logout+jwt"}),
            body: json!({
                "iss": self.issuer, "aud": "panel", "sub": "person-1", "sid": "session-1", "jti": "logout-1",
                "iat": now(), "exp": now() + 120,
                "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
            }),
            key: Signing::Key(self.key()),
            long_key: self.long_key.clone(),
        }
    }

    /// What the token endpoint answers from now on.
    pub fn answer_with(&self, claims: &Claims) {
        self.says().token = claims.token();
    }

    /// Puts a member into the discovery document.
    pub fn discovery(&self, name: &str, value: Value) {
        self.says().discovery.insert(name.to_owned(), value);
    }

    /// From now on the provider signs with another key and publishes that alone.
    pub fn new_key(&self) {
        *self.key.lock().expect("a key") = Arc::new(new_key(&ECDSA_P256_SHA256_FIXED_SIGNING));
    }

    /// The one request that came to the token endpoint.
    pub fn token_request(&self) -> BTreeMap<String, String> {
        let says = self.says();
        assert_eq!(says.requests.len(), 1);
        says.requests[0].clone()
    }

    pub fn token_requests(&self) -> usize {
        self.says().requests.len()
    }

    pub fn discoveries(&self) -> usize {
        self.says().discoveries
    }

    fn key(&self) -> Arc<EcdsaKeyPair> {
        self.key.lock().expect("a key").clone()
    }

    fn says(&self) -> std::sync::MutexGuard<'_, Says> {
        self.says.lock().expect("what it says")
    }
}

fn new_key(way: &'static EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(way, &random).expect("a key");
    EcdsaKeyPair::from_pkcs8(way, pkcs8.as_ref(), &random).expect("a key")
}

async fn discover(State(fake): State<Fake>) -> Json<Value> {
    let issuer = &fake.issuer;
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/auth"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "authorization_response_iss_parameter_supported": true,
    });
    let mut says = fake.says();
    says.discoveries += 1;
    for (name, value) in &says.discovery {
        document[name] = value.clone();
    }
    Json(document)
}

async fn keys(State(fake): State<Fake>) -> Json<Value> {
    let published = |kid: &str, curve: &str, way: &str, key: &EcdsaKeyPair| {
        // An uncompressed point: a mark, then two halves.
        let point = &key.public_key().as_ref()[1..];
        let (x, y) = point.split_at(point.len() / 2);
        json!({
            "kty": "EC", "crv": curve, "kid": kid, "use": "sig", "alg": way,
            "x": BASE64.encode(x), "y": BASE64.encode(y),
        })
    };
    Json(json!({"keys": [
        published("k", "P-256", "ES256", &fake.key()),
        published("long", "P-384", "ES384", &fake.long_key),
    ]}))
}

async fn token(
    State(fake): State<Fake>,
    Form(request): Form<BTreeMap<String, String>>,
) -> Json<Value> {
    let mut says = fake.says();
    says.requests.push(request);
    Json(json!({"access_token": "access", "token_type": "Bearer", "id_token": says.token}))
}
