//! One file per route: its input, its refusals, its handler.

mod issue_chat_code;
mod log_in;
mod log_out;
mod show_accounts;
mod show_activity;
mod show_home;
mod show_limits;
mod stream_wakes;
mod switch_demo_customer;

pub use issue_chat_code::issue_chat_code;
pub use log_in::log_in;
pub use log_out::log_out;
pub use show_accounts::show_accounts;
pub use show_activity::show_activity;
pub use show_home::show_home;
pub use show_limits::show_limits;
pub use stream_wakes::stream_wakes;
pub use switch_demo_customer::switch_demo_customer;
