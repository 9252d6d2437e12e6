//! `list_cards`: the customer's cards and whether they work.

use countersign_domain::CardId;
use countersign_store::read::card;
use serde::Serialize;

use super::NoInput;
use crate::{
    Call, Refusal,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct ListCards;

/// A card as a tool shows it.
#[derive(Debug, Serialize)]
pub struct View {
    card: CardId,
    name: String,
    kind: String,
    last_four: String,
    status: &'static str,
}

/// Every card.
#[derive(Debug, Serialize)]
pub struct Output {
    cards: Vec<View>,
}

impl BankTool for ListCards {
    const NAME: &'static str = "list_cards";
    const TITLE: &'static str = "Cards";
    const DESCRIPTION: &'static str = "Lists the customer's cards with the last four digits and whether each is active or frozen.";
    const REACH: Reach = Reach::Read;
    type Input = NoInput;
    type Output = Output;

    async fn run(call: &mut Call, _: NoInput) -> Result<Output, Refusal> {
        let cards = card::all(call.connection())
            .await?
            .into_iter()
            .map(|row| View {
                card: row.id,
                name: row.label,
                kind: row.kind,
                last_four: row.last_four,
                status: if row.frozen { "frozen" } else { "active" },
            })
            .collect();
        Ok(Output { cards })
    }
}
