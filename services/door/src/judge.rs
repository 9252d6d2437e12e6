//! What the door does with one message, whichever way it came and goes: bytes in, checks in their
//! order, the decision recorded, and what to forward.
//!
//! Everything here is synchronous and knows neither HTTP nor pipes. A front brings the bytes of a
//! client and takes a [`Ruling`]; a back brings the bytes of a server and takes a [`Reply`].

pub mod asked;
pub mod catalogue;
pub mod edits;
pub mod ending;
pub mod header_names;
pub mod hold;
pub mod lists;
pub mod message;
pub mod methods;
pub mod places;
pub mod refusal;
pub mod reply;
pub mod result;
pub mod rounds;
