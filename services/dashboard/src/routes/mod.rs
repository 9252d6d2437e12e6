//! One file for each thing an operator can ask for.

mod explain_action;
mod explain_pasted;
mod find_action;
mod log_in;
mod log_out;
mod show_action;
mod show_alarms;
mod show_calls;
mod show_door;
mod show_history;
mod show_overview;
mod show_reads;

pub use explain_action::explain_action;
pub use explain_pasted::{explain_pasted, show_explain};
pub use find_action::find_action;
pub use log_in::log_in;
pub use log_out::log_out;
pub use show_action::show_action;
pub use show_alarms::{export_alarms, show_alarms};
pub use show_calls::{export_calls, show_calls};
pub use show_door::{export_door, show_door};
pub use show_history::{export_history, show_history};
pub use show_overview::{export_requests, show_overview, shown};
pub use show_reads::show_reads;
