//! Guardrails as the configuration names them. One that would silently do nothing is refused at the start.

use std::{collections::BTreeMap, net::SocketAddr};

use countersign_models::remote::{BedrockCredentials, EndpointError};
use serde::Deserialize;

use super::{
    Action, Guardrail, Guards,
    bedrock::Bedrock,
    built_in::{BuiltIn, MessageRules, ReplyRules},
    classifier::Classifier,
};

/// Longest time for one verdict.
const SECONDS_MAX: u32 = 20;

/// One guardrail. What happens to messages and to replies is said of each.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GuardConfig {
    /// The rules that come with the program.
    BuiltIn {
        /// What happens to what the customer types.
        message: MessageRules,
        /// What happens to what the model says.
        reply: ReplyRules,
    },
    /// A guardrail of Amazon Bedrock.
    Bedrock(BedrockGuard),
    /// A classifier on this machine.
    Classifier(ClassifierGuard),
}

/// A guardrail of Amazon Bedrock.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BedrockGuard {
    /// Its id.
    pub guardrail: String,
    /// Its version, or `DRAFT`.
    pub version: String,
    /// The region.
    pub region: String,
    /// Who asks.
    pub credentials: BedrockCredentials,
    /// What happens to messages.
    pub message: Action,
    /// What happens to replies.
    pub reply: Action,
    /// Another address than the region's own.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// Where connections go instead of looking the name up.
    #[serde(default)]
    pub reach_at: Option<SocketAddr>,
    /// Longest wait for a verdict.
    #[serde(default = "seconds_max")]
    pub seconds_max: u32,
}

/// A classifier on this machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassifierGuard {
    /// Its address, which must be of this machine.
    pub endpoint: String,
    /// From which score on each of its labels counts, in thousandths.
    pub labels: BTreeMap<String, u32>,
    /// What happens to messages.
    pub message: Action,
    /// What happens to replies.
    pub reply: Action,
    /// Longest wait for a verdict.
    #[serde(default = "seconds_max")]
    pub seconds_max: u32,
}

const fn seconds_max() -> u32 {
    5
}

