//! Records that somebody changed: not opened, or found out by whoever reads all of it.

use countersign_journal::{Journal, LineReader, OpenError, Options, Read, WriteError};
use countersign_receipts::{Follower, LOG_LINE_BYTES_MAX};
use proptest::prelude::*;

use crate::place::{Place, copy, event, signer};

fn after(place: &Place, change: impl Fn(&str) -> String) -> OpenError {
    let path = place.path("decisions.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, change(&text)).unwrap();
    place.refused()
}

#[test]
fn a_record_that_was_cut_is_not_opened() {
    for lines in 0..5 {
        let cut = after(&Place::filled("cut", 5), |text| {
            text.split_inclusive('\n').take(lines).collect()
        });
        assert!(matches!(cut, OpenError::CutOrForked(_)), "{cut:?}");
    }
    let last = after(&Place::filled("last", 5), |text| {
        text.replace(r#""n":4"#, r#""n":7"#)
    });
    assert!(matches!(last, OpenError::CutOrForked(_)), "{last:?}");
    // The state alone rolled back: the head beside it says more.
    let place = Place::filled("state", 5);
    let state = place.text("decisions.state");
    let journal = place.open();
    journal.append(&event(5)).unwrap();
    journal.sign_head().unwrap();
    drop(journal);
    std::fs::write(place.path("decisions.state"), state).unwrap();
    let cut = after(&place, |text| text.split_inclusive('\n').take(5).collect());
    assert!(matches!(cut, OpenError::CutOrForked(_)), "{cut:?}");
}

#[test]
fn a_state_that_its_head_does_not_vouch_for_is_not_believed() {
    let place = Place::filled("forged-state", 5);
    // Another past of the same length, whose state is given the signed head of the true one.
    let other = Place::new("forged-state-other");
    let journal = other.open();
    for number in 0..5 {
        journal.append(&event(number + 100)).unwrap();
    }
    journal.sign_head().unwrap();
    drop(journal);
    let (fields, _) = other
        .text("decisions.state")
        .split_once("\n\n")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let forged = format!("{fields}\n\n{}", place.text("decisions.checkpoint"));
    std::fs::write(place.path("decisions.state"), forged).unwrap();
    std::fs::copy(other.path("decisions.jsonl"), place.path("decisions.jsonl")).unwrap();
    let refused = place.refused();
    assert!(matches!(refused, OpenError::CutOrForked(_)), "{refused:?}");
    // Nor when the head beside it is taken away.
    std::fs::remove_file(place.path("decisions.checkpoint")).unwrap();
    let refused = place.refused();
    assert!(matches!(refused, OpenError::NoHead(_)), "{refused:?}");
}

#[test]
fn a_changed_tail_is_not_opened() {
    let place = Place::filled("tail-changed", 5);
    let journal = place.open();
    for number in 5..9 {
        journal.append(&event(number)).unwrap();
    }
    drop(journal);
    let broken = after(&place, |text| text.replace(r#""n":6"#, r#""n":7"#));
    assert!(matches!(broken, OpenError::Broken { .. }), "{broken:?}");
}

#[test]
fn another_keys_record_and_one_without_its_head_are_not_opened() {
    let place = Place::filled("other", 5);
    let other = Journal::open(&place.directory, signer(2)).err().unwrap();
    assert!(matches!(other, OpenError::Head { .. }), "{other:?}");
    std::fs::remove_file(place.path("decisions.checkpoint")).unwrap();
    std::fs::remove_file(place.path("decisions.state")).unwrap();
    let headless = place.refused();
    assert!(matches!(headless, OpenError::NoHead(_)), "{headless:?}");
}

#[test]
fn a_record_has_a_head_before_its_first_line() {
    let place = Place::new("first-head");
    let journal = place.open();
    for number in 0..3 {
        journal.append(&event(number)).unwrap();
    }
    drop(journal);
    // A run that ended before it signed a head: its lines are followed from the one over nothing.
    assert!(place.text("decisions.checkpoint").contains("\n0\n"));
    place.open();
    std::fs::remove_file(place.path("decisions.checkpoint")).unwrap();
    std::fs::remove_file(place.path("decisions.state")).unwrap();
    let headless = place.refused();
    assert!(matches!(headless, OpenError::NoHead(_)), "{headless:?}");
}

#[test]
fn two_doors_do_not_write_one_record() {
    let place = Place::filled("locked", 1);
    let _first = place.open();
    let second = place.refused();
    assert!(matches!(second, OpenError::InUse(_)), "{second:?}");
}

#[test]
fn a_line_that_no_verifier_would_read_is_not_written() {
    let place = Place::filled("long-line", 1);
    let journal = place.open();
    let long = serde_json::json!({"x": "x".repeat(LOG_LINE_BYTES_MAX)});
    assert!(matches!(journal.append(&long), Err(WriteError::TooLong)));
    let own = serde_json::json!({"sequence": 9});
    assert!(matches!(journal.append(&own), Err(WriteError::Payload(_))));
    journal.append(&event(1)).unwrap();
    journal.sign_head().unwrap();
    drop(journal);
    place.open();
}

/// Whether a whole reading of the changed lines would still be taken for the signed record.
fn passes(place: &Place, bytes: &[u8]) -> bool {
    let path = place.path("changed");
    std::fs::write(&path, bytes).unwrap();
    let mut reader = LineReader::new(std::fs::File::open(&path).unwrap(), 0).unwrap();
    let mut follower = Follower::new();
    loop {
        match reader.read().unwrap() {
            Read::Line(line) if follower.push(line).is_ok() => {}
            Read::End => break,
            _ => return false,
        }
    }
    let head = place.text("decisions.checkpoint");
    let head = countersign_receipts::Checkpoint::verify(&head, &signer(1).verifier()).unwrap();
    (follower.frontier().size(), follower.frontier().root())
        == (head.checkpoint.size, head.checkpoint.root)
}

#[test]
fn every_flipped_byte_is_found() {
    let place = Place::filled("flip", 4);
    let whole = std::fs::read(place.path("decisions.jsonl")).unwrap();
    assert!(passes(&place, &whole));
    for at in 0..whole.len() {
        for bit in [1, 0x20, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= bit;
            assert!(!passes(&place, &bytes), "byte {at}, bit {bit}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_dropped_doubled_or_moved_are_found(order in prop::collection::vec(0..8_usize, 0..10)) {
        let place = Place::filled("order", 8);
        let text = place.text("decisions.jsonl");
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let changed: String = order.iter().map(|line| lines[*line]).collect();
        prop_assert_eq!(passes(&place, changed.as_bytes()), changed == text);
    }

    #[test]
    fn no_bytes_in_any_file_make_opening_panic(
        file in prop::sample::select(vec!["decisions.jsonl", "decisions.state", "decisions.checkpoint", "decisions.heads"]),
        at in any::<prop::sample::Index>(),
        with in prop::collection::vec(any::<u8>(), 0..40),
        drop_rest in any::<bool>(),
    ) {
        let place = Place::filled("any-bytes", 3);
        let mut bytes = std::fs::read(place.path(file)).unwrap_or_default();
        let at = at.index(bytes.len() + 1);
        if drop_rest { bytes.truncate(at) }
        bytes.splice(at..at, with);
        std::fs::write(place.path(file), bytes).unwrap();
        let mode = countersign_journal::Mode::SignEach;
        let opened = place.open_with(Options { mode, ..Options::default() });
        if let Ok((journal, _)) = opened {
            journal.append(&event(9)).unwrap();
            journal.sign_head().unwrap();
        }
    }
}

#[test]
fn a_fork_is_not_the_signed_record() {
    let place = Place::filled("fork", 6);
    let other = Place::new("fork-other");
    copy(&place.directory, &other.directory);
    let (first, second) = (place.open(), other.open());
    for number in 6..9 {
        first.append(&event(number)).unwrap();
        second.append(&event(number + 1)).unwrap();
    }
    first.sign_head().unwrap();
    let forked = std::fs::read(other.path("decisions.jsonl")).unwrap();
    assert!(!passes(&place, &forked));
}
