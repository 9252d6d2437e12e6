//! `list_open_requests`: what waits for the customer.

use serde::Serialize;

use super::NoInput;
use crate::{
    Call, Refusal,
    answer::RequestView,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct ListOpenRequests;

/// What waits, newest first.
#[derive(Debug, Serialize)]
pub struct Output {
    requests: Vec<RequestView>,
}

impl BankTool for ListOpenRequests {
    const NAME: &'static str = "list_open_requests";
    const TITLE: &'static str = "Requests that wait";
    const DESCRIPTION: &'static str = "Lists the requests that wait on the customer's panel, newest first. Nothing of them has happened yet, and \
         only the customer can confirm or cancel them there.";
    const REACH: Reach = Reach::Read;
    type Input = NoInput;
    type Output = Output;

    async fn run(call: &mut Call, _: NoInput) -> Result<Output, Refusal> {
        let open = call.open_requests().await?;
        Ok(Output {
            requests: open.into_iter().map(RequestView::from).collect(),
        })
    }
}
