//! The config of the chat origin, secrets included.

use countersign_domain::Secret;
use countersign_keys::SigningKeySource;
use countersign_serve::{Listen, NumbersAt};
use serde::{Deserialize, Deserializer};

use crate::budget::ModelBudget;

/// One JSON object, as every service's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The listening sockets.
    pub listen: Listen,
    /// The origin this page is served from.
    pub chat_origin: Origin,
    /// The one origin that may frame it and hand it codes.
    pub panel_origin: Origin,
    /// The database, as the role `intake`.
    pub database_url: Secret,
    /// Where a turn is sent.
    pub agent_url: String,
    /// Signs session tokens: the key itself, or the folder of keys that change.
    pub session_key: SigningKeySource,
    /// Most messages of one customer in a minute, counted in this process.
    #[serde(default = "messages_per_minute_max")]
    pub messages_per_minute_max: usize,
    /// How much of the model a conversation and a customer may use.
    #[serde(default)]
    pub model_budget: ModelBudget,
    /// Hosts and telephone numbers that the bank itself gives out. Every other one in a reply is marked.
    #[serde(default)]
    pub own_contacts: Vec<String>,
    /// Where this process tells its numbers, on loopback; nowhere without it.
    #[serde(default)]
    pub metrics: NumbersAt,
}

fn messages_per_minute_max() -> usize {
    crate::rate::MESSAGES_PER_MINUTE_MAX
}

/// A web origin: scheme, host, port, and nothing that could end a header's value or an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The origin as a browser sends it.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
        (matches!(scheme, "http" | "https")
            && !authority.is_empty()
            && authority.chars().all(plain))
        .then(|| Self(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an origin"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_origin_is_taken() {
        for good in [
            "http://127.0.0.1:8481",
            "https://chat.bank.example",
            "http://[::1]:80",
        ] {
            assert!(Origin::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "http://",
            "ftp://a",
            "http://a/",
            "http://A",
            "http://a b",
            "http://a;script-src *",
            "http://a\"",
            "http://*",
            "'self'",
            "http://a,http://b",
        ] {
            assert!(Origin::parse(bad).is_none(), "{bad}");
        }
    }
}
