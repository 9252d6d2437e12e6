//! Whose message it is.

use std::sync::Arc;

use countersign_identity::SessionClaims;

/// The identity of callers where nobody is verified: whoever started the door or can reach it.
const LOCAL: &str = "local";

/// Who calls, and the name under which the policy counts their calls.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The customer's id in text, the verified identity, or `local`.
    pub identity: Arc<str>,
    /// What a session token says, where there is one.
    pub claims: Option<Arc<SessionClaims>>,
}

impl Caller {
    /// The one caller of a door that verifies nobody.
    pub fn local() -> Self {
        Self {
            identity: LOCAL.into(),
            claims: None,
        }
    }

    /// The customer of a session token.
    pub fn customer(claims: SessionClaims) -> Self {
        Self {
            identity: claims.customer.to_string().into(),
            claims: Some(Arc::new(claims)),
        }
    }
}
