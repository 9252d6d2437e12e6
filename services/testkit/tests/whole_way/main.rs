//! The whole way over real processes: what an honest customer gets done, and what nobody else does.
//!
//! The agent is in the test's hands ([`countersign_testkit::people::CaptiveAgent`]): it holds what the real one holds and
//! plays a model that does whatever the test says. Money is counted before and after.

mod attacks;
mod bad_inputs;
mod care;
mod dashboard;
mod history;
mod honest;
mod hostile_agent;
mod model;
mod races;
mod scene;
mod several;
mod turns;
