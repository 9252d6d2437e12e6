//! Files and folders with the modes that the walls between users need.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::Context;

/// The SHA-256 of some bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(bytes))
}

/// Makes a folder and its parents, where missing, with `mode`.
///
/// # Errors
/// When the system refuses.
pub fn make_folder(path: &Path, mode: u32) -> anyhow::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .with_context(|| format!("make the folder {}", path.display()))
}

/// Sets a file's or folder's mode, whatever the umask took away.
///
/// # Errors
/// When the system refuses.
pub fn set_mode(path: &Path, mode: u32) -> anyhow::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("set the mode of {}", path.display()))
}

/// Writes a file that only its owner may read.
///
/// # Errors
/// When the system refuses.
pub fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("write {}", path.display()))
}

/// Gives `path` to a user and a group. Only root can.
///
/// # Errors
/// When the system refuses.
pub fn change_owner(path: &Path, uid: u32, gid: u32) -> anyhow::Result<()> {
    std::os::unix::fs::chown(path, Some(uid), Some(gid))
        .with_context(|| format!("give {} to user {uid}", path.display()))
}
