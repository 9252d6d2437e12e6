//! Every tool of the bank, in the order of the list.

use crate::{tool::Entry, tools};

/// The tools. What is not here cannot be called. Reads first, then what asks the customer to confirm.
pub const TOOLS: [Entry; 20] = [
    Entry::of::<tools::list_accounts::ListAccounts>(),
    Entry::of::<tools::get_balance::GetBalance>(),
    Entry::of::<tools::list_transactions::ListTransactions>(),
    Entry::of::<tools::get_spending_by_category::GetSpendingByCategory>(),
    Entry::of::<tools::list_payees::ListPayees>(),
    Entry::of::<tools::list_cards::ListCards>(),
    Entry::of::<tools::list_standing_orders::ListStandingOrders>(),
    Entry::of::<tools::get_limits::GetLimits>(),
    Entry::of::<tools::list_documents::ListDocuments>(),
    Entry::of::<tools::read_document::ReadDocument>(),
    Entry::of::<tools::list_open_requests::ListOpenRequests>(),
    Entry::of::<tools::get_request_status::GetRequestStatus>(),
    Entry::of::<tools::request_transfer::RequestTransfer>(),
    Entry::of::<tools::request_refund::RequestRefund>(),
    Entry::of::<tools::request_standing_order::RequestStandingOrder>(),
    Entry::of::<tools::request_card_freeze::RequestCardFreeze>(),
    Entry::of::<tools::request_card_unfreeze::RequestCardUnfreeze>(),
    Entry::of::<tools::request_dispute::RequestDispute>(),
    Entry::of::<tools::request_payee::RequestPayee>(),
    Entry::of::<tools::request_profile_change::RequestProfileChange>(),
];

/// The tool of a name, exactly.
pub fn find(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

/// The definitions as `tools/list` serves them, always in the same order.
pub fn definitions() -> Vec<rmcp::model::Tool> {
    TOOLS.iter().map(Entry::definition).collect()
}
