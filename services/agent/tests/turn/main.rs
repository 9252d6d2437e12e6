//! Turns against a real MCP server on the loopback, by the agent's own program and by its loop.

mod conduct;
mod edges;
mod fixture;
mod guards;
mod manners;
mod process;
mod story;
