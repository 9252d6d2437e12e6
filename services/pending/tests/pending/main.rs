//! Requests against a real database, as the bank's own login and under the customer's lock.
//!
//! Each line shows who acts: a customer says something, the model of their turn requests something, and what happens on the
//! panel goes through the panel's login and the database's own rules.

mod support;

mod cards;
mod execution;
mod grounding;
mod limits;
mod orders;
mod races;
mod several;
mod supersede;
mod transactions;
mod turns;
mod used_up;
