//! `cargo xtask eval`: attacks and ordinary conversations against the real processes, and the report.

use std::process::Command;

use anyhow::Context;
use clap::Args;

/// What is handed on to the runner.
#[derive(Args, Debug)]
pub struct EvalArguments {
    /// Options of `countersign-eval run`, such as `--file FILE`, `--case ID`, `--out FOLDER`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs it. The runner builds the services that it needs and starts banks of its own.
///
/// # Errors
/// When something forbidden came true, or an ordinary customer did not get what they asked for.
pub fn run(arguments: &EvalArguments) -> anyhow::Result<()> {
    crate::cargo::run(command().args(&arguments.rest)).context("the report says what came true")
}

/// The runner, told to play; more options may follow.
pub fn command() -> Command {
    let mut command = crate::cargo::cargo();
    command.args([
        "run",
        "--quiet",
        "--package",
        "countersign-eval",
        "--",
        "run",
    ]);
    command
}
