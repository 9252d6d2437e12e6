//! `list_accounts`: the customer's accounts and what stands on them.

use countersign_domain::{AccountId, Money};
use countersign_store::read::account::{self, Account};
use serde::Serialize;

use super::NoInput;
use crate::{
    Call, Refusal,
    tool::{BankTool, Reach},
};

/// The tool.
pub struct ListAccounts;

/// An account as a tool shows it.
#[derive(Debug, Serialize)]
pub struct AccountView {
    account: AccountId,
    name: String,
    kind: String,
    currency: &'static str,
    balance: String,
    available: String,
    number_ends: String,
    main: bool,
}

/// Every account.
#[derive(Debug, Serialize)]
pub struct Output {
    accounts: Vec<AccountView>,
}

impl BankTool for ListAccounts {
    const NAME: &'static str = "list_accounts";
    const TITLE: &'static str = "Accounts and balances";
    const DESCRIPTION: &'static str = "Lists the customer's own accounts with currency, balance and what is available after the requests that \
         wait. Amounts are decimal strings. Use the `account` ids with other tools.";
    const REACH: Reach = Reach::Read;
    type Input = NoInput;
    type Output = Output;

    async fn run(call: &mut Call, _: NoInput) -> Result<Output, Refusal> {
        let mut accounts = Vec::new();
        for account in account::all(call.connection()).await? {
            accounts.push(view(call, account).await?);
        }
        Ok(Output { accounts })
    }
}

/// An account with what is left of it once every open request were confirmed.
pub(super) async fn view(call: &mut Call, account: Account) -> Result<AccountView, Refusal> {
    let waiting = account::waiting_from(call.connection(), account.id).await?;
    let available = account
        .balance
        .amount
        .checked_sub(waiting)
        .unwrap_or_default();
    let currency = account.balance.currency;
    Ok(AccountView {
        account: account.id,
        name: account.label,
        kind: account.kind,
        currency: currency.code(),
        balance: account.balance.to_wire(),
        available: Money {
            amount: available,
            currency,
        }
        .to_wire(),
        number_ends: countersign_domain::text::last_four(&account.iban).to_owned(),
        main: account.is_default,
    })
}
