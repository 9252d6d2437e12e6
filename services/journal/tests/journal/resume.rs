//! Going on where a record ended, at a price that does not grow with it.

use std::time::Instant;

use countersign_journal::{Journal, Options};

use crate::place::{Place, event, signer};

#[test]
fn a_record_goes_on_where_it_ended() {
    let place = Place::filled("goes-on", 3);
    let journal = place.open();
    journal.append(&event(3)).unwrap();
    journal.sign_head().unwrap();
    let (lines, signed) = place.audited();
    assert_eq!((lines.len(), signed), (4, 4));
    assert_eq!(lines[3]["sequence"], 3);
}

#[test]
fn lines_behind_the_last_head_are_followed() {
    let place = Place::filled("tail", 5);
    let journal = place.open();
    for number in 5..9 {
        journal.append(&event(number)).unwrap();
    }
    drop(journal);
    let journal = place.open();
    journal.append(&event(9)).unwrap();
    journal.sign_head().unwrap();
    assert_eq!(place.audited().1, 10);
}

#[test]
fn an_unfinished_last_line_is_cut_off() {
    for (name, rest) in [
        ("torn", &b"{\"event\":\"allo"[..]),
        ("zeros", &[0; 200_000][..]),
    ] {
        let place = Place::filled(name, 2);
        let path = place.path("decisions.jsonl");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(rest);
        std::fs::write(&path, bytes).unwrap();
        let (journal, torn) = place.open_with(Options::default()).unwrap();
        assert_eq!(torn, rest.len() as u64);
        journal.append(&event(2)).unwrap();
        journal.sign_head().unwrap();
        drop(journal);
        assert_eq!(place.audited().1, 3);
    }
}

#[test]
fn a_lost_state_is_made_again_from_the_lines() {
    let place = Place::filled("lost-state", 7);
    for text in [None, Some(""), Some("countersign-record-state/v1\n\nx")] {
        match text {
            None => std::fs::remove_file(place.path("decisions.state")).unwrap(),
            Some(text) => std::fs::write(place.path("decisions.state"), text).unwrap(),
        }
        let journal = place.open();
        journal.append(&event(0)).unwrap();
        journal.sign_head().unwrap();
    }
    assert_eq!(place.audited().1, 10);
}

fn small_segments() -> Options {
    Options {
        segment_bytes_max: 1_000,
        ..Options::default()
    }
}

#[test]
fn a_full_file_is_set_aside_and_the_chain_goes_on() {
    let place = Place::new("aside");
    for run in 0..4 {
        let (journal, _) = place.open_with(small_segments()).unwrap();
        for number in 0..10 {
            journal.append(&event(number)).unwrap();
            if number == 3 + run {
                journal.sign_head().unwrap();
            }
        }
        // The end of a run without a last head: the tail runs over several files.
    }
    let (journal, _) = place.open_with(small_segments()).unwrap();
    journal.append(&event(0)).unwrap();
    journal.sign_head().unwrap();
    let files = place.files().all_lines().unwrap();
    assert!(files.len() > 4, "{files:?}");
    let (lines, signed) = place.audited();
    assert_eq!(lines.len() as u64, signed);
    let opened = lines
        .iter()
        .filter(|line| line["event"] == "segment_opened");
    assert_eq!(opened.count(), files.len() - 1);
    // Without its state the same record is read file by file.
    drop(journal);
    std::fs::remove_file(place.path("decisions.state")).unwrap();
    let (journal, _) = place.open_with(small_segments()).unwrap();
    journal.append(&event(1)).unwrap();
    journal.sign_head().unwrap();
    assert_eq!(place.audited().1, signed + 1);
}

#[test]
fn a_crash_between_the_names_of_two_files_is_finished() {
    let place = Place::new("between");
    let (journal, _) = place.open_with(small_segments()).unwrap();
    journal.append(&event(0)).unwrap();
    journal.sign_head().unwrap();
    while place.files().all_lines().unwrap().len() < 3 {
        journal.append(&event(1)).unwrap();
    }
    drop(journal);
    std::fs::rename(place.path("decisions.jsonl"), place.path("decisions.next")).unwrap();
    let (journal, _) = place.open_with(small_segments()).unwrap();
    journal.append(&event(2)).unwrap();
    journal.sign_head().unwrap();
    place.audited();
}

#[test]
fn another_key_goes_on_and_says_so() {
    let place = Place::filled("key", 3);
    let options = Options {
        earlier_keys: vec![signer(1).verifier()],
        ..Options::default()
    };
    assert!(Journal::open(&place.directory, signer(2)).is_err());
    let (journal, _) = Journal::open_with(&place.directory, signer(2), options).unwrap();
    journal.sign_head().unwrap();
    let text = place.text("decisions.jsonl");
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "key_changed");
    assert_eq!(last["from"], signer(1).verifier().line());
    assert_eq!(last["to"], signer(2).verifier().line());
    drop(journal);
    // From here on the new key alone is enough.
    assert!(Journal::open(&place.directory, signer(2)).is_ok());
}

#[test]
fn opening_costs_the_same_after_a_hundred_thousand_lines() {
    let fastest = |place: &Place| {
        (0..5)
            .map(|_| {
                let begun = Instant::now();
                drop(place.open());
                begun.elapsed()
            })
            .min()
            .unwrap()
    };
    let short = fastest(&Place::filled("short", 10));
    let long = Place::filled("long", 100_000);
    let opened = fastest(&long);
    assert!(
        opened < short * 10 + std::time::Duration::from_millis(2),
        "{opened:?} against {short:?}"
    );
    // What that spares: the same without the state.
    let begun = Instant::now();
    std::fs::remove_file(long.path("decisions.state")).unwrap();
    drop(long.open());
    assert!(begun.elapsed() > opened * 10, "the whole record was read");
}
