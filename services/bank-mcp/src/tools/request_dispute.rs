//! `request_dispute`: asks the customer to confirm that a transaction is disputed.

use countersign_domain::{DisputeReason, TransferId};
use countersign_pending::Request;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Call, Refusal,
    answer::RequestAnswer,
    argument::Argument,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct RequestDispute;

/// Which transaction, and why.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A transaction id from `list_transactions`, only where the customer named the transaction.
    #[serde(default)]
    transaction: Argument<TransferId>,
    /// Why, only where the customer said it.
    #[serde(default)]
    reason: Argument<DisputeReason>,
}

impl BankTool for RequestDispute {
    const NAME: &'static str = "request_dispute";
    const TITLE: &'static str = "Ask to dispute a transaction";
    const DESCRIPTION: &'static str = "Puts a dispute of a transaction on the customer's panel for them to confirm. The details are typed there by \
         the customer, never by you.";
    const REACH: Reach = Reach::Request;
    type Input = Input;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, input: Input) -> Result<RequestAnswer, Refusal> {
        let transaction = input.transaction.optional("transaction")?;
        let reason = input.reason.optional("reason")?;
        call.ask(Request::Dispute {
            transaction,
            reason,
        })
        .await
    }
}
