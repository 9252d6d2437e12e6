//! `countersign-door completion`: what a shell needs to complete commands.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

/// Prints a script that completes this program's commands and options in a shell.
///
/// bash: source it from ~/.bashrc. zsh: put it into a folder of $fpath as _countersign-door. fish: into
/// ~/.config/fish/completions/countersign-door.fish.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    let mut command = crate::CommandLine::command();
    clap_complete::generate(
        arguments.shell,
        &mut command,
        "countersign-door",
        &mut script,
    );
    super::put(&String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}
