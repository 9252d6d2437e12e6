//! The wire formats of remote models, served over a socket: good, cut, malformed and hostile.

mod good;
mod hostile;
mod live;
mod provider;
mod server;
mod tries;
