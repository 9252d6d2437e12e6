//! `request_payee`: asks the customer to save a new payee.

use countersign_pending::Request;

use super::NoInput;
use crate::{
    Call, Refusal,
    answer::RequestAnswer,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct RequestPayee;

impl BankTool for RequestPayee {
    const NAME: &'static str = "request_payee";
    const TITLE: &'static str = "Ask to save a payee";
    const DESCRIPTION: &'static str = "Puts a form for a new payee on the customer's panel. The customer types name and account number there; you \
         cannot pass them on.";
    const REACH: Reach = Reach::Request;
    type Input = NoInput;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, _: NoInput) -> Result<RequestAnswer, Refusal> {
        call.ask(Request::Payee).await
    }
}
