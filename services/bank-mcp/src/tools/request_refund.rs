//! `request_refund`: asks the customer to confirm sending an incoming payment back.

use countersign_domain::TransferId;
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
pub struct RequestRefund;

/// Which payment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of an incoming payment from `list_transactions`, only where the customer named the payment.
    #[serde(default)]
    transaction: Argument<TransferId>,
}

impl BankTool for RequestRefund {
    const NAME: &'static str = "request_refund";
    const TITLE: &'static str = "Ask to send a payment back";
    const DESCRIPTION: &'static str = "Puts the return of an incoming payment on the customer's panel for them to confirm: the whole amount, to \
         where it came from. Only when the customer asked for it. Which payment they did not name they pick there.";
    const REACH: Reach = Reach::Request;
    type Input = Input;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, input: Input) -> Result<RequestAnswer, Refusal> {
        let transaction = input.transaction.optional("transaction")?;
        call.ask(Request::Refund { transaction }).await
    }
}
