//! Notices by a signed POST: for a service of the bank that sends pushes or texts.
//!
//! `Countersign-Signature: t=<unix seconds>,v1=<HMAC-SHA256 of "t.body", hexadecimal>`. The receiver checks both before it reads, and
//! drops what is older than five minutes or what it has seen: `customer` and `number` name a notice for ever.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use countersign_domain::Secret;
use countersign_execution::loops::relay::{Delivery, Failure};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, StatusCode, Url, header::CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use time::format_description::well_known::Rfc3339;

use super::Letter;
use crate::outward::is_protected;

/// How long the receiver may take.
const TIME_OUT: Duration = Duration::from_secs(10);
/// Shortest key, in bytes.
const KEY_LENGTH_MIN: usize = 32;

/// Where notices are posted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// The receiver's address; `https`, or `http` on this very machine.
    pub url: String,
    /// The key both sides know, 32 bytes at least.
    pub key: Secret,
}

/// Posts notices.
pub struct Caller {
    http: Client,
    url: Url,
    key: Secret,
}

#[derive(Serialize)]
struct Body<'a> {
    customer: String,
    number: i64,
    kind: &'a str,
    heading: &'a str,
    text: &'a str,
    at: String,
    not_me: &'a str,
}

impl Caller {
    /// Prepares the way to the receiver.
    ///
    /// # Errors
    /// When notices would go unprotected over a network, or the key is short.
    pub fn new(config: WebhookConfig) -> anyhow::Result<Self> {
        let url: Url = config
            .url
            .parse()
            .context("the address of the notices' webhook")?;
        anyhow::ensure!(
            is_protected(&url),
            "notices without TLS go to this machine only"
        );
        anyhow::ensure!(
            config.key.expose().len() >= KEY_LENGTH_MIN,
            "the key of the notices' webhook is shorter than 32 bytes"
        );
        let http = Client::builder()
            .timeout(TIME_OUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("a client for notices")?;
        Ok(Self {
            http,
            url,
            key: config.key,
        })
    }

    /// Posts one notice.
    ///
    /// # Errors
    /// [`Failure`]: an answer that is not a success; 410 is for good.
    pub async fn send(&self, delivery: &Delivery, letter: &Letter) -> Result<(), Failure> {
        let again = |code| Failure {
            code,
            for_good: false,
        };
        let body = serde_json::to_string(&Body {
            customer: delivery.customer.to_string(),
            number: delivery.number,
            kind: &delivery.kind,
            heading: &letter.heading,
            text: &letter.sentence,
            at: delivery.made_at.format(&Rfc3339).unwrap_or_default(),
            not_me: letter.not_me.expose(),
        })
        .map_err(|_| again("not_json"))?;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let answer = self
            .http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("countersign-signature", signature(&self.key, now, &body))
            .body(body)
            .send()
            .await
            .map_err(|error| {
                again(if error.is_timeout() {
                    "receiver_time_out"
                } else {
                    "receiver_unreachable"
                })
            })?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(Failure {
                code: "receiver_gone",
                for_good: true,
            }),
            _ => Err(again("receiver_refused")),
        }
    }
}

fn signature(key: &Secret, seconds: u64, body: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.expose().as_bytes()) else {
        // Every length is a key for HMAC.
        return String::new();
    };
    mac.update(format!("{seconds}.{body}").as_bytes());
    format!(
        "t={seconds},v1={}",
        hex::encode(mac.finalize().into_bytes())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_over_time_and_body() {
        let key = Secret::new("k".repeat(32));
        let one = signature(&key, 1, "{}");
        assert!(one.starts_with("t=1,v1=") && one.len() == "t=1,v1=".len() + 64);
        assert_ne!(one, signature(&key, 1, "{ }"));
        assert_ne!(one[3..], signature(&key, 2, "{}")[3..]);
        assert_ne!(one, signature(&Secret::new("l".repeat(32)), 1, "{}"));
    }

    #[test]
    fn nothing_goes_unprotected_over_a_network_or_under_a_short_key() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let caller = |url: &str, key: usize| {
            Caller::new(WebhookConfig {
                url: url.to_owned(),
                key: Secret::new("k".repeat(key)),
            })
        };
        assert!(caller("http://push.example/notices", 32).is_err());
        assert!(caller("https://push.example/notices", 31).is_err());
        assert!(caller("https://push.example/notices", 32).is_ok());
        assert!(caller("http://127.0.0.1:9/notices", 32).is_ok());
    }
}
