//! The rules that come with the program.

use async_trait::async_trait;
use countersign_screening::{
    Redactor,
    guard::{credentials::asks_for_credentials, reply_rules, topic::is_off_topic},
    redact::RuleError,
};
use serde::Deserialize;

use super::{Action, GuardError, Guardrail, Side, Verdict};

/// What happens to what a customer types. Every rule is named: none is off by being forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageRules {
    /// Card numbers, by issuer, length and check digit. "Card ending 4821" is none.
    pub cards: Action,
    /// IBANs.
    pub ibans: Action,
    /// Account numbers that are called so.
    pub account_numbers: Action,
    /// Passwords, keys and tokens.
    pub credentials: Action,
    /// Requests that have nothing to do with money. A complaint always has.
    pub off_topic: Action,
}

/// What happens to what a model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyRules {
    /// As for messages.
    pub cards: Action,
    /// As for messages.
    pub ibans: Action,
    /// As for messages.
    pub account_numbers: Action,
    /// As for messages.
    pub credentials: Action,
    /// Sentences that ask the customer for a password, a PIN or a code.
    pub asks_for_credentials: Action,
}

/// The built-in guardrail.
#[derive(Debug)]
pub struct BuiltIn {
    redactor: Redactor,
    message: MessageRules,
    reply: ReplyRules,
}

impl MessageRules {
    /// Every rule with its action.
    pub const fn named(self) -> [(&'static str, Action); 5] {
        [
            ("cards", self.cards),
            ("ibans", self.ibans),
            ("account_numbers", self.account_numbers),
            ("credentials", self.credentials),
            ("off_topic", self.off_topic),
        ]
    }
}

impl ReplyRules {
    /// Every rule with its action.
    pub const fn named(self) -> [(&'static str, Action); 5] {
        [
            ("cards", self.cards),
            ("ibans", self.ibans),
            ("account_numbers", self.account_numbers),
            ("credentials", self.credentials),
            ("asks_for_credentials", self.asks_for_credentials),
        ]
    }
}

impl BuiltIn {
    /// The guardrail of a configuration without any.
    ///
    /// # Errors
    /// As [`BuiltIn::new`].
    pub fn usual() -> Result<Self, RuleError> {
        Self::new(
            MessageRules {
                cards: Action::Mask,
                // A customer may name a payee's account.
                ibans: Action::Off,
                account_numbers: Action::Off,
                credentials: Action::Mask,
                off_topic: Action::Block,
            },
            ReplyRules {
                cards: Action::Mask,
                ibans: Action::Mask,
                account_numbers: Action::Mask,
                credentials: Action::Mask,
                asks_for_credentials: Action::Block,
            },
        )
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// [`RuleError`], which the tests rule out.
    pub fn new(message: MessageRules, reply: ReplyRules) -> Result<Self, RuleError> {
        Ok(Self {
            redactor: Redactor::new(&reply_rules()?),
            message,
            reply,
        })
    }

    fn action(&self, side: Side, rule: &str) -> Action {
        let (cards, ibans, account_numbers, credentials) = match side {
            Side::Message => (
                self.message.cards,
                self.message.ibans,
                self.message.account_numbers,
                self.message.credentials,
            ),
            Side::Reply => (
                self.reply.cards,
                self.reply.ibans,
                self.reply.account_numbers,
                self.reply.credentials,
            ),
        };
        match rule {
            "card" => cards,
            "iban" => ibans,
            "account_number" => account_numbers,
            _ => credentials,
        }
    }

    fn look(&self, side: Side, text: &str) -> Verdict {
        let mut verdict = Verdict::default();
        let found = self.redactor.redact_text(text);
        let mut off: Vec<&str> = Vec::new();
        let mut masks = false;
        for edit in &found.edits {
            let action = self.action(side, &edit.rule);
            if matches!(action, Action::Off | Action::Flag) {
                off.push(&edit.rule);
            }
            if action == Action::Off {
                continue;
            }
            verdict.rules.push(edit.rule.to_string());
            masks |= action == Action::Mask;
            verdict.blocked |= action == Action::Block;
        }
        if masks {
            let without = self.redactor.without(self.redactor.set(off));
            verdict.masked = Some(without.redact_text(text).text.into_owned());
        }
        let (rule, action, holds) = match side {
            Side::Message => ("off_topic", self.message.off_topic, is_off_topic(text)),
            Side::Reply => (
                "asks_for_credentials",
                self.reply.asks_for_credentials,
                asks_for_credentials(text),
            ),
        };
        if holds && action != Action::Off {
            verdict.rules.push(rule.to_owned());
            verdict.blocked |= action == Action::Block;
        }
        verdict
    }
}

#[async_trait]
impl Guardrail for BuiltIn {
    fn name(&self) -> &'static str {
        "built_in"
    }

