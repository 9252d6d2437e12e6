//! `request_standing_order`: asks the customer to confirm that a standing order is set up, changed or ended.

use countersign_domain::{AccountId, Currency, Frequency, OrderId, OrderOperation};
use countersign_pending::{OrderAsked, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use time::Date;

use crate::{
    Call, Refusal,
    answer::RequestAnswer,
    argument::{AmountText, Argument, PayTo},
    tool::{BankTool, Reach},
};

/// The tool.
pub struct RequestStandingOrder;

/// What to do with which order. Only what the customer said; the rest is an open slot on the panel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Set up, change or end.
    operation: Argument<OrderOperation>,
    /// For change and cancel: an order id from `list_standing_orders`.
    #[serde(default)]
    order: Argument<OrderId>,
    /// For create: whom to pay, a payee id from `list_payees` or an own account's id.
    #[serde(default)]
    payee: Argument<PayTo>,
    /// For create and change: how much each time, exactly as the customer typed it.
    #[serde(default)]
    amount: Argument<AmountText>,
    /// For create and change: the amount's currency, where the customer named one.
    #[serde(default)]
    currency: Argument<Currency>,
    /// For create and change: how often.
    #[serde(default)]
    frequency: Argument<Frequency>,
    /// For create and change: the first day, such as `2026-12-01`.
    #[serde(default)]
    start_date: Argument<Date>,
    /// For create: the account the money leaves, only where the customer named it.
    #[serde(default)]
    from_account: Argument<AccountId>,
}

impl BankTool for RequestStandingOrder {
    const NAME: &'static str = "request_standing_order";
    const TITLE: &'static str = "Ask about a standing order";
    const DESCRIPTION: &'static str = "Puts a new, changed or ended standing order on the customer's panel for them to confirm. Use it only where \
         the customer asked for something regular; a payment that happens once is `request_transfer`.";
    const REACH: Reach = Reach::Request;
    type Input = Input;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, input: Input) -> Result<RequestAnswer, Refusal> {
        call.ask(input.into_request()?).await
    }
}

impl Input {
    /// Reads the values. What an operation has no use for is refused, not dropped.
    fn into_request(self) -> Result<Request, Refusal> {
        let operation = self.operation.required("operation")?;
        let currency = self.currency.optional("currency")?;
        let amount = self.amount.optional("amount")?;
        if let (Some(amount), Some(currency)) = (&amount, currency) {
            amount.money(currency)?;
        }
        let asked = OrderAsked {
            operation,
            order: self.order.optional("order")?,
            payee: self.payee.optional("payee")?.map(PayTo::target),
            amount: amount.map(|amount| amount.0),
            currency,
            frequency: self.frequency.optional("frequency")?,
            start_date: self.start_date.optional("start_date")?,
            from_account: self.from_account.optional("from_account")?,
        };
        match surplus(&asked) {
            Some(what) => Err(Refusal::invalid(what)),
            None => Ok(Request::StandingOrder(asked)),
        }
    }
}

/// The first value that the operation has no use for.
fn surplus(asked: &OrderAsked) -> Option<&'static str> {
    let creates = asked.operation == OrderOperation::Create;
    let cancels = asked.operation == OrderOperation::Cancel;
    [
        ("order", creates && asked.order.is_some()),
        ("payee", !creates && asked.payee.is_some()),
        ("from_account", !creates && asked.from_account.is_some()),
        ("amount", cancels && asked.amount.is_some()),
        ("currency", cancels && asked.currency.is_some()),
        ("frequency", cancels && asked.frequency.is_some()),
        ("start_date", cancels && asked.start_date.is_some()),
    ]
    .into_iter()
    .find_map(|(what, surplus)| surplus.then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Request, Refusal> {
        serde_json::from_str::<Input>(json)
            .map_err(|_| Refusal::invalid("arguments"))?
            .into_request()
    }

    #[test]
    fn every_operation_may_leave_its_values_open() {
        for operation in ["create", "change", "cancel"] {
            assert!(read(&format!(r#"{{"operation":"{operation}"}}"#)).is_ok());
        }
        assert_eq!(read("{}"), Err(Refusal::invalid("arguments")));
        assert_eq!(
            read(r#"{"operation":"pause"}"#),
            Err(Refusal::invalid("operation"))
        );
    }

    #[test]
    fn a_value_without_use_is_refused() {
        let digits = "0".repeat(32);
        for (json, what) in [
            (
                format!(r#"{{"operation":"create","order":"ord_{digits}"}}"#),
                "order",
            ),
            (
                format!(r#"{{"operation":"change","payee":"pye_{digits}"}}"#),
                "payee",
            ),
            (
                r#"{"operation":"cancel","amount":"1.00"}"#.to_owned(),
                "amount",
            ),
            (
                r#"{"operation":"cancel","frequency":"monthly"}"#.to_owned(),
                "frequency",
            ),
        ] {
            assert_eq!(read(&json), Err(Refusal::invalid(what)));
        }
    }

    #[test]
    fn a_day_that_no_calendar_has_is_refused() {
        assert_eq!(
            read(r#"{"operation":"create","start_date":"2027-02-30"}"#),
            Err(Refusal::invalid("start_date"))
        );
    }
}
