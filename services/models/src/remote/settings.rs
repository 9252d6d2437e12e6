//! What a remote model is configured with. Keys are [`Secret`]s and print nothing.

use std::net::SocketAddr;

use countersign_domain::Secret;
use serde::Deserialize;

use crate::Usage;

/// A model behind an address and a key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosted {
    /// The address, without the last part of the path: `https://api.anthropic.com`, `http://127.0.0.1:11434/v1`.
    pub endpoint: String,
    /// The model's name, as the provider has it.
    pub model: String,
    /// The key. Left out for a local server that wants none.
    #[serde(default)]
    pub api_key: Option<Secret>,
    /// Where connections go instead of looking the host's name up: a relay that leads to that host alone.
    #[serde(default)]
    pub reach_at: Option<SocketAddr>,
    /// Limits of one reply.
    #[serde(default)]
    pub limits: Limits,
    /// What it costs.
    #[serde(default)]
    pub prices: Prices,
    /// For servers that know a reply's length only by its old name, `max_tokens`.
    #[serde(default)]
    pub old_length_name: bool,
}

/// A model of Amazon Bedrock.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bedrock {
    /// The region, such as `eu-central-1`.
    pub region: String,
    /// The model's id or inference profile.
    pub model: String,
    /// Who asks.
    pub credentials: BedrockCredentials,
    /// Another address than the region's own, such as a private one.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// As for a [`Hosted`] model.
    #[serde(default)]
    pub reach_at: Option<SocketAddr>,
    /// Limits of one reply.
    #[serde(default)]
    pub limits: Limits,
    /// What it costs.
    #[serde(default)]
    pub prices: Prices,
}

impl Bedrock {
    /// The address: the configured one or the region's.
    pub fn address(&self) -> String {
        self.endpoint
            .clone()
            .unwrap_or_else(|| format!("https://bedrock-runtime.{}.amazonaws.com", self.region))
    }
}

/// Who asks Bedrock.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BedrockCredentials {
    /// A Bedrock API key, sent as a bearer token.
    ApiKey {
        /// The key.
        api_key: Secret,
    },
    /// Access keys; requests are signed with them (Signature Version 4).
    AccessKey {
        /// The key's public name.
        access_key_id: String,
        /// The key.
        secret_access_key: Secret,
        /// The token of temporary keys.
        #[serde(default)]
        session_token: Option<Secret>,
    },
}

/// How much one reply may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Longest reply, in the provider's tokens.
    pub output_tokens_max: u32,
    /// Times a request is sent again when the model is overloaded or cannot be reached.
    pub retries_max: u32,
    /// Longest wait for the first byte of an answer.
    pub first_byte_seconds_max: u32,
    /// Longest silence within an answer.
    pub silence_seconds_max: u32,
    /// Longest answer, from the first try to the last byte, waits included.
    pub reply_seconds_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_tokens_max: 1024,
            retries_max: 3,
            first_byte_seconds_max: 30,
            silence_seconds_max: 20,
            reply_seconds_max: 50,
        }
    }
}

/// Prices in millionths of the currency's unit for a million tokens: 3 dollars are 3 000 000.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prices {
    /// A million tokens read.
    pub input_micros_per_million: u64,
    /// A million tokens written.
    pub output_micros_per_million: u64,
}

impl Prices {
    /// What a use costs, rounded up.
    pub fn cost_micros(self, usage: Usage) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let whole = part(usage.input_tokens, self.input_micros_per_million)
            + part(usage.output_tokens, self.output_micros_per_million);
        u64::try_from(whole.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_rounded_up_and_does_not_wrap() {
        let prices = Prices {
            input_micros_per_million: 3_000_000,
            output_micros_per_million: 15_000_000,
        };
        let cost = |input_tokens, output_tokens| {
            prices.cost_micros(Usage {
                input_tokens,
                output_tokens,
            })
        };
        assert_eq!(cost(1000, 100), 4500);
        assert_eq!(cost(1, 0), 3);
        assert_eq!(
            Prices {
                input_micros_per_million: 1,
                ..prices
            }
            .cost_micros(Usage {
                input_tokens: 1,
                output_tokens: 0
            }),
            1
        );
        assert_eq!(cost(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn a_key_is_not_printed() {
        let hosted: Hosted =
            serde_json::from_str(r#"{"endpoint":"https://a","model":"m","api_key":"sk-123"}"#)
                .unwrap();
        assert!(!format!("{hosted:?}").contains("sk-123"));
    }
}
