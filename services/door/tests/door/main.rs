//! The door's binary, before real MCP servers, asked by clients that write their own bytes.

mod client;
mod piped;
mod served;
mod server;
mod stand;

mod agreement;
mod answers;
mod approvals;
mod bad_inputs;
mod bearers;
mod beside;
mod commands;
mod decisions;
mod evidence;
mod forward;
mod held_pipes;
mod hub;
mod keys;
mod lists;
mod pipes;
mod presets;
mod record;
mod rounds;
mod screening;
mod server_says;
mod sessions;
mod several;
mod telemetry;
mod tokens;
mod wrong_messages;
