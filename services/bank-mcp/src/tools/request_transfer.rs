//! `request_transfer`: asks the customer to confirm a payment, or a move between own accounts.

use countersign_domain::{AccountId, Currency};
use countersign_pending::{PAYMENTS_MAX, PaymentAsked, Request, TransferAsked};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Call, Refusal,
    answer::RequestAnswer,
    argument::{AmountText, Argument, Object, PayTo},
    tool::{BankTool, Reach},
};

/// The most payments that the schema names.
const PAYMENTS_IN_SCHEMA_MAX: usize = 10;

/// The tool.
pub struct RequestTransfer;

/// The payments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The payments that one message of the customer asks for, all of them together.
    #[schemars(length(min = 1, max = 10))]
    payments: Vec<Object<Payment>>,
    /// The currency of the amounts, where the customer named one; the account's otherwise.
    #[serde(default)]
    currency: Argument<Currency>,
    /// The account the money leaves, only where the customer named it.
    #[serde(default)]
    from_account: Argument<AccountId>,
}

/// One payment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// Whom to pay: a payee id from `list_payees` or an own account's id. Left out, the customer chooses on the panel.
    #[serde(default)]
    payee: Argument<PayTo>,
    /// How much, exactly as the customer typed it, such as "20.00". Left out, the customer fills it in on the panel.
    #[serde(default)]
    amount: Argument<AmountText>,
}

impl BankTool for RequestTransfer {
    const NAME: &'static str = "request_transfer";
    const TITLE: &'static str = "Ask to send money";
    const DESCRIPTION: &'static str = "Puts a payment on the customer's panel for them to confirm. Nothing moves before that. Use only payee and \
         amount that the customer typed, together; leave out what they did not say, and they fill it in on the panel. \
         Several payments asked for in one message go into one request; those of another message are another request. A \
         new request replaces the open one only after a newer message of the customer. Answers with the action id.";
    const REACH: Reach = Reach::Request;
    type Input = Input;
    type Output = RequestAnswer;

    async fn run(call: &mut Call, input: Input) -> Result<RequestAnswer, Refusal> {
        call.ask(input.into_request()?).await
    }
}

impl Input {
    fn into_request(self) -> Result<Request, Refusal> {
        const { assert!(PAYMENTS_MAX == PAYMENTS_IN_SCHEMA_MAX) }
        if self.payments.is_empty() || self.payments.len() > PAYMENTS_MAX {
            return Err(Refusal::invalid("payments"));
        }
        let currency = self.currency.optional("currency")?;
        let payments = self
            .payments
            .into_iter()
            .map(|Object(payment)| payment.read(currency))
            .collect::<Result<_, _>>()?;
        Ok(Request::Transfer(TransferAsked {
            payments,
            currency,
            from_account: self.from_account.optional("from_account")?,
        }))
    }
}

impl Payment {
    fn read(self, currency: Option<Currency>) -> Result<PaymentAsked, Refusal> {
        let amount = self.amount.optional("amount")?;
        if let (Some(amount), Some(currency)) = (&amount, currency) {
            amount.money(currency)?;
        }
        Ok(PaymentAsked {
            payee: self.payee.optional("payee")?.map(PayTo::target),
            amount: amount.map(|amount| amount.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::ToolCode;

    use super::*;

    fn read(json: &str) -> Result<Request, Refusal> {
        serde_json::from_str::<Input>(json)
            .map_err(|_| Refusal::invalid("arguments"))?
            .into_request()
    }

    #[test]
    fn payee_and_amount_may_be_left_out() {
        let Ok(Request::Transfer(asked)) = read(r#"{"payments":[{}]}"#) else {
            panic!("an open request")
        };
        assert_eq!(asked.payments, [PaymentAsked::default()]);
    }

    #[test]
    fn ten_payments_and_neither_none_nor_eleven() {
        let many = |count| format!("[{}]", vec!["{}"; count].join(","));
        let Ok(Request::Transfer(asked)) = read(&format!(r#"{{"payments":{}}}"#, many(10))) else {
            panic!("ten open payments")
        };
        assert_eq!(asked.payments.len(), 10);
        for payments in ["[]", &many(11), "{}", "null", "[[]]", "[null]"] {
            let refused = read(&format!(r#"{{"payments":{payments}}}"#)).unwrap_err();
            assert_eq!(refused.code, ToolCode::InvalidArgument, "{payments}");
        }
    }

    #[test]
    fn the_amount_is_read_in_the_named_currency() {
        let request = |currency: &str, amount: &str| {
            read(&format!(
                r#"{{"payments":[{{"amount":"{amount}"}}],"currency":"{currency}"}}"#
            ))
        };
        assert!(request("KWD", "1.250").is_ok());
        assert_eq!(request("EUR", "1.250"), Err(Refusal::invalid("amount")));
        assert_eq!(request("JPY", "10.50"), Err(Refusal::invalid("amount")));
        assert_eq!(request("EUR", "0"), Err(Refusal::invalid("amount")));
        assert_eq!(request("BTC", "1"), Err(Refusal::invalid("currency")));
    }
}
