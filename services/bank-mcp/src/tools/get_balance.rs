//! `get_balance`: what stands on one account.

use countersign_domain::AccountId;
use countersign_store::read::account;
use schemars::JsonSchema;
use serde::Deserialize;

use super::list_accounts::{AccountView, view};
use crate::{
    Call, Refusal,
    argument::Argument,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct GetBalance;

/// Which account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// An account id from `list_accounts`.
    account: Argument<AccountId>,
}

impl BankTool for GetBalance {
    const NAME: &'static str = "get_balance";
    const TITLE: &'static str = "Balance of one account";
    const DESCRIPTION: &'static str =
        "Reads balance and available amount of one of the customer's own accounts.";
    const REACH: Reach = Reach::Read;
    type Input = Input;
    type Output = AccountView;

    async fn run(call: &mut Call, input: Input) -> Result<AccountView, Refusal> {
        let wanted = input.account.required("account")?;
        let account = account::all(call.connection())
            .await?
            .into_iter()
            .find(|account| account.id == wanted)
            .ok_or(Refusal::not_found("account"))?;
        view(call, account).await
    }
}
