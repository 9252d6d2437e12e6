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
    /// The groups a verified token names.
    pub groups: Arc<[Box<str>]>,
    /// The session its calls belong to: what is counted over a session is counted over this.
    pub session: Arc<str>,
    /// What a session token says, where there is one.
    pub claims: Option<Arc<SessionClaims>>,
}

impl Caller {
    /// The one caller of a door that verifies nobody, in a session with this name.
    pub fn local(session: &str) -> Self {
        Self {
            identity: LOCAL.into(),
            groups: Arc::default(),
            session: session.into(),
            claims: None,
        }
    }

    /// The names of its groups, as the policy wants them.
    pub fn group_names(&self) -> Vec<&str> {
        self.groups.iter().map(|group| &**group).collect()
    }

    /// The same caller in a session of the transport. A customer's calls stay those of the
    /// conversation.
    pub fn in_session(mut self, name: &::http::HeaderValue) -> Self {
        if self.claims.is_none() {
            self.session = String::from_utf8_lossy(name.as_bytes()).into();
        }
        self
    }

    /// The customer of a session token.
    pub fn customer(claims: SessionClaims) -> Self {
        Self {
            identity: claims.customer.to_string().into(),
            groups: Arc::default(),
            session: claims.conversation.to_string().into(),
            claims: Some(Arc::new(claims)),
        }
    }
}
