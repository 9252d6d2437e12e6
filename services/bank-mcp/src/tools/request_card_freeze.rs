//! `request_card_freeze`: asks the customer to confirm that a card is blocked.

use countersign_domain::CardId;
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
pub struct RequestCardFreeze;

/// Which card.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A card id from `list_cards`, only where the customer named the card.
    #[serde(default)]
    card: Argument<CardId>,
}

impl BankTool for RequestCardFreeze {
    const NAME: &'static str = "request_card_freeze";
    const TITLE: &'static str = "Ask to freeze a card";
    const DESCRIPTION: &'static str = "Puts the blocking of a card on the customer's panel for them to confirm. Name the card only where the customer did; left out, they choose it there.";
    const REACH: Reach = Reach::Request;
    type Input = Input;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, input: Input) -> Result<RequestAnswer, Refusal> {
        let card = input.card.optional("card")?;
        call.ask(Request::CardFreeze { card }).await
    }
}