    fn looks_at(&self, side: Side) -> bool {
        let rules = match side {
            Side::Message => self.message.named(),
            Side::Reply => self.reply.named(),
        };
        rules.iter().any(|(_, action)| *action != Action::Off)
    }

    fn wants_whole_replies(&self) -> bool {
        false
    }

    async fn check(&self, side: Side, text: &str) -> Result<Verdict, GuardError> {
        Ok(self.look(side, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(side: Side, text: &str) -> (Option<String>, bool, Vec<String>) {
        let verdict = BuiltIn::usual().expect("rules").look(side, text);
        (verdict.masked, verdict.blocked, verdict.rules)
    }

    #[test]
    fn a_card_number_does_not_reach_the_model_and_its_ending_does() {
        let (masked, blocked, rules) = look(
            Side::Message,
            "Is 4111 1111 1111 1111 blocked? Pay DE89 3704 0044 0532 0130 00",
        );
        assert_eq!(
            masked.as_deref(),
            Some("Is [redacted: card ending 1111] blocked? Pay DE89 3704 0044 0532 0130 00")
        );
        assert_eq!((blocked, rules), (false, vec!["card".to_owned()]));
        for text in [
            "Is my card ending 4821 frozen?",
            "****4821",
            "card xx4821 due 30/11",
        ] {
            assert_eq!(look(Side::Message, text), (None, false, vec![]), "{text}");
        }
        let (masked, ..) = look(Side::Reply, "It is DE89 3704 0044 0532 0130 00.");
        assert_eq!(
            masked.as_deref(),
            Some("It is [redacted: iban ending 3000].")
        );
    }

    #[test]
    fn what_is_no_business_of_a_bank_is_stopped_and_a_dispute_is_not() {
        assert!(look(Side::Message, "Write me a poem about spring").1);
        for text in [
            "The poem book was charged twice, dispute it",
            "Please ignore the previous payment request, I already paid the plumber.",
        ] {
            assert_eq!(look(Side::Message, text), (None, false, vec![]), "{text}");
        }
        assert!(look(Side::Reply, "Please tell me your PIN.").1);
        assert!(!look(Side::Reply, "Never tell anybody your PIN.").1);
    }

    #[test]
    fn a_flagged_text_passes_unchanged_and_is_counted() {
        let flag = MessageRules {
            cards: Action::Flag,
            ibans: Action::Off,
            account_numbers: Action::Off,
            credentials: Action::Mask,
            off_topic: Action::Flag,
        };
        let off = ReplyRules {
            cards: Action::Off,
            ibans: Action::Off,
            account_numbers: Action::Off,
            credentials: Action::Off,
            asks_for_credentials: Action::Off,
        };
        let guard = BuiltIn::new(flag, off).expect("rules");
        let verdict = guard.look(
            Side::Message,
            "4111 1111 1111 1111 and password: hunter2hunter2",
        );
        assert_eq!(
            verdict.masked.as_deref(),
            Some("4111 1111 1111 1111 and password: [redacted: named_secret]")
        );
        assert_eq!(verdict.rules, ["card", "named_secret"]);
        assert!(!guard.looks_at(Side::Reply) && guard.looks_at(Side::Message));
    }
}
