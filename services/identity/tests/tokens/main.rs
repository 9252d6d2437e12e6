//! What the verifiers accept and what they refuse, with tokens forged by hand.

mod forge;
mod form;
mod mutations;
mod request;
mod session;
