//! Whole conversations with the built-in model, against a bank that is nothing but a list of answers.

mod bank;
mod honesty;
mod jobs;
mod money;
mod talk;
