//! Which rules a redactor applies.

use regex::{Regex, RegexBuilder};

/// Most rules of one's own.
pub const CUSTOM_RULES_MAX: usize = 64;
/// Longest name of a rule, in bytes.
pub const RULE_NAME_LENGTH_MAX: usize = 40;
/// Most memory of one compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

macro_rules! built_in {
    ($($variant:ident $name:literal $summary:literal,)*) => {
        /// A rule that comes with the program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BuiltIn {
            $(#[doc = $summary] $variant,)*
        }

        impl BuiltIn {
            /// All of them, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name, as policies and placeholders have it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it takes out, in one line.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)* }
            }
        }
    };
}

built_in! {
    CloudKey "cloud_key" "Keys of cloud providers: AWS, Google, Azure and others.",
    ForgeToken "forge_token" "Tokens of code forges and package registries: GitHub, GitLab, npm and others.",
    ChatToken "chat_token" "Tokens and webhooks of chat services: Slack, Discord, Telegram and others.",
    PaymentKey "payment_key" "Keys of payment providers: Stripe, Square and others.",
    ModelKey "model_key" "Keys of model APIs: OpenAI, Anthropic and others.",
    ServiceKey "service_key" "Keys of other services that mark theirs: mail, shops, monitoring and others.",
    PrivateKey "private_key" "Private keys, the whole block.",
    Jwt "jwt" "JSON Web Tokens whose header says so.",
    NamedSecret "named_secret" "Values that a name beside them calls a password, secret or key; bearer tokens; passwords in addresses.",
    Card "card" "Card numbers by issuer prefix, length and check digit; the last four stay.",
    Iban "iban" "IBANs by country, length and check digits; the last four stay.",
    HiddenText "hidden_text" "Characters that nobody sees and a model reads: tags, long zero-width runs.",
    Email "email" "E-mail addresses.",
    NationalId "national_id" "National identity and tax numbers with a check digit, and US, UK numbers by form.",
    IpAddress "ip_address" "IP addresses of both versions.",
}

impl BuiltIn {
    /// Whether it applies only where somebody asks for it.
    #[must_use]
    pub const fn is_opt_in(self) -> bool {
        matches!(self, Self::Email | Self::NationalId | Self::IpAddress)
    }

    /// The rule of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }

    pub(crate) const fn index(self) -> u8 {
        self as u8
    }
}

/// A set of rules, as numbers of one redactor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(u128);

impl RuleSet {
    pub(crate) const fn with(self, rule: u8) -> Self {
        Self(self.0 | 1 << rule)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn has(self, rule: u8) -> bool {
        self.0 & (1 << rule) != 0
    }

    pub(crate) const fn holds(self, rule: BuiltIn) -> bool {
        self.has(rule.index())
    }
}

/// Why a rule was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The name is empty, too long, taken, or holds other characters than letters, digits, `_` and `-`.
    #[error(
        "name a rule {0:?}: a name is new, made of letters, digits, _ and -, and at most {RULE_NAME_LENGTH_MAX} characters long"
    )]
    Name(String),
    /// The pattern cannot be compiled, or needs too much memory.
    #[error("compile the pattern of rule {0}: {1}")]
    Pattern(String, String),
    /// The pattern finds a text of no length, which is everywhere.
    #[error("compile the pattern of rule {0}: it matches an empty text")]
    Empty(String),
    /// More than [`CUSTOM_RULES_MAX`] rules.
    #[error("add rule {0}: at most {CUSTOM_RULES_MAX} rules of one's own are possible")]
    TooMany(String),
}

/// What a redactor looks for.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) on: RuleSet,
    pub(crate) custom: Vec<CustomRule>,
}

/// A rule of the policy's own: its name, and a pattern matched in linear time.
#[derive(Clone, Debug)]
pub(crate) struct CustomRule {
    pub name: String,
    pub pattern: Regex,
}

impl Rules {
    /// No rules yet.
    #[must_use]
    pub fn none() -> Self {
        Self {
            on: RuleSet::default(),
            custom: Vec::new(),
        }
    }

    /// Every built-in rule that is not opt-in.
    #[must_use]
    pub fn standard() -> Self {
        let standard = BuiltIn::ALL.iter().filter(|rule| !rule.is_opt_in());
        standard.fold(Self::none(), |rules, rule| rules.with(*rule))
    }

    /// Every built-in rule.
    #[must_use]
    pub fn all() -> Self {
        let all = BuiltIn::ALL.iter();
        all.fold(Self::none(), |rules, rule| rules.with(*rule))
    }

    /// These and one more.
    #[must_use]
    pub fn with(mut self, rule: BuiltIn) -> Self {
        self.on = self.on.with(rule.index());
        self
    }

    /// These and one of one's own: a name, and a pattern of the `regex` crate.
    ///
    /// The pattern sees decoded text, one string at a time.
    ///
    /// # Errors
    /// [`RuleError`] when the name or the pattern is no good.
    pub fn with_custom(mut self, name: &str, pattern: &str) -> Result<Self, RuleError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let taken =
            BuiltIn::from_name(name).is_some() || self.custom.iter().any(|rule| rule.name == name);
        if taken || name.is_empty() || name.len() > RULE_NAME_LENGTH_MAX || !name.bytes().all(plain)
        {
            return Err(RuleError::Name(name.to_owned()));
        }
        if self.custom.len() >= CUSTOM_RULES_MAX {
            return Err(RuleError::TooMany(name.to_owned()));
        }
        let pattern = RegexBuilder::new(pattern)
            .size_limit(PATTERN_BYTES_MAX)
            .build()
            .map_err(|error| RuleError::Pattern(name.to_owned(), error.to_string()))?;
        if pattern.is_match("") {
            return Err(RuleError::Empty(name.to_owned()));
        }
        self.on = self.on.with(custom_index(self.custom.len()));
        self.custom.push(CustomRule {
            name: name.to_owned(),
            pattern,
        });
        Ok(self)
    }
}

/// The number of the n-th rule of one's own.
pub(crate) const fn custom_index(position: usize) -> u8 {
    (BuiltIn::ALL.len() + position) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_all_rules_fit_a_set() {
        assert!(BuiltIn::ALL.len() + CUSTOM_RULES_MAX <= 128);
        for (position, rule) in BuiltIn::ALL.iter().enumerate() {
            assert_eq!(usize::from(rule.index()), position);
            assert_eq!(BuiltIn::from_name(rule.name()), Some(*rule));
        }
    }

    #[test]
    fn a_bad_rule_is_refused_with_the_reason() {
        let with = |name, pattern| Rules::standard().with_custom(name, pattern).err();
        assert_eq!(with("ticket", "TCK-[0-9]{6}"), None);
        let long = "x".repeat(41);
        for name in ["", "card", "a b", "é", &long] {
            assert!(
                matches!(with(name, "x"), Some(RuleError::Name(_))),
                "{name}"
            );
        }
        assert!(matches!(with("x", "["), Some(RuleError::Pattern(..))));
        assert!(matches!(with("x", "[0-9]*"), Some(RuleError::Empty(_))));
        assert!(matches!(
            with("x", "(a{1000}){1000}"),
            Some(RuleError::Pattern(..))
        ));
    }
}
