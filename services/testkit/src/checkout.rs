//! Where this checkout lies.

use std::path::{Path, PathBuf};

/// The checkout's root folder, where the workspace's `Cargo.toml` stands.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
