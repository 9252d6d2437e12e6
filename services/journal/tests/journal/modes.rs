//! What the three modes promise.

use std::sync::Barrier;

use countersign_journal::{Mode, Options, read_head_line};
use countersign_receipts::{Checkpoint, Follower};

use crate::place::{ORIGIN, Place, event, signer};

fn options(mode: Mode) -> Options {
    Options {
        mode,
        ..Options::default()
    }
}

#[test]
fn many_threads_write_one_chain_in_every_mode() {
    for mode in [Mode::Written, Mode::Durable, Mode::SignEach] {
        let place = Place::new("threads");
        let (journal, _) = place.open_with(options(mode)).unwrap();
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                let (journal, barrier) = (&journal, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for number in 0..20 {
                        journal.append(&event(thread * 100 + number)).unwrap();
                        if number == 10 {
                            journal.sign_head().unwrap();
                        }
                    }
                });
            }
        });
        journal.sign_head().unwrap();
        let (lines, signed) = place.audited();
        assert_eq!((lines.len(), signed), (160, 160));
    }
}

#[test]
fn every_line_has_a_signed_head_of_its_own_when_each_is_signed() {
    let place = Place::new("each");
    let small = Options {
        segment_bytes_max: 2_000,
        ..options(Mode::SignEach)
    };
    let (journal, _) = place.open_with(small).unwrap();
    for number in 0..40 {
        journal.append(&event(number)).unwrap();
    }
    journal.sign_head().unwrap();
    let mut roots = std::collections::BTreeMap::new();
    for path in place.files().all_heads().unwrap() {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let head = read_head_line(ORIGIN, line).unwrap();
            let head = Checkpoint::verify(&head.note, &signer(1).verifier()).unwrap();
            roots.insert(head.checkpoint.size, head.checkpoint.root);
        }
    }
    let mut follower = Follower::new();
    for path in place.files().all_lines().unwrap() {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let (_, payload) = follower.push(line.as_bytes()).unwrap();
            if payload["event"] == "allowed" {
                let size = follower.frontier().size();
                assert_eq!(roots.get(&size), Some(&follower.frontier().root()));
            }
        }
    }
    assert_eq!(roots.len(), 40);
    assert!(place.files().all_heads().unwrap().len() > 1);
}

#[test]
fn lines_noted_together_are_settled_together() {
    let place = Place::new("together");
    let (journal, _) = place.open_with(options(Mode::Durable)).unwrap();
    let tickets: Vec<_> = (0..5).map(|n| journal.note(&event(n)).unwrap()).collect();
    journal.settle(&tickets[4]).unwrap();
    for ticket in &tickets {
        journal.settle(ticket).unwrap();
    }
    journal.sign_head().unwrap();
    assert_eq!(place.audited().1, 5);
}

#[test]
fn what_is_noted_is_written_with_the_next_line_that_is_settled() {
    for mode in [Mode::Written, Mode::Durable, Mode::SignEach] {
        let place = Place::new("noted");
        let (journal, _) = place.open_with(options(mode)).unwrap();
        let length = || std::fs::metadata(place.path("decisions.jsonl")).map_or(0, |is| is.len());
        journal.append(&event(0)).unwrap();
        let before = length();
        let first = journal.note(&event(1)).unwrap();
        assert_eq!(length(), before);
        let second = journal.note(&event(2)).unwrap();
        journal.settle(&second).unwrap();
        let lines = place.text("decisions.jsonl");
        assert_eq!(lines.lines().count(), 3);
        assert!(first.is_settled_with(&second));
        let _ = journal.note(&event(3)).unwrap();
        journal.hand_over().unwrap();
        assert_eq!(place.text("decisions.jsonl").lines().count(), 4);
        let _ = journal.note(&event(4)).unwrap();
        drop(journal);
        let journal = place.open();
        journal.sign_head().unwrap();
        assert_eq!(place.audited().1, 5);
    }
}

#[test]
fn as_much_as_is_noted_it_is_written_in_bounded_pieces() {
    let place = Place::new("bounded");
    let (journal, _) = place.open_with(options(Mode::Written)).unwrap();
    for number in 0..8_000 {
        let _ = journal.note(&event(number)).unwrap();
    }
    let length = std::fs::metadata(place.path("decisions.jsonl"))
        .unwrap()
        .len();
    assert!(length > 256 << 10, "{length}");
    journal.sign_head().unwrap();
    assert_eq!(place.audited().1, 8_000);
}
