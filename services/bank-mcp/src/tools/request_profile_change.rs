//! `request_profile_change`: asks the customer to change a line of the profile.

use countersign_domain::ProfileField;
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
pub struct RequestProfileChange;

/// Which line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The line to change.
    field: Argument<ProfileField>,
}

impl BankTool for RequestProfileChange {
    const NAME: &'static str = "request_profile_change";
    const TITLE: &'static str = "Ask to change the profile";
    const DESCRIPTION: &'static str = "Puts a change of address, telephone number or e-mail address on the customer's panel. The customer types the \
         new value there; you cannot pass it on.";
    const REACH: Reach = Reach::Request;
    type Input = Input;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, input: Input) -> Result<RequestAnswer, Refusal> {
        let field = input.field.required("field")?;
        call.ask(Request::ProfileChange { field }).await
    }
}
