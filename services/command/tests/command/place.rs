//! A folder of a test's own, and the program run in it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that ends with the test.
pub struct Place(pub PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a run said.
pub struct Said {
    /// Whether it did what it was asked.
    pub done: bool,
    /// Both its outputs.
    pub text: String,
}

impl Place {
    /// An empty folder.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!(
            "countersign-command-{}-{number}",
            std::process::id()
        ));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    /// A path in it, as an argument.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Runs `countersign` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(arguments)
            .output()
            .expect("it starts");
        let text = [output.stdout, output.stderr].concat();
        Said {
            done: output.status.success(),
            text: String::from_utf8_lossy(&text).into_owned(),
        }
    }

    /// The same, and it must do it.
    pub fn must(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert!(said.done, "{arguments:?}: {}", said.text);
        said.text
    }

    /// The same, and it must refuse in these words.
    pub fn refuses(&self, arguments: &[&str], words: &str) {
        let said = self.run(arguments);
        assert!(
            !said.done && said.text.contains(words),
            "{arguments:?}: {}",
            said.text
        );
    }

    /// Keys of a bank.
    pub fn with_keys() -> Self {
        let place = Self::new();
        let folder = place.path("keys");
        place.must(&[
            "keys",
            "init",
            "--folder",
            &folder,
            "--origin",
            "bank.example",
        ]);
        place
    }
}
