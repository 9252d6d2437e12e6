//! Notices by e-mail: plain text, one to a customer, no picture and nothing that calls home.

use std::time::Duration;

use anyhow::Context;
use countersign_domain::Secret;
use countersign_execution::loops::relay::{Delivery, Failure};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
    transport::smtp::authentication::Credentials,
};
use serde::Deserialize;

use super::Letter;

/// How long the mail server may take for a whole delivery.
const TIME_OUT: Duration = Duration::from_secs(20);

/// Where mail goes out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmtpConfig {
    /// The server's name, as in its certificate.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub tls: Tls,
    /// User name and password, where the server asks for them.
    pub user: Option<String>,
    /// See `user`.
    pub password: Option<Secret>,
    /// Who the mail is from, such as `Countersign Bank <no-reply@bank.example>`.
    pub from: String,
}

/// How a connection to the mail server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tls {
    /// From the first byte.
    Implicit,
    /// STARTTLS, and nothing without it.
    Required,
    /// None; to a server on this very machine only.
    None,
}

/// Sends mail.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Mailer {
    /// Prepares the way to the mail server.
    ///
    /// # Errors
    /// When the sender is no address, or mail would go unprotected over a network.
    pub fn new(config: SmtpConfig) -> anyhow::Result<Self> {
        let from = config
            .from
            .parse()
            .context("the sender of notices is no address")?;
        let builder = match config.tls {
            Tls::Implicit => AsyncSmtpTransport::<Tokio1Executor>::relay(&config.host)?,
            Tls::Required => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(&config.host)?,
            Tls::None => {
                anyhow::ensure!(
                    matches!(config.host.as_str(), "localhost" | "127.0.0.1" | "::1"),
                    "mail without TLS goes to this machine only"
                );
                AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&config.host)
            }
        };
        let builder = builder.port(config.port).timeout(Some(TIME_OUT));
        let builder = match (config.user, config.password) {
            (Some(user), Some(password)) => {
                builder.credentials(Credentials::new(user, password.expose().to_owned()))
            }
            (None, None) => builder,
            _ => anyhow::bail!("a mail server's user and password go together"),
        };
        Ok(Self {
            transport: builder.build(),
            from,
        })
    }

    /// Sends one notice.
    ///
    /// # Errors
    /// [`Failure`]: for good where the server or the address refuses for good.
    pub async fn send(&self, delivery: &Delivery, letter: &Letter) -> Result<(), Failure> {
        let bad_address = Failure {
            code: "bad_address",
            for_good: true,
        };
        let to: Mailbox = delivery.address.parse().map_err(|_| bad_address)?;
        let body = format!(
            "{}\n\n{}\n{}\n\n{}\n",
            letter.sentence,
            letter.texts.say(
                "This was not you? This stops everything that leaves your accounts, at once and without a login:"
            ),
            letter.not_me.expose(),
            letter.texts.say(
                "The bank never asks you for a code or a password, and never asks you to move money to keep it safe."
            )
        );
        let message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(letter.heading.clone())
            .header(ContentType::TEXT_PLAIN)
            .body(body)
            .map_err(|_| bad_address)?;
        match self.transport.send(message).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_permanent() => Err(Failure {
                code: "refused_by_mail_server",
                for_good: true,
            }),
            Err(error) if error.is_timeout() => Err(Failure {
                code: "mail_server_time_out",
                for_good: false,
            }),
            Err(_) => Err(Failure {
                code: "mail_server_unreachable",
                for_good: false,
            }),
        }
    }
}
