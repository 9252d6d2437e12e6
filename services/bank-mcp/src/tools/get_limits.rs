//! `get_limits`: how much the customer may send, and what is left of it.

use countersign_domain::{MinorUnits, Money, limits::left_today};
use countersign_store::read::limit;
use serde::Serialize;

use super::NoInput;
use crate::{
    Call, Refusal,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct GetLimits;

/// The limits of one currency as a tool shows them.
#[derive(Debug, Serialize)]
pub struct View {
    currency: &'static str,
    per_transfer: String,
    per_day: String,
    left_today: String,
    pending_total: String,
    waiting: String,
    first_payment: String,
}

/// The limits of every currency.
#[derive(Debug, Serialize)]
pub struct Output {
    limits: Vec<View>,
}

impl BankTool for GetLimits {
    const NAME: &'static str = "get_limits";
    const TITLE: &'static str = "Limits";
    const DESCRIPTION: &'static str = "Reads the customer's limits by currency: for one transfer, for a day and what is left of it, for what may \
         wait on the panel, and for a first payment to a new payee.";
    const REACH: Reach = Reach::Read;
    type Input = NoInput;
    type Output = Output;

    async fn run(call: &mut Call, _: NoInput) -> Result<Output, Refusal> {
        let limits = limit::all(call.connection())
            .await?
            .into_iter()
            .map(|row| {
                let wire = |amount: MinorUnits| {
                    Money {
                        amount,
                        currency: row.currency,
                    }
                    .to_wire()
                };
                View {
                    currency: row.currency.code(),
                    per_transfer: wire(row.limits.per_transfer),
                    per_day: wire(row.limits.per_day),
                    left_today: wire(left_today(&row.limits, row.used.sent_today)),
                    pending_total: wire(row.limits.pending_total),
                    waiting: wire(row.used.pending),
                    first_payment: wire(row.limits.first_payment),
                }
            })
            .collect();
        Ok(Output { limits })
    }
}
