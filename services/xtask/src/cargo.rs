//! Runs cargo in this checkout.

use std::process::Command;

use anyhow::{Context, ensure};
use countersign_testkit::checkout;

/// The cargo that runs this program, else the one on the path, at the checkout's root.
#[must_use]
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(checkout::root());
    // What cargo told this program about its own package must not reach another one's build.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started or says that it failed.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("start {shown}"))?;
    ensure!(status.success(), "{shown} ended with {status}");
    Ok(())
}
