//! Asks a server which tools it offers, for whoever pins them.
//!
//! This is a client's question on a person's behalf, before any door stands between. Nothing of
//! the answer is acted on: it is hashed, shown and compared.

mod answers;
mod http;
mod stdio;

use std::ffi::OsString;

use anyhow::{Context as _, bail};
use countersign_policy::{Connection, Policy};

/// Most pages of one list.
const PAGES_MAX: usize = 64;

/// Where a server is found.
#[derive(Debug)]
pub enum Place {
    /// A program to start.
    Command {
        /// The program and its arguments; never empty.
        command: Vec<OsString>,
        /// Variables the policy gives it.
        env: Vec<(String, String)>,
    },
    /// An address to ask.
    Url {
        /// Where it listens.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

impl Place {
    /// Where a policy says that a server is found; a command given beside it comes first.
    ///
    /// # Errors
    /// When nobody says where.
    pub fn of(policy: &Policy, server: &str, command: &[OsString]) -> anyhow::Result<Self> {
        let server_of_policy = policy.server(server).context("a server of the policy")?;
        let pairs = |pairs: &[(Box<str>, countersign_policy::Filled)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| (name.to_string(), value.expose().to_owned()))
                .collect()
        };
        let env = pairs(server_of_policy.env());
        if !command.is_empty() {
            let command = command.to_vec();
            return Ok(Self::Command { command, env });
        }
        match server_of_policy.connection() {
            Some(Connection::Command { command }) => Ok(Self::Command {
                command: command.iter().map(|word| word.expose().into()).collect(),
                env,
            }),
            Some(Connection::Url { url }) => Ok(Self::Url {
                url: url.expose().to_owned(),
                headers: pairs(server_of_policy.headers()),
            }),
            None => bail!(
                "the policy does not say where {server} is: give its command after `--`, or what \
                 it offers with --definitions"
            ),
        }
    }

    /// Asks for all pages of the list of tools. The answer has the form of one `tools/list` result.
    ///
    /// # Errors
    /// When the server cannot be started or reached, or answers something else.
    pub fn tools(&self) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Command { command, env } => stdio::tools(command, env),
            Self::Url { url, headers } => http::tools(url, headers),
        }
    }
}

/// The parameters of the handshake of the revision with sessions.
fn handshake() -> String {
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"countersign-door","version":"{}"}}}}"#,
        answers::SESSION_VERSION,
        env!("CARGO_PKG_VERSION"),
    )
}
