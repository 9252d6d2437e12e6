//! Which model to use, as the agent's configuration names it.

use serde::Deserialize;

use crate::{
    Model, OfflineModel,
    remote::{
        AwsKeys, Bedrock, BedrockCredentials, Endpoint, EndpointError, Hosted, Limits, Protocol,
        Remote, anthropic::Anthropic, bedrock::Converse, client, openai_chat::OpenaiChat,
        openai_responses::OpenaiResponses,
    },
};

/// The model of a deployment. Tagged by `kind`; a kind this build does not know is refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ModelConfig {
    /// The built-in deterministic model: no key, no network.
    Offline {},
    /// Anthropic's Messages API.
    Anthropic(Hosted),
    /// OpenAI's chat completions, and the local servers that speak it.
    OpenaiChat(Hosted),
    /// OpenAI's responses.
    OpenaiResponses(Hosted),
    /// Amazon Bedrock.
    Bedrock(Bedrock),
}

/// Why a configured model cannot be asked. Each says what to change.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The address is no good.
    #[error("configure the model")]
    Endpoint(#[from] EndpointError),
    /// The model has no name.
    #[error("configure the model: `model` is empty; write the model's name as its provider has it")]
    NoModel,
    /// A hosted model without a key.
    #[error(
        "configure the model: `api_key` is missing; only a server on this machine may go without"
    )]
    NoKey,
    /// A key that cannot be sent.
    #[error(
        "configure the model: the key has spaces, line ends or other characters that no key has"
    )]
    BadKey,
    /// A region that is none.
    #[error("configure the model: `region` {0:?} is none; write one such as \"eu-central-1\"")]
    BadRegion(String),
    /// A limit that leaves no reply.
    #[error("configure the model: `limits.{0}` is 0, which leaves no time or room for a reply")]
    NoRoom(&'static str),
    /// The HTTP client cannot be made.
    #[error("prepare the connection to the model")]
    Client(#[from] reqwest::Error),
}

impl ModelConfig {
    /// Makes the model. Nothing is asked yet.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn open(self) -> Result<Box<dyn Model>, ConfigError> {
        match self {
            Self::Offline {} => Ok(Box::new(OfflineModel)),
            Self::Anthropic(settings) => {
                let url = |endpoint: &Endpoint| endpoint.below(&["v1", "messages"]);
                hosted(settings, url, |url, settings| Anthropic { url, settings })
            }
            Self::OpenaiChat(settings) => {
                let url = |endpoint: &Endpoint| endpoint.below(&["chat", "completions"]);
                hosted(settings, url, |url, settings| OpenaiChat { url, settings })
            }
            Self::OpenaiResponses(settings) => {
                let url = |endpoint: &Endpoint| endpoint.below(&["responses"]);
                hosted(settings, url, |url, settings| OpenaiResponses {
                    url,
                    settings,
                })
            }
            Self::Bedrock(settings) => bedrock(settings),
        }
    }

    /// Where the model is asked: host and port, and whether it is this machine. None for a model without a network.
    ///
    /// # Errors
    /// [`ConfigError`] when the address is no good.
    pub fn endpoint(&self) -> Result<Option<Endpoint>, ConfigError> {
        let text = match self {
            Self::Offline {} => return Ok(None),
            Self::Anthropic(settings)
            | Self::OpenaiChat(settings)
            | Self::OpenaiResponses(settings) => settings.endpoint.clone(),
            Self::Bedrock(settings) => settings.address(),
        };
        Ok(Some(Endpoint::parse(&text)?))
    }
}

fn hosted<P: Protocol>(
    settings: Hosted,
    url: impl Fn(&Endpoint) -> reqwest::Url,
    protocol: impl Fn(reqwest::Url, Hosted) -> P,
) -> Result<Box<dyn Model>, ConfigError> {
    let endpoint = Endpoint::parse(&settings.endpoint)?;
    check(&settings.model, settings.limits)?;
    match &settings.api_key {
        None if !endpoint.is_local() => return Err(ConfigError::NoKey),
        Some(key) if !is_plain(key.expose()) => return Err(ConfigError::BadKey),
        _ => {}
    }
    Ok(Box::new(Remote {
        http: client(&endpoint, settings.reach_at)?,
        limits: settings.limits,
        prices: settings.prices,
        protocol: protocol(url(&endpoint), settings),
    }))
}

