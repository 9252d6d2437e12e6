//! `cap`: how much the amounts of a tool may come to.

use schemars::JsonSchema;
use serde::Deserialize;

/// A cap on an amount. A call that reaches it is refused; so is one whose amount is missing or is
/// no plain number. Sums are exact and count the number alone: declare one currency.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapFile {
    /// The declared argument that holds the amount: `amount`, `order.total`, or
    /// `payments[].amount` for the sum over an array.
    pub argument: String,
    /// A call of this much or more is refused. A decimal number in quotes.
    #[serde(default)]
    pub per_call: Option<String>,
    /// A call that brings one identity's day (UTC) to this much or more is refused.
    #[serde(default)]
    pub per_day: Option<String>,
    /// A call that brings the session to this much or more is refused.
    #[serde(default)]
    pub per_session: Option<String>,
}
