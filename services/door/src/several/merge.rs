//! One answer out of several servers' answers.
//!
//! Lists keep the bytes of every entry: the first server's answer stays as it is, and the others'
//! entries are put behind its own. What a handshake or a discovery says is the door's own statement
//! about all of them, so that one is written anew.

mod lists;
mod terms;

pub use lists::{error, list};
pub use terms::{Term, discovery, handshake};

/// Where a merged answer names the servers that are not in it.
pub const UNAVAILABLE: &str = "dev.countersign/unavailable";

/// An answer of one of several servers.
#[derive(Clone, Debug)]
pub struct Part {
    /// The server, by its place among the door's servers.
    pub server: usize,
    /// The answer under the client's id; none where there was none in time.
    pub answer: Option<Vec<u8>>,
}
