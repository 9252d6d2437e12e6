//! One file per route: its input, its refusals, its handler.

mod answer_notice;
mod change_action;
mod change_limit;
mod choose_language;
mod confirm_action;
mod issue_chat_code;
mod list_cards;
mod log_in;
mod log_out;
mod manage_passkeys;
mod show_accounts;
mod show_activity;
mod show_home;
mod show_limits;
mod show_notices;
mod show_passkeys;
mod show_receipt;
mod show_receipts;
mod show_safety;
mod stream_wakes;
mod switch_demo_customer;

pub use answer_notice::{answer_notice, answer_notice_by_word, show_not_me};
pub use change_action::{cancel_action, drop_payment, fill_slot, keep_action, undo_action};
pub use change_limit::{change_limit, stop_limit_change};
pub use choose_language::choose_language;
pub use confirm_action::{confirm_action, prepare_action};
pub use issue_chat_code::issue_chat_code;
pub use list_cards::list_cards;
pub use log_in::log_in;
pub use log_out::log_out;
pub use manage_passkeys::{
    add_passkey, ask_recovery, begin_passkey_change, begin_passkey_enrolment, cancel_recovery,
    remove_passkey, rename_passkey,
};
pub use show_accounts::show_accounts;
pub use show_activity::{download_statement, show_activity};
pub use show_home::show_home;
pub use show_limits::show_limits;
pub use show_notices::show_notices;
pub use show_passkeys::show_passkeys;
pub use show_receipt::show_receipt;
pub use show_receipts::show_receipts;
pub use show_safety::{freeze, show_safety, unfreeze};
pub use stream_wakes::stream_wakes;
pub use switch_demo_customer::switch_demo_customer;
