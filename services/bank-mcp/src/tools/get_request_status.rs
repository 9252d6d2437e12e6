//! `get_request_status`: where one request stands.

use countersign_domain::ActionId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Call, Refusal,
    answer::RequestView,
    argument::Argument,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct GetRequestStatus;

/// Which request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// An action id that a request tool answered with.
    action: Argument<ActionId>,
}

impl BankTool for GetRequestStatus {
    const NAME: &'static str = "get_request_status";
    const TITLE: &'static str = "Where a request stands";
    const DESCRIPTION: &'static str = "Reads where one request stands: waiting_for_customer, confirmed, cancelled, expired, refused, held or \
         superseded. Say that something was done only when this says `confirmed`.";
    const REACH: Reach = Reach::Read;
    type Input = Input;
    type Output = RequestView;

    async fn run(call: &mut Call, input: Input) -> Result<RequestView, Refusal> {
        let wanted = input.action.required("action")?;
        let found = call.request_status(wanted).await?;
        found
            .map(RequestView::from)
            .ok_or(Refusal::not_found("action"))
    }
}
