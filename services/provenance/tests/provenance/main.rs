//! The grounding of whole conversations: the tables of cases, one customer's requests, and what always holds.

mod acts;
mod acts_everywhere;
mod acts_ordinary;
mod corpus;
mod duration;
mod ilse;
mod life;
mod payments;
mod properties;
