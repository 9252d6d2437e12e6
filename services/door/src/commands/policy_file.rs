//! Files that commands read and write: a policy, a message, definitions.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use countersign_policy::Policy;

/// Longest message or list of definitions that a command reads, in bytes.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// A policy's text, and what it says. Variables are not filled in: a command that only judges
/// needs no secrets.
///
/// # Errors
/// What is wrong, with the file's name, line and column.
pub fn read_policy(path: &Path) -> anyhow::Result<(String, Policy)> {
    let yaml = read_text(path)?;
    let policy = Policy::load(&yaml).with_context(|| format!("read {}", path.display()))?;
    Ok((yaml, policy))
}

/// A file's text.
///
/// # Errors
/// When it cannot be read or is no UTF-8.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    let bytes = read_bytes(path)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => bail!("read {}: it is no UTF-8 text", path.display()),
    }
}

/// A file's bytes; `-` reads standard input.
///
/// # Errors
/// When it cannot be read or is too long.
pub fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = |input: &mut dyn std::io::Read, bytes: &mut Vec<u8>| {
        input.take(INPUT_BYTES_MAX + 1).read_to_end(bytes)
    };
    if path.as_os_str() == "-" {
        read(&mut std::io::stdin().lock(), &mut bytes).context("read standard input")?;
    } else {
        let file = std::fs::File::open(path);
        let mut file = file.with_context(|| format!("open {}", path.display()))?;
        read(&mut file, &mut bytes).with_context(|| format!("read {}", path.display()))?;
    }
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        bail!("read {}: longer than 16 MiB", path.display());
    }
    Ok(bytes)
}

/// Puts a file in the place of another, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn replace_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = Path::new(&beside);
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(beside)?;
        if let Ok(before) = std::fs::metadata(path) {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(beside, path)
    };
    write().with_context(|| format!("write {}", path.display()))
}
