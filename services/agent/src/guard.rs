//! Guardrails over what the customer types and what the model says. Ports: built-in rules, Amazon Bedrock Guardrails, and
//! a classifier on this machine.
//!
//! What must hold whatever the agent does runs at the chat origin; these run where the model is, so that a secret does not
//! reach it and a provider's own rules can be used. A guardrail that cannot be asked says no.

mod bedrock;
mod built_in;
mod classifier;
mod config;

use async_trait::async_trait;

pub use config::{GuardConfig, GuardConfigError, open};

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What the customer typed, on its way to the model.
    Message,
    /// What the model said, on its way to the customer.
    Reply,
}

impl Side {
    /// Its name on the wire and in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Reply => "reply",
        }
    }
}

/// What happens to a text that a rule found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The rule is not asked.
    Off,
    /// It passes, and is counted.
    Flag,
    /// The part that was found is replaced.
    Mask,
    /// Nothing of it passes.
    Block,
}

/// What a guardrail makes of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The text with parts replaced; none when it is unchanged.
    pub masked: Option<String>,
    /// Whether nothing of it may pass.
    pub blocked: bool,
    /// The rules that found something.
    pub rules: Vec<String>,
}

/// Why a guardrail gave no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// It cannot be reached, is overloaded, or took too long.
    #[error("ask a guardrail: it is not available")]
    Unavailable,
    /// It does not take the key or the request.
    #[error("ask a guardrail: it refused (status {0})")]
    Refused(u16),
    /// Its answer is none.
    #[error("ask a guardrail: its answer is malformed")]
    Malformed,
    /// It looked at nothing: no policy is set, or the configured labels are none of its own.
    #[error("ask a guardrail: it checks nothing that was asked of it")]
    ChecksNothing,
}

impl GuardError {
    /// The rule's name under which it is counted.
    const fn rule(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Refused(_) => "refused",
            Self::Malformed => "malformed",
            Self::ChecksNothing => "checks_nothing",
        }
    }
}

/// One guardrail.
#[async_trait]
pub trait Guardrail: Send + Sync {
    /// A short name for logs and counts.
    fn name(&self) -> &'static str;

    /// Whether it looks at texts of this side at all.
    fn looks_at(&self, side: Side) -> bool;

    /// Whether it needs a reply whole. Others are asked sentence by sentence.
    fn wants_whole_replies(&self) -> bool;

    /// What it makes of a text.
    ///
    /// # Errors
    /// [`GuardError`]; the text does not pass then.
    async fn check(&self, side: Side, text: &str) -> Result<Verdict, GuardError>;
}

/// A rule of a guardrail that found something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The guardrail.
    pub guardrail: &'static str,
    /// Its rule.
    pub rule: String,
    /// Where.
    pub side: Side,
}

/// What comes of a text behind all guardrails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What passes; none when nothing does.
    pub text: Option<String>,
    /// What was found.
    pub hits: Vec<Hit>,
}

/// All guardrails, in the order in which they are asked.
pub struct Guards(Vec<Box<dyn Guardrail>>);

impl std::fmt::Debug for Guards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|guard| guard.name()))
            .finish()
    }
}

impl Guards {
    /// The guardrails of a list.
    pub fn new(guards: Vec<Box<dyn Guardrail>>) -> Self {
        Self(guards)
    }

    /// Whether replies must be whole before they are looked at.
    pub fn want_whole_replies(&self) -> bool {
        self.0
            .iter()
            .any(|guard| guard.looks_at(Side::Reply) && guard.wants_whole_replies())
    }

    /// An earlier message of the customer, as the model may see it: what stood in it was judged when it was new, so only
    /// the guardrails of this program are asked again.
    pub async fn earlier(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for guard in self
            .0
            .iter()
            .filter(|guard| guard.looks_at(Side::Message) && !guard.wants_whole_replies())
        {
            match guard.check(Side::Message, &text).await {
                Ok(Verdict {
                    blocked: false,
                    masked,
                    ..
                }) => text = masked.unwrap_or(text),
                _ => return "[left out by a guardrail]".to_owned(),
            }
        }
        text
    }

    /// Passes a text through them, each seeing what the one before left.
    pub async fn check(&self, side: Side, text: &str) -> Outcome {
        let mut text = text.to_owned();
        let mut hits = Vec::new();
        for guard in self.0.iter().filter(|guard| guard.looks_at(side)) {
            let verdict = match guard.check(side, &text).await {
                Ok(verdict) => verdict,
                Err(error) => {
                    tracing::error!(guardrail = guard.name(), %error, "A guardrail gave no verdict, so the text does not pass");
                    Verdict {
                        blocked: true,
                        rules: vec![error.rule().to_owned()],
                        masked: None,
                    }
                }
            };
            let hit = |rule| Hit {
                guardrail: guard.name(),
                rule,
                side,
            };
            hits.extend(verdict.rules.into_iter().map(hit));
            if verdict.blocked {
                return Outcome { text: None, hits };
            }
            text = verdict.masked.unwrap_or(text);
        }
        Outcome {
            text: Some(text),
            hits,
        }
    }
}
