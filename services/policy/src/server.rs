//! Servers and approvals, compiled.

use crate::template::Filled;

/// A server behind the door.
#[derive(Clone, Debug, Default)]
pub struct Server {
    pub(crate) label: Option<Box<str>>,
    pub(crate) request_tokens: bool,
    pub(crate) has_connection: bool,
    pub(crate) connection: Option<Connection>,
    pub(crate) headers: Vec<(Box<str>, Filled)>,
    pub(crate) env: Vec<(Box<str>, Filled)>,
}

/// How a server is reached. Its texts may hold secrets: only [`Filled::expose`] shows them.
#[derive(Clone, Debug)]
pub enum Connection {
    /// A program that speaks on its standard input and output.
    Command {
        /// The program and its arguments; never empty.
        command: Vec<Filled>,
    },
    /// An address.
    Url {
        /// `http://` or `https://`, path included.
        url: Filled,
    },
}

impl Server {
    /// What people call it.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Whether it takes no call without the door's own token.
    #[must_use]
    pub const fn needs_request_tokens(&self) -> bool {
        self.request_tokens
    }

    /// How it is reached. None where the policy does not say, or was read without an environment
    /// (see [`crate::Policy::load_with`]).
    #[must_use]
    pub const fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Headers the door adds to every request.
    #[must_use]
    pub fn headers(&self) -> &[(Box<str>, Filled)] {
        &self.headers
    }

    /// Variables of the program's environment.
    #[must_use]
    pub fn env(&self) -> &[(Box<str>, Filled)] {
        &self.env
    }

    /// Whether the policy says how it is reached, filled in or not.
    #[must_use]
    pub const fn has_connection(&self) -> bool {
        self.has_connection
    }
}

/// How held calls reach a person.
#[derive(Clone, Debug)]
pub struct Approval {
    pub(crate) ttl_seconds: u32,
    pub(crate) webhook: Option<Webhook>,
}

/// A receiver of held calls that answers for a person.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Where it listens.
    pub url: Filled,
    /// Signs what is sent and what comes back.
    pub secret: Filled,
}

impl Approval {
    /// How long a call is held at most where its rule does not say, in seconds.
    #[must_use]
    pub const fn ttl_seconds(&self) -> u32 {
        self.ttl_seconds
    }

    /// Whom to tell about held calls. None where the policy does not say, or was read without an
    /// environment.
    #[must_use]
    pub const fn webhook(&self) -> Option<&Webhook> {
        self.webhook.as_ref()
    }
}