fn bedrock(settings: Bedrock) -> Result<Box<dyn Model>, ConfigError> {
    let is_region = |text: &str| {
        (4..=32).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    if !is_region(&settings.region) {
        return Err(ConfigError::BadRegion(settings.region));
    }
    let endpoint = Endpoint::parse(&settings.address())?;
    check(&settings.model, settings.limits)?;
    let fits = match &settings.credentials {
        BedrockCredentials::ApiKey { api_key } => is_plain(api_key.expose()),
        BedrockCredentials::AccessKey {
            access_key_id,
            secret_access_key,
            session_token,
        } => AwsKeys {
            access_key_id: access_key_id.clone(),
            secret_access_key: secret_access_key.clone(),
            session_token: session_token.clone(),
        }
        .are_plain(),
    };
    if !fits {
        return Err(ConfigError::BadKey);
    }
    Ok(Box::new(Remote {
        http: client(&endpoint, settings.reach_at)?,
        limits: settings.limits,
        prices: settings.prices,
        protocol: Converse {
            url: endpoint.below(&["model", &settings.model, "converse-stream"]),
            settings,
        },
    }))
}

fn check(model: &str, limits: Limits) -> Result<(), ConfigError> {
    if model.trim().is_empty() {
        return Err(ConfigError::NoModel);
    }
    for (limit, name) in [
        (limits.output_tokens_max, "output_tokens_max"),
        (limits.first_byte_seconds_max, "first_byte_seconds_max"),
        (limits.silence_seconds_max, "silence_seconds_max"),
        (limits.reply_seconds_max, "reply_seconds_max"),
    ] {
        if limit == 0 {
            return Err(ConfigError::NoRoom(name));
        }
    }
    Ok(())
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> String {
        let _ = rustls::crypto::ring::default_provider().install_default();
        match serde_json::from_str::<ModelConfig>(text) {
            Err(error) => format!("unread: {error}"),
            Ok(config) => match config.open() {
                Ok(model) => model.name().to_owned(),
                Err(error) => format!("{:?}", error)
                    .split([' ', '('])
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            },
        }
    }

    #[test]
    fn an_unknown_kind_or_field_is_refused() {
        assert_eq!(open(r#"{"kind":"offline"}"#), "offline");
        for text in [
            r#"{"kind":"scripted"}"#,
            r#"{"kind":"offline","key":"x"}"#,
            r#"{"kind":"anthropic","endpoint":"https://a.example","model":"m","api_key":"k","keys":"x"}"#,
            r#"{"kind":"anthropic","endpoint":"https://a.example","api_key":"k"}"#,
            r#"{"kind":"openai_chat","endpoint":"https://a.example","model":"m","limits":{"seconds":1}}"#,
            r#"{"kind":"bedrock","region":"eu-central-1","model":"m"}"#,
            "{}",
        ] {
            assert!(open(text).starts_with("unread"), "{text}: {}", open(text));
        }
    }

    #[test]
    fn a_model_that_could_not_be_asked_is_refused_with_the_reason() {
        for (text, wanted) in [
            (
                r#"{"kind":"anthropic","endpoint":"https://a.example","model":"m","api_key":"k"}"#,
                "anthropic",
            ),
            (
                r#"{"kind":"openai_chat","endpoint":"http://127.0.0.1:1/v1","model":"m"}"#,
                "openai_chat",
            ),
            (
                r#"{"kind":"openai_responses","endpoint":"https://a.example/v1","model":"m","api_key":"k"}"#,
                "openai_responses",
            ),
            (
                r#"{"kind":"bedrock","region":"eu-central-1","model":"m","credentials":{"kind":"api_key","api_key":"k"}}"#,
                "bedrock",
            ),
            (
                r#"{"kind":"anthropic","endpoint":"https://a.example","model":"m"}"#,
                "NoKey",
            ),
            (
                r#"{"kind":"anthropic","endpoint":"https://a.example","model":"m","api_key":""}"#,
                "BadKey",
            ),
            (
                r#"{"kind":"anthropic","endpoint":"https://a.example","model":"m","api_key":"a b"}"#,
                "BadKey",
            ),
            (
                r#"{"kind":"anthropic","endpoint":"http://a.example","model":"m","api_key":"k"}"#,
                "Endpoint",
            ),
            (
                r#"{"kind":"anthropic","endpoint":"https://a.example","model":" ","api_key":"k"}"#,
                "NoModel",
            ),
            (
                r#"{"kind":"anthropic","endpoint":"https://a.example","model":"m","api_key":"k","limits":{"output_tokens_max":0}}"#,
                "NoRoom",
            ),
            (
                r#"{"kind":"bedrock","region":"a.evil.example/","model":"m","credentials":{"kind":"api_key","api_key":"k"}}"#,
                "BadRegion",
            ),
            (
                r#"{"kind":"bedrock","region":"eu-central-1","model":"m","credentials":{"kind":"access_key","access_key_id":"a","secret_access_key":""}}"#,
                "BadKey",
            ),
        ] {
            assert_eq!(open(text), wanted, "{text}");
        }
    }
}
