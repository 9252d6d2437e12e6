//! Messages on pipes: one a line, on the door's own standard streams and on those of the servers it
//! starts.

pub mod attend;
pub mod bell;
pub mod child;
pub mod drain;
pub mod front;
pub mod input;
pub mod keeper;
pub mod kept;
pub mod lines;
pub mod outlet;
pub mod queued;
pub mod run;
pub mod run_remote;
pub mod run_several;
pub mod settler;
pub mod turns;
