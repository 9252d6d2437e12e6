//! The outbox relay: delivers what the bank tells its customers by the channels it is configured for.
//!
//! The bank's words only, beside the text of the button that was pressed. Each carries the link "this was not me", whose word
//! stands behind the `#`, where no server and no log sees it.

mod smtp;
mod webhook;

use countersign_domain::Secret;
use countersign_execution::{
    loops::{
        LoopError,
        relay::{Delivery, Failure, claim, end},
    },
    notices::words,
};
use countersign_texts::Texts;
use serde::Deserialize;
use sqlx::PgPool;

pub use smtp::SmtpConfig;
pub use webhook::WebhookConfig;

/// The channels beside the panel itself. None is fine: then the panel's own list is the only one.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// E-mail, through a server that takes mail.
    pub email: Option<SmtpConfig>,
    /// A signed POST to a service of the bank, such as one that sends pushes.
    pub webhook: Option<WebhookConfig>,
}

/// What delivers.
pub struct Relay {
    panel_origin: String,
    email: Option<smtp::Mailer>,
    webhook: Option<webhook::Caller>,
}

/// A notice in words, for every channel.
struct Letter {
    texts: &'static Texts,
    heading: String,
    sentence: String,
    /// The link that stops outgoing payments.
    not_me: Secret,
}

impl Relay {
    /// Prepares the configured channels.
    ///
    /// # Errors
    /// When one of them cannot work as configured.
    pub fn new(channels: Channels, panel_origin: &str) -> anyhow::Result<Self> {
        Ok(Self {
            panel_origin: panel_origin.to_owned(),
            email: channels.email.map(smtp::Mailer::new).transpose()?,
            webhook: channels.webhook.map(webhook::Caller::new).transpose()?,
        })
    }

    fn channels(&self) -> Vec<String> {
        let there = [
            ("email", self.email.is_some()),
            ("webhook", self.webhook.is_some()),
        ];
        there
            .into_iter()
            .filter(|(_, there)| *there)
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// One turn with the pool of role `relay`: every delivery is tried once, a customer's in order.
    ///
    /// # Errors
    /// When the database fails; what was claimed is tried again in a minute.
    pub async fn turn(&self, pool: &PgPool) -> Result<(), LoopError> {
        let channels = self.channels();
        if channels.is_empty() {
            return Ok(());
        }
        for delivery in claim(pool, &channels).await? {
            let failure = self.deliver(&delivery).await.err();
            let becomes = end(pool, &delivery, failure).await?;
            if becomes == "dead" {
                let code = failure.map_or("", |failure| failure.code);
                tracing::error!(
                    notice.number = delivery.number,
                    notice.channel = delivery.channel,
                    notice.failure = code,
                    "A notice could not be delivered and is given up"
                );
            }
        }
        Ok(())
    }

    async fn deliver(&self, delivery: &Delivery) -> Result<(), Failure> {
        let texts = countersign_texts::of(&delivery.language);
        let (heading, sentence) =
            words(texts, &delivery.kind, &delivery.about, &delivery.short_code);
        let letter = Letter {
            texts,
            heading,
            sentence,
            not_me: Secret::new(format!(
                "{}/not-me#stop-{}",
                self.panel_origin,
                delivery.word.expose()
            )),
        };
        match (delivery.channel.as_str(), &self.email, &self.webhook) {
            ("email", Some(mailer), _) => mailer.send(delivery, &letter).await,
            ("webhook", _, Some(caller)) => caller.send(delivery, &letter).await,
            _ => Err(Failure {
                code: "no_such_channel",
                for_good: false,
            }),
        }
    }
}