/// Why guardrails are not as they should be. Each says what to change.
#[derive(Debug, thiserror::Error)]
pub enum GuardConfigError {
    /// The list is empty.
    #[error(
        "configure the guardrails: `guardrails` is an empty list, which guards nothing; leave it out for the usual rules"
    )]
    None,
    /// Every action of one is `off`.
    #[error(
        "configure the guardrails: {0} is off for messages and for replies, so it does nothing; take it out or give it an action"
    )]
    DoesNothing(&'static str),
    /// Nothing of the kind can be masked.
    #[error(
        "configure the guardrails: {0} finds no part of a text that could be masked; use \"flag\" or \"block\""
    )]
    CannotMask(&'static str),
    /// A classifier without labels, or a threshold that is never or always reached.
    #[error("configure the guardrails: label {0:?} of the classifier needs a score from 1 to 1000")]
    Label(String),
    /// A classifier whose labels are missing.
    #[error(
        "configure the guardrails: the classifier has no `labels`, so nothing of what it says would count"
    )]
    NoLabels,
    /// A classifier elsewhere.
    #[error(
        "configure the guardrails: the classifier's address is not of this machine (127.0.0.1, [::1], localhost)"
    )]
    NotLocal,
    /// A part is empty or holds what none does.
    #[error("configure the guardrails: `{0}` is empty or has characters that no {0} has")]
    Text(&'static str),
    /// The wait is none, or longer than a turn should take.
    #[error("configure the guardrails: `seconds_max` has to be between 1 and 20")]
    Seconds,
    /// The address is no good.
    #[error("configure the guardrails")]
    Endpoint(#[from] EndpointError),
    /// The rules do not compile.
    #[error("configure the guardrails")]
    Rules(#[from] countersign_screening::redact::RuleError),
    /// The HTTP client cannot be made.
    #[error("prepare the connection to a guardrail")]
    Client(#[from] reqwest::Error),
}

/// Makes the guardrails; without a list the usual ones.
///
/// # Errors
/// [`GuardConfigError`].
pub fn open(configs: Option<Vec<GuardConfig>>) -> Result<Guards, GuardConfigError> {
    let Some(configs) = configs else {
        return Ok(Guards::new(vec![Box::new(BuiltIn::usual()?)]));
    };
    if configs.is_empty() {
        return Err(GuardConfigError::None);
    }
    let guards: Result<Vec<Box<dyn Guardrail>>, GuardConfigError> =
        configs.into_iter().map(one).collect();
    Ok(Guards::new(guards?))
}

fn one(config: GuardConfig) -> Result<Box<dyn Guardrail>, GuardConfigError> {
    match config {
        GuardConfig::BuiltIn { message, reply } => {
            let rules = message.named().into_iter().chain(reply.named());
            if rules.clone().all(|(_, action)| action == Action::Off) {
                return Err(GuardConfigError::DoesNothing("built_in"));
            }
            let whole = |(rule, action): &(&'static str, Action)| {
                *action == Action::Mask && matches!(*rule, "off_topic" | "asks_for_credentials")
            };
            if let Some((rule, _)) = rules.clone().find(whole) {
                return Err(GuardConfigError::CannotMask(rule));
            }
            Ok(Box::new(BuiltIn::new(message, reply)?))
        }
        GuardConfig::Bedrock(guard) => {
            does_something("bedrock", guard.message, guard.reply, guard.seconds_max)?;
            for (text, name) in [
                (&guard.guardrail, "guardrail"),
                (&guard.version, "version"),
                (&guard.region, "region"),
            ] {
                if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                {
                    return Err(GuardConfigError::Text(name));
                }
            }
            Ok(Box::new(Bedrock::open(guard)?))
        }
        GuardConfig::Classifier(guard) => {
            does_something("classifier", guard.message, guard.reply, guard.seconds_max)?;
            if guard.message == Action::Mask || guard.reply == Action::Mask {
                return Err(GuardConfigError::CannotMask("a classifier"));
            }
            if guard.labels.is_empty() {
                return Err(GuardConfigError::NoLabels);
            }
            if let Some((label, _)) = guard
                .labels
                .iter()
                .find(|(_, score)| !(1..=1000).contains(*score))
            {
                return Err(GuardConfigError::Label(label.clone()));
            }
            Ok(Box::new(Classifier::open(guard)?))
        }
    }
}

fn does_something(
    name: &'static str,
    message: Action,
    reply: Action,
    seconds: u32,
) -> Result<(), GuardConfigError> {
    if message == Action::Off && reply == Action::Off {
        return Err(GuardConfigError::DoesNothing(name));
    }
    if !(1..=SECONDS_MAX).contains(&seconds) {
        return Err(GuardConfigError::Seconds);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn outcome(guardrails: Value) -> String {
        let _ = rustls::crypto::ring::default_provider().install_default();
        match serde_json::from_value::<Vec<GuardConfig>>(guardrails) {
            Err(_) => "unread".to_owned(),
            Ok(configs) => match open(Some(configs)) {
                Ok(_) => "starts".to_owned(),
                Err(error) => format!("{error:?}")
                    .split(['(', ' '])
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            },
        }
    }

    #[test]
    fn a_guardrail_that_would_do_nothing_does_not_start() {
        let built_in = |action: &str, last: &str| {
            let message = json!({"cards": action, "ibans": action, "account_numbers": action, "credentials": action, "off_topic": last});
            let reply = json!({"cards": action, "ibans": action, "account_numbers": action, "credentials": action, "asks_for_credentials": last});
            json!([{"kind": "built_in", "message": message, "reply": reply}])
        };
        let bedrock = |message: &str, reply: &str, guardrail: &str| {
            json!([{"kind": "bedrock", "guardrail": guardrail, "version": "1", "region": "eu-central-1", "message": message,
                "reply": reply, "credentials": {"kind": "api_key", "api_key": "k"}}])
        };
        let classifier = |endpoint: &str, labels: Value, message: &str| json!([{"kind": "classifier", "endpoint": endpoint, "labels": labels, "message": message, "reply": "off"}]);
        let here = "http://127.0.0.1:9000/classify";
        for (guardrails, wanted) in [
            (json!([]), "None"),
            (built_in("mask", "block"), "starts"),
            (built_in("off", "off"), "DoesNothing"),
            (built_in("mask", "mask"), "CannotMask"),
            (json!([{"kind": "built_in"}]), "unread"),
            (
                json!([{"kind": "built_in", "message": {"cards": "mask"}, "reply": {}}]),
                "unread",
            ),
            (json!([{"kind": "guard_everything"}]), "unread"),
            (bedrock("block", "mask", "abc123"), "starts"),
            (bedrock("off", "off", "abc123"), "DoesNothing"),
            (bedrock("block", "mask", ""), "Text"),
            (bedrock("block", "mask", "../x"), "Text"),
            (bedrock("block", "sometimes", "abc123"), "unread"),
            (
                classifier(here, json!({"injection": 800}), "block"),
                "starts",
            ),
            (
                classifier(here, json!({"injection": 800}), "off"),
                "DoesNothing",
            ),
            (
                classifier(here, json!({"injection": 800}), "mask"),
                "CannotMask",
            ),
            (classifier(here, json!({}), "block"), "NoLabels"),
            (classifier(here, json!({"injection": 0}), "block"), "Label"),
            (
                classifier(here, json!({"injection": 1001}), "block"),
                "Label",
            ),
            (
                classifier(
                    "https://models.example/classify",
                    json!({"injection": 800}),
                    "block",
                ),
                "NotLocal",
            ),
        ] {
            assert_eq!(outcome(guardrails.clone()), wanted, "{guardrails}");
        }
    }
}
