//! `list_standing_orders`: what the customer pays regularly.

use countersign_domain::{AccountId, Frequency, OrderId, PayeeId};
use countersign_store::read::order;
use serde::Serialize;

use super::NoInput;
use crate::{
    Call, Refusal, Untrusted,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct ListStandingOrders;

/// A standing order as a tool shows it.
#[derive(Debug, Serialize)]
pub struct View {
    order: OrderId,
    name: Option<Untrusted>,
    payee: PayeeId,
    payee_name: Untrusted,
    amount: String,
    currency: &'static str,
    frequency: Frequency,
    start_date: String,
    from_account: AccountId,
}

/// The active orders.
#[derive(Debug, Serialize)]
pub struct Output {
    standing_orders: Vec<View>,
}

impl BankTool for ListStandingOrders {
    const NAME: &'static str = "list_standing_orders";
    const TITLE: &'static str = "Standing orders";
    const DESCRIPTION: &'static str = "Lists the customer's active standing orders: payee, amount, how often, and the first day. A monthly order \
         pays on the day of the month it started.";
    const REACH: Reach = Reach::Read;
    type Input = NoInput;
    type Output = Output;

    async fn run(call: &mut Call, _: NoInput) -> Result<Output, Refusal> {
        let standing_orders = order::active(call.connection())
            .await?
            .into_iter()
            .map(|row| View {
                order: row.id,
                name: row.name.map(Untrusted),
                payee: row.payee,
                payee_name: row.payee_name.into(),
                amount: row.amount.to_wire(),
                currency: row.amount.currency.code(),
                frequency: row.frequency,
                start_date: row.start.to_string(),
                from_account: row.from,
            })
            .collect();
        Ok(Output { standing_orders })
    }
}
