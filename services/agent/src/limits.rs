//! How much of everything one turn may use.

use std::time::Duration;

/// Turns at one time. One more is told to come back.
pub const TURNS_MAX: usize = 64;
/// Time one turn may take, from first to last line.
pub const TURN_TIME_MAX: Duration = Duration::from_secs(60);
/// Time the door has to answer one call.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(15);
/// Time to greet the door and read its list of tools.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Times the model may ask for tools in one turn.
pub const ROUNDS_MAX: usize = 8;
/// Tool calls in one turn, over all rounds.
pub const CALLS_MAX: usize = 24;
/// Calls that cannot be made (unknown tool, malformed, repeated) before the turn ends in a sentence.
pub const BAD_CALLS_MAX: usize = 3;
/// Longest reply, in bytes.
pub const REPLY_BYTES_MAX: usize = 16 * 1024;
/// Longest arguments of one call, in bytes of JSON.
pub const ARGUMENTS_BYTES_MAX: usize = 8 * 1024;
/// Longest answer of a tool that is shown to the model, in bytes of JSON.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Requests that were refused before the turn ends in a sentence.
pub const REFUSED_REQUESTS_MAX: usize = 3;
/// Replies that reached their length limit before the turn ends in a sentence.
pub const CUTS_MAX: usize = 2;
/// Most tokens of one turn where the configuration says nothing else: prompts of every round and replies together.
pub const TOKENS_MAX: u64 = 200_000;
/// Bytes that make a token, for the estimate where the model counts none.
pub const BYTES_PER_TOKEN: u64 = 4;
/// Most names of screening rules that are taken from one answer.
pub const FLAGGED_RULES_MAX: usize = 32;
/// Most earlier messages of a conversation.
pub const HISTORY_MAX: usize = 100;
/// Longest message, earlier or new, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Longest session token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 4 * 1024;
/// Lines waiting for a slow reader.
pub const LINES_WAITING_MAX: usize = 64;
/// Most findings of guardrails that are told of one text.
pub const HITS_MAX: usize = 16;
