//! Doors that write records of one policy beside each other, where no folder is named.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use countersign_receipts::TrustedKeys;

use crate::piped::{policy, server_program};
use crate::stand::fresh_directory;

const ORIGIN: &str = "door.example/host";

struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        let home = Self(fresh_directory());
        std::fs::create_dir_all(&home.0).unwrap();
        std::fs::write(home.0.join("policy.yaml"), policy("")).unwrap();
        let keys = home.keys();
        let now = "2026-01-01T00:00:00Z";
        countersign_journal::keys::init(&keys, ORIGIN, false, now, &[3; 32]).unwrap();
        home
    }

    fn keys(&self) -> PathBuf {
        self.0.join("config/countersign-door/keys")
    }

    fn record(&self, number: usize) -> PathBuf {
        let folder = self.0.join("state/countersign-door/pipes");
        folder.join(number.to_string())
    }

    /// A door whose client has heard from it once.
    fn door(&self, words: &[&str]) -> Child {
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .arg("run")
            .arg("--policy")
            .arg(self.0.join("policy.yaml"))
            .args(words)
            .arg("--")
            .arg(server_program())
            .env("XDG_CONFIG_HOME", self.0.join("config"))
            .env("XDG_STATE_HOME", self.0.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        child.stdin.as_mut().unwrap().write_all(ping).unwrap();
        let mut line = String::new();
        let out = child.stdout.as_mut().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert!(line.contains("result"), "{line}");
        child
    }

    fn origin(record: &Path) -> String {
        let head = std::fs::read_to_string(record.join("decisions.checkpoint")).unwrap();
        head.lines().next().unwrap().to_owned()
    }
}

fn end(mut door: Child) {
    drop(door.stdin.take());
    assert!(door.wait().unwrap().success());
}

#[test]
fn each_record_has_an_origin_of_its_own_that_the_keys_vouch_for() {
    let home = Home::new();
    let (one, two) = (home.door(&[]), home.door(&[]));
    end(one);
    end(two);
    let origins = [1, 2].map(|number| Home::origin(&home.record(number)));
    assert_eq!(
        origins,
        [1, 2].map(|number| format!("{ORIGIN}/pipes/{number}"))
    );
    let keys = std::fs::read_to_string(home.keys().join("keys.json")).unwrap();
    let keys = TrustedKeys::read(&keys).unwrap();
    for number in [1, 2] {
        let head = home.record(number).join("decisions.checkpoint");
        assert!(keys.verify(&std::fs::read_to_string(head).unwrap()).is_ok());
    }
    // The next door goes on in the first one's folder, under its origin.
    end(home.door(&[]));
    assert_eq!(Home::origin(&home.record(1)), origins[0]);
    // A witness keeps what it saw of each apart.
    let witness = home.0.join("witness");
    let now = "2026-01-01T00:00:00Z";
    countersign_journal::keys::init(&witness, "witness.example/w", false, now, &[4; 32]).unwrap();
    for number in [1, 2, 1] {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .arg("witness")
            .arg("--record")
            .arg(home.record(number))
            .arg("--log-keys")
            .arg(home.keys().join("keys.json"))
            .arg("--keys")
            .arg(&witness)
            .arg("--state")
            .arg(home.0.join("seen"))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        assert!(errors.contains(&origins[number - 1]), "{errors}");
    }
}

#[test]
fn a_record_that_was_begun_under_the_keys_own_origin_keeps_it() {
    let home = Home::new();
    let first = home.record(1);
    let named = first.to_str().unwrap().to_owned();
    end(home.door(&["--log", &named]));
    assert_eq!(Home::origin(&first), ORIGIN);
    end(home.door(&[]));
    assert_eq!(Home::origin(&first), ORIGIN);
}
