//! A record on disk: one line an event, chained, signed for, and closed when it cannot be written.
//!
//! It touches the files of one directory and nothing else: no network, no table, no policy. What
//! the lines say is their writer's affair; that they follow from one another, that a signed head
//! covers them, and that nothing is called recorded which is not, is decided here.
//!
//! | file | what it holds |
//! |---|---|
//! | `decisions.jsonl` | the lines being written |
//! | `decisions-<first>.jsonl` | earlier lines, by the number of the first of them |
//! | `decisions.checkpoint` | the last signed head, for everybody |
//! | `decisions.state` | the same head with the log's frontier, to go on from without reading the lines |
//! | `decisions.heads` | a signed head for every line, in the mode that signs each |
//! | `decisions.lock` | held by the one process that writes |

mod audit;
mod clock;
mod error;
mod files;
mod heads;
mod journal;
pub mod keys;
mod lines;
mod mode;
mod open;
mod own;
mod queue;
mod segment;
mod settle;
mod state_file;

pub use audit::{AuditError, Step, Walked, line_files, walk};
pub use error::{OpenError, WriteError};
pub use files::Files;
pub use heads::read_head_line;
pub use journal::{Journal, Ticket};
pub use lines::{LineReader, Read};
pub use mode::{Mode, Options};
pub use open::frontier_before;
pub use state_file::replace as replace_file;
