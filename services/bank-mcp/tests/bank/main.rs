//! The bank's MCP server as the door sees it: over HTTP, with real tokens, on a real database.

mod acts;
mod bad_input;
mod bank;
mod crash;
mod definitions;
mod door;
mod fixtures;
mod gate;
mod process;
mod protocol;
mod reads;
mod requests;
mod tokens;
