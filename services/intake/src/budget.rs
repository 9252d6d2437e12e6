//! How much of the model a conversation and a customer may use. A budget, not an account: the agent counts.

use serde::{Deserialize, Serialize};

use crate::store::chat_event::Spent;

/// The limits, from the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelBudget {
    /// Most tokens of one conversation.
    pub tokens_per_conversation_max: u64,
    /// Most tokens of one customer in 24 hours.
    pub tokens_per_customer_day_max: u64,
    /// Highest cost of one customer in 24 hours, in millionths of the currency's unit.
    pub cost_micros_per_customer_day_max: u64,
}

impl Default for ModelBudget {
    fn default() -> Self {
        Self {
            tokens_per_conversation_max: 1_000_000,
            tokens_per_customer_day_max: 3_000_000,
            cost_micros_per_customer_day_max: 10_000_000,
        }
    }
}

/// What is left of it for one turn, as the agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Remaining {
    /// Tokens.
    pub tokens: u64,
    /// Cost, in millionths of the currency's unit.
    pub cost_micros: u64,
}

impl ModelBudget {
    /// What is left; none when a limit is reached.
    pub fn remaining(self, spent: Spent) -> Option<Remaining> {
        let tokens = self
            .tokens_per_conversation_max
            .saturating_sub(spent.conversation_tokens)
            .min(
                self.tokens_per_customer_day_max
                    .saturating_sub(spent.day_tokens),
            );
        let cost_micros = self
            .cost_micros_per_customer_day_max
            .saturating_sub(spent.day_cost_micros);
        (tokens > 0 && cost_micros > 0).then_some(Remaining {
            tokens,
            cost_micros,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_counts_and_a_reached_one_leaves_nothing() {
        let budget = ModelBudget {
            tokens_per_conversation_max: 100,
            tokens_per_customer_day_max: 150,
            cost_micros_per_customer_day_max: 10,
        };
        let left = |conversation_tokens, day_tokens, day_cost_micros| {
            budget
                .remaining(Spent {
                    conversation_tokens,
                    day_tokens,
                    day_cost_micros,
                })
                .map(|left| (left.tokens, left.cost_micros))
        };
        assert_eq!(left(0, 0, 0), Some((100, 10)));
        assert_eq!(left(10, 120, 4), Some((30, 6)));
        assert_eq!(left(100, 100, 0), None);
        assert_eq!(left(0, 150, 0), None);
        assert_eq!(left(0, 0, 10), None);
    }
}
