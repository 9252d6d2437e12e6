//! Which PostgreSQL programs to use.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The oldest PostgreSQL the schema runs on.
const MAJOR_MIN: u32 = 15;

/// A folder with `initdb` and `postgres`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    /// The folder.
    pub folder: PathBuf,
    /// The major version, such as 15.
    pub major: u32,
}

/// Finds PostgreSQL 15 or newer: the folder named by `COUNTERSIGN_PG_BIN`, else the newest that is
/// installed (by `pg_config`, on the path, in the folders of Debian, Fedora, Homebrew and Postgres.app).
///
/// # Errors
/// When the named folder holds none, or nothing is installed; the message says what to do.
pub fn find() -> anyhow::Result<Binaries> {
    if let Some(named) = std::env::var_os("COUNTERSIGN_PG_BIN") {
        return at(Path::new(&named))
            .with_context(|| format!("COUNTERSIGN_PG_BIN names {}", Path::new(&named).display()));
    }
    match newest(candidates()) {
        Some(found) => Ok(found),
        None => bail!(
            "no PostgreSQL {MAJOR_MIN} or newer is installed. {}",
            how_to_install()
        ),
    }
}

fn newest(folders: Vec<PathBuf>) -> Option<Binaries> {
    folders
        .iter()
        .filter_map(|folder| at(folder).ok())
        .max_by_key(|found| found.major)
}

/// The programs of one folder.
fn at(folder: &Path) -> anyhow::Result<Binaries> {
    for program in ["initdb", "postgres"] {
        if !folder.join(program).is_file() {
            bail!("there is no {program} in it");
        }
    }
    let said = Command::new(folder.join("postgres"))
        .arg("--version")
        .output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let major = parse_major(&said).with_context(|| format!("unknown version: {}", said.trim()))?;
    if major < MAJOR_MIN {
        bail!("it holds PostgreSQL {major}, and {MAJOR_MIN} or newer is needed");
    }
    Ok(Binaries {
        folder: folder.to_path_buf(),
        major,
    })
}

/// Reads `postgres (PostgreSQL) 15.18 (Debian …)`, and `17devel` or `18beta1` in place of the number.
fn parse_major(said: &str) -> Option<u32> {
    let version = said.split_once("(PostgreSQL) ")?.1;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn candidates() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Ok(said) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()));
    }
    if let Some(path) = std::env::var_os("PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    for (parent, inside) in [
        ("/usr/lib/postgresql", "bin"),
        ("/usr/local/pgsql", ""),
        ("/opt/homebrew/opt", "bin"),
        ("/usr/local/opt", "bin"),
        ("/Applications/Postgres.app/Contents/Versions", "bin"),
    ] {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path().join(inside)));
    }
    // Fedora and its kin: /usr/pgsql-16/bin.
    let entries = std::fs::read_dir("/usr").into_iter().flatten().flatten();
    folders.extend(
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("pgsql-"))
            .map(|entry| entry.path().join("bin")),
    );
    folders
}

/// The one command that helps on this system.
fn how_to_install() -> String {
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let has = |word: &str| system.to_ascii_lowercase().contains(word);
    let command = if cfg!(target_os = "macos") {
        "brew install postgresql@17"
    } else if has("debian") || has("ubuntu") {
        "sudo apt-get install postgresql"
    } else if has("fedora") || has("rhel") {
        "sudo dnf install postgresql-server"
    } else if has("alpine") {
        "apk add postgresql"
    } else if has("arch") {
        "sudo pacman -S postgresql"
    } else {
        "install PostgreSQL with your system's package manager"
    };
    format!(
        "Run `{command}`, or name a folder with its programs in COUNTERSIGN_PG_BIN, \
         or a server in DATABASE_URL"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_they_are_printed() {
        assert_eq!(
            parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"),
            Some(15)
        );
        assert_eq!(parse_major("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(parse_major("postgres (PostgreSQL) nine\n"), None);
        assert_eq!(parse_major(""), None);
    }

    #[test]
    fn a_folder_without_the_programs_is_refused_with_what_is_missing() {
        let error = at(Path::new("/")).expect_err("no programs there");
        assert_eq!(error.to_string(), "there is no initdb in it");
    }

    #[test]
    fn the_newest_wins_and_an_old_one_does_not_count() {
        let temporary =
            std::env::temp_dir().join(format!("countersign-find-{}", std::process::id()));
        let fake = |name: &str, version: &str| {
            use std::os::unix::fs::PermissionsExt;
            let folder = temporary.join(name);
            std::fs::create_dir_all(&folder).expect("folder");
            for program in ["initdb", "postgres"] {
                let path = folder.join(program);
                let script = format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n");
                std::fs::write(&path, script).expect("write");
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
                    .expect("executable");
            }
            folder
        };
        let folders = vec![
            fake("a", "15.2"),
            fake("b", "17.1"),
            fake("c", "16.0"),
            fake("d", "9.6"),
        ];
        assert_eq!(newest(folders.clone()).map(|found| found.major), Some(17));
        assert_eq!(newest(folders[3..].to_vec()), None);
        std::fs::remove_dir_all(temporary).expect("clean up");
    }
}
