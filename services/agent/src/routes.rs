//! One file a route.

pub mod post_turn;
