//! `redaction` and `injection`: what is looked for in results, arguments and definitions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is taken out of texts that pass the door.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactionFile {
    /// Whether results are redacted.
    #[serde(default = "super::yes")]
    pub results: bool,
    /// Whether arguments are redacted on their way to the server.
    #[serde(default)]
    pub arguments: bool,
    /// The built-in rules that apply; all but `email`, `national_id` and `ip_address` when not
    /// given.
    #[serde(default)]
    pub rules: Option<Vec<BuiltInRule>>,
    /// Built-in rules that apply besides.
    #[serde(default)]
    pub also: Vec<BuiltInRule>,
    /// Rules of your own.
    #[serde(default)]
    pub custom: Vec<CustomRuleFile>,
    /// Where a rule does not apply, why, and until when.
    #[serde(default)]
    pub suppress: Vec<SuppressionFile>,
}

/// A built-in redaction rule.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum BuiltInRule {
    /// Access keys of cloud providers.
    CloudKey,
    /// Tokens of code forges.
    ForgeToken,
    /// Tokens of chat services.
    ChatToken,
    /// Keys of payment providers.
    PaymentKey,
    /// Keys of model APIs.
    ModelKey,
    /// Keys of other services that mark theirs: mail, shops, monitoring.
    ServiceKey,
    /// Private keys in PEM form.
    PrivateKey,
    /// JSON Web Tokens.
    Jwt,
    /// Values that a name beside them calls a password, a secret or a key.
    NamedSecret,
    /// Card numbers, by issuer prefix, length and check digit.
    Card,
    /// IBANs, by country, length and check digits.
    Iban,
    /// Characters that nobody sees and a model reads.
    HiddenText,
    /// E-mail addresses.
    Email,
    /// National identity numbers.
    NationalId,
    /// IP addresses.
    IpAddress,
}

impl BuiltInRule {
    /// All of them, in the order of the reference.
    pub const ALL: [Self; 15] = [
        Self::CloudKey,
        Self::ForgeToken,
        Self::ChatToken,
        Self::PaymentKey,
        Self::ModelKey,
        Self::ServiceKey,
        Self::PrivateKey,
        Self::Jwt,
        Self::NamedSecret,
        Self::Card,
        Self::Iban,
        Self::HiddenText,
        Self::Email,
        Self::NationalId,
        Self::IpAddress,
    ];

    /// Its name in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CloudKey => "cloud_key",
            Self::ForgeToken => "forge_token",
            Self::ChatToken => "chat_token",
            Self::PaymentKey => "payment_key",
            Self::ModelKey => "model_key",
            Self::ServiceKey => "service_key",
            Self::PrivateKey => "private_key",
            Self::Jwt => "jwt",
            Self::NamedSecret => "named_secret",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::HiddenText => "hidden_text",
            Self::Email => "email",
            Self::NationalId => "national_id",
            Self::IpAddress => "ip_address",
        }
    }

    /// Whether it applies only where the file asks for it.
    #[must_use]
    pub const fn is_opt_in(self) -> bool {
        matches!(self, Self::Email | Self::NationalId | Self::IpAddress)
    }
}

/// A redaction rule of your own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomRuleFile {
    /// Its name, of `a-z`, `0-9` and `_`, 40 at most; what stands in place of what it found repeats
    /// it.
    pub id: String,
    /// What it looks for, anywhere in a text; matched in linear time.
    pub pattern: String,
}

/// Where a redaction rule does not apply.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuppressionFile {
    /// The server whose texts it is about.
    pub server: String,
    /// The rule, built-in or of your own.
    pub rule: String,
    /// Why; for whoever reads the policy next.
    pub reason: String,
    /// The first day on which the rule applies again, as `YYYY-MM-DD` (UTC).
    pub expires: String,
}

/// What happens to text that talks to the model like an order.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectionFile {
    /// In results.
    #[serde(default)]
    pub results: InjectionMode,
    /// In definitions of tools.
    #[serde(default)]
    pub definitions: InjectionMode,
}

/// What happens to a text that was found.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum InjectionMode {
    /// It passes with a label and an alarm.
    #[default]
    Flag,
    /// It does not pass.
    Block,
    /// Nothing looks.
    Off,
}
