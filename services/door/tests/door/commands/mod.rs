//! The commands that need no running door, as somebody sees them at a terminal.

mod decide;
mod init;
mod lint;
mod pin;
mod screen;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::stand::fresh_directory;

/// A folder of a test's own, gone when the test is.
pub struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a command said, with folders and programs by short names.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// All of it, for a snapshot.
    pub fn whole(&self) -> String {
        let err = match self.err.as_str() {
            "" => String::new(),
            err => format!("--- standard error\n{err}"),
        };
        format!("exit code {}\n{}{err}", self.code, self.out)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }
}

impl Folder {
    pub fn new() -> Self {
        let directory = fresh_directory();
        std::fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a command in this folder. The environment is empty but for `PATH`, `HOME` and these.
    pub fn run(&self, arguments: &[&str], input: &str, env: &[(&str, &str)]) -> Said {
        let mut process = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .args(arguments)
            .current_dir(&self.0)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.0)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = process.stdin.take().unwrap();
        // A command that reads nothing may have ended by now.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = process.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            let folder = self.0.to_string_lossy().into_owned();
            text.replace(env!("CARGO_BIN_EXE_countersign-door"), "DOOR")
                .replace(&folder, "FOLDER")
        };
        Said {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

#[test]
fn a_reader_that_has_had_enough_changes_no_exit_code() {
    let folder = Folder::new();
    folder.write(
        "policy.yaml",
        "version: 1\nid: t\ndefault: deny\ntools: {pay: {}}\n",
    );
    let mut process = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
        .args(["lint", "--policy", "policy.yaml"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(process.stdout.take());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn every_shell_gets_its_completion() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = folder.run(&["completion", shell], "", &[]);
        assert_eq!(said.code, 0, "{shell}");
        assert!(said.out.contains("explain"), "{shell}");
    }
    let said = folder.run(&["completion", "cmd"], "", &[]);
    assert_eq!(said.code, 2);
}
