//! The page that checks in a browser what this command checks.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

/// The whole page, built from `web/verifier`.
const PAGE: &str = include_str!("../../../web/dist/verifier/verifier.html");

/// Writes the page to a new file, or prints it.
///
/// # Errors
/// When the file is there already or cannot be written.
pub fn write(out: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = out else {
        std::io::stdout().write_all(PAGE.as_bytes())?;
        return Ok(());
    };
    let mut file =
        File::create_new(path).with_context(|| format!("write the page to {}", path.display()))?;
    file.write_all(PAGE.as_bytes())?;
    println!(
        "{} checks receipts, proofs and logs: open it in a browser",
        path.display()
    );
    Ok(())
}
