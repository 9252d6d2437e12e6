//! `get_spending_by_category`: what was spent on what in a month.

use countersign_store::read::spending;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Call, Refusal,
    argument::{Argument, Month},
    tool::{BankTool, Reach},
};

/// The tool.
pub struct GetSpendingByCategory;

/// Which month.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The month, such as `2026-11`; the current one when left out.
    #[serde(default)]
    month: Argument<Month>,
}

/// One category in one currency.
#[derive(Debug, Serialize)]
pub struct View {
    category: String,
    currency: &'static str,
    spent: String,
    payments: i64,
}

/// The month's spending, the largest category first.
#[derive(Debug, Serialize)]
pub struct Output {
    month: String,
    categories: Vec<View>,
}

impl BankTool for GetSpendingByCategory {
    const NAME: &'static str = "get_spending_by_category";
    const TITLE: &'static str = "Spending by category";
    const DESCRIPTION: &'static str = "Sums what left the customer's accounts in one calendar month, by category and currency. Moves between own \
         accounts do not count.";
    const REACH: Reach = Reach::Read;
    type Input = Input;
    type Output = Output;

    async fn run(call: &mut Call, input: Input) -> Result<Output, Refusal> {
        let month = match input.month.optional("month")? {
            Some(month) => month,
            None => {
                let today = spending::bank_day(call.connection()).await?;
                Month {
                    year: today.year(),
                    month: today.month().into(),
                }
            }
        };
        let (first, end) = month.days().ok_or(Refusal::invalid("month"))?;
        let categories = spending::by_category(call.connection(), first, end)
            .await?
            .into_iter()
            .map(|row| View {
                category: row.category,
                currency: row.sum.currency.code(),
                spent: row.sum.to_wire(),
                payments: row.payments,
            })
            .collect();
        Ok(Output {
            month: month.to_string(),
            categories,
        })
    }
}
