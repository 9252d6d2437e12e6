//! The tools, one file each: arguments, answer, what it does, tests. The router lists them.

pub mod get_balance;
pub mod get_limits;
pub mod get_request_status;
pub mod get_spending_by_category;
pub mod list_accounts;
pub mod list_cards;
pub mod list_documents;
pub mod list_open_requests;
pub mod list_payees;
pub mod list_standing_orders;
pub mod list_transactions;
pub mod read_document;
pub mod request_card_freeze;
pub mod request_card_unfreeze;
pub mod request_dispute;
pub mod request_payee;
pub mod request_profile_change;
pub mod request_refund;
pub mod request_standing_order;
pub mod request_transfer;

use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of a tool that has none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}
