//! The panel as a process, over a real database with the demo bank in it.

mod bank;
mod cards;
mod crash;
mod events;
mod flips;
mod guards;
mod holds;
mod languages;
mod limits;
mod name_checks;
mod notices;
mod older_copy;
mod operators;
mod pages;
mod passkeys;
mod races;
mod sessions;
mod undo;
