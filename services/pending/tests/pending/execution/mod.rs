//! The execution functions by themselves: what they refuse when nothing before them did.
//!
//! The panel and the model's side check most of this too, and their own tests cannot tell who refused. Here the
//! functions are called with values that neither would have passed on.

mod after;
mod confirm;
mod holds;
mod money;
mod step_up;
