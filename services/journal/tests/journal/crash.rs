//! A process that is killed in the middle of writing: what it answered for is there.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use countersign_journal::{Mode, Options};

use crate::place::{Place, event};

/// Set in the process that is going to be killed: the record's directory and the mode.
const VICTIM: &str = "COUNTERSIGN_JOURNAL_VICTIM";

fn mode_named(name: &str) -> Mode {
    match name {
        "durable" => Mode::Durable,
        "sign_each" => Mode::SignEach,
        _ => Mode::Written,
    }
}

/// Appends until it is killed, and says after each line that it is written.
fn victim(directory: &str, mode: &str) {
    let options = Options {
        mode: mode_named(mode),
        segment_bytes_max: 4_000,
        ..Options::default()
    };
    let place = Place {
        directory: directory.into(),
    };
    let (journal, _) = place.open_with(options).unwrap();
    for number in 0.. {
        journal.append(&event(number)).unwrap();
        eprintln!("appended {number}");
        if number % 7 == 0 {
            journal.sign_head().unwrap();
        }
    }
}

#[test]
fn what_was_answered_for_survives_a_killed_process() {
    if let Ok(victims) = std::env::var(VICTIM) {
        let (mode, directory) = victims.split_once(' ').unwrap();
        return victim(directory, mode);
    }
    for (round, mode) in ["written", "durable", "sign_each"]
        .iter()
        .cycle()
        .take(9)
        .enumerate()
    {
        let place = Place::new(&format!("crash-{round}"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "crash::what_was_answered_for_survives_a_killed_process",
            ])
            .env(VICTIM, format!("{mode} {}", place.directory.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let reader = std::thread::spawn(move || {
            let lines = said.lines().map_while(Result::ok);
            lines
                .filter_map(|line| line.strip_prefix("appended ")?.parse::<u64>().ok())
                .last()
        });
        std::thread::sleep(Duration::from_millis(60 + 13 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let answered = reader.join().unwrap();
        let options = Options {
            mode: mode_named(mode),
            ..Options::default()
        };
        let (journal, _) = place.open_with(options).unwrap();
        journal.append(&event(u64::MAX >> 12)).unwrap();
        journal.sign_head().unwrap();
        let (lines, signed) = place.audited();
        assert_eq!(lines.len() as u64, signed);
        let last = lines
            .iter()
            .rev()
            .skip(1)
            .find_map(|line| line["n"].as_u64());
        assert!(last >= answered, "{mode}: {last:?} of {answered:?}");
        assert!(
            answered.is_some(),
            "{mode}: nothing was written before it was killed"
        );
    }
}
