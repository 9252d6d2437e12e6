//! Disks that are full, files that are gone: refused while it lasts, and back by itself.

use countersign_journal::{Journal, Mode, Options, WriteError};
use countersign_receipts::{Follower, leaf_hash};

use crate::place::{Place, copy, event};

const MODES: [Mode; 3] = [Mode::Written, Mode::Durable, Mode::SignEach];

/// Longer than a record takes a file that was in its place to be there still.
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(1));
}

fn in_mode(place: &Place, mode: Mode) -> Journal {
    let options = Options {
        mode,
        ..Options::default()
    };
    place.open_with(options).unwrap().0
}

/// Set in the process of its own that the limit is for; it would stop every other test here too.
const ALONE: &str = "COUNTERSIGN_JOURNAL_LIMIT_TEST";

#[test]
fn a_file_that_may_not_grow_refuses_until_it_may() {
    if std::env::var_os(ALONE).is_none() {
        let alone = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "sink::a_file_that_may_not_grow_refuses_until_it_may",
            ])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&alone.stdout);
        assert!(
            alone.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    for mode in MODES {
        let place = Place::filled("full", 1);
        let journal = in_mode(&place, mode);
        journal.append(&event(1)).unwrap();
        let length = std::fs::metadata(place.path("decisions.jsonl"))
            .unwrap()
            .len();
        // Half a line more is all there is room for, as on a disk that fills up.
        let guard = limits::FileSize::limit(length + 40);
        for _ in 0..3 {
            let refused = journal.append(&event(2)).unwrap_err();
            assert!(matches!(refused, WriteError::Disk(_)), "{refused:?}");
        }
        assert_eq!(
            std::fs::metadata(place.path("decisions.jsonl"))
                .unwrap()
                .len(),
            length
        );
        drop(guard);
        journal.append(&event(3)).unwrap();
        journal.sign_head().unwrap();
        let (lines, signed) = place.audited();
        assert_eq!(lines.len() as u64, signed);
        assert_eq!(lines[lines.len() - 2]["event"], "log_recovered");
        assert_eq!(lines[lines.len() - 2]["refused"], 3);
        drop(journal);
        place.open();
    }
}

#[test]
fn a_record_that_was_moved_away_refuses_until_it_is_back() {
    for mode in MODES {
        let place = Place::filled("moved", 3);
        let journal = in_mode(&place, mode);
        let away = Place::new("moved-away");
        std::fs::rename(&place.directory, &away.directory).unwrap();
        pause();
        let refused = journal.append(&event(3)).unwrap_err();
        assert!(matches!(refused, WriteError::Gone(_)), "{refused:?}");
        assert!(journal.sign_head().is_err());
        std::fs::rename(&away.directory, &place.directory).unwrap();
        journal.sign_head().unwrap();
        journal.append(&event(3)).unwrap();
        journal.sign_head().unwrap();
        let (lines, signed) = place.audited();
        assert_eq!((lines.len(), signed), (5, 5));
    }
}

#[test]
fn an_older_copy_in_its_place_is_not_written_to() {
    let place = Place::filled("replaced", 3);
    let older = Place::new("replaced-older");
    copy(&place.directory, &older.directory);
    let journal = place.open();
    journal.append(&event(3)).unwrap();
    let away = Place::new("replaced-away");
    std::fs::rename(&place.directory, &away.directory).unwrap();
    copy(&older.directory, &place.directory);
    pause();
    let refused = journal.append(&event(4)).unwrap_err();
    assert!(matches!(refused, WriteError::Replaced(_)), "{refused:?}");
    assert!(journal.sign_head().is_err());
}

#[test]
fn a_record_that_is_lost_goes_on_from_what_was_signed_and_says_what_is_missing() {
    for mode in MODES {
        let place = Place::filled("lost", 5);
        let earlier = place.text("decisions.checkpoint");
        let journal = in_mode(&place, mode);
        std::fs::remove_dir_all(&place.directory).unwrap();
        pause();
        assert!(matches!(
            journal.append(&event(5)),
            Err(WriteError::Gone(_))
        ));
        std::fs::create_dir_all(&place.directory).unwrap();
        journal.append(&event(5)).unwrap();
        journal.sign_head().unwrap();
        let text = place.text("decisions.jsonl");
        let first = text.lines().next().unwrap();
        let opening: serde_json::Value = serde_json::from_str(first).unwrap();
        assert_eq!(
            (&opening["event"], &opening["lost"]),
            (&"log_resumed".into(), &5.into())
        );
        // What is left can be checked by itself, and begins where the earlier head ended.
        let before = countersign_journal::frontier_before(first.as_bytes()).unwrap();
        assert!(earlier.contains(&before.root().to_base64()));
        let (lines, signed) = place.audited_from(Follower::from_frontier(before));
        assert_eq!((lines.len(), signed), (3, 8));
        drop(journal);
        let journal = place.open();
        journal.append(&event(6)).unwrap();
    }
}

#[test]
fn nothing_is_appended_while_heads_cannot_be_signed() {
    let place = Place::filled("no-head", 1);
    let journal = place.open();
    journal.append(&event(1)).unwrap();
    // A directory in the head's place: the rename fails.
    let head = place.path("decisions.checkpoint");
    std::fs::remove_file(&head).unwrap();
    std::fs::create_dir_all(head.join("in the way")).unwrap();
    assert!(journal.sign_head().is_err());
    assert!(matches!(
        journal.append(&event(2)),
        Err(WriteError::OutOfOrder)
    ));
    std::fs::remove_dir_all(&head).unwrap();
    journal.sign_head().unwrap();
    journal.append(&event(2)).unwrap();
    journal.sign_head().unwrap();
    place.audited();
}

#[test]
fn a_head_that_cannot_be_kept_refuses_the_line_it_is_for() {
    let place = Place::filled("no-heads", 1);
    let journal = in_mode(&place, Mode::SignEach);
    let heads = place.path("decisions.heads");
    std::fs::remove_file(&heads).unwrap();
    std::fs::create_dir(&heads).unwrap();
    assert!(journal.append(&event(1)).is_err());
    std::fs::remove_dir(&heads).unwrap();
    let leaf = journal.append(&event(2)).unwrap();
    let text = place.text("decisions.jsonl");
    assert_eq!(leaf, leaf_hash(text.lines().last().unwrap().as_bytes()));
}

#[test]
fn what_could_not_be_handed_over_is_told_to_everybody_who_waits_and_counted() {
    for mode in MODES {
        let place = Place::filled("taken-back", 2);
        let journal = in_mode(&place, mode);
        let waiting: Vec<_> = (0..3).map(|n| journal.note(&event(n)).unwrap()).collect();
        let away = Place::new("taken-back-away");
        std::fs::rename(&place.directory, &away.directory).unwrap();
        pause();
        let refused = journal.settle(&waiting[1]).unwrap_err();
        assert!(matches!(refused, WriteError::Gone(_)), "{refused:?}");
        std::fs::rename(&away.directory, &place.directory).unwrap();
        // A line of the same number that is written now is not the one they wait for.
        let later = journal.note(&event(9)).unwrap();
        journal.settle(&later).unwrap();
        for ticket in &waiting {
            let told = journal.settle(ticket);
            assert!(matches!(told, Err(WriteError::Unsettled)), "{told:?}");
            assert!(!ticket.is_settled_with(&later));
        }
        journal.sign_head().unwrap();
        let (lines, signed) = place.audited();
        assert_eq!((lines.len(), signed), (4, 4));
        assert_eq!(lines[2]["event"], "log_recovered");
        assert_eq!(lines[2]["refused"], 3);
    }
}

mod limits {
    //! A limit on the size of files, for this thread's own process.

    /// Puts the limit back when it goes.
    pub struct FileSize(rustix::process::Rlimit);

    impl FileSize {
        pub fn limit(bytes: u64) -> Self {
            use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
            let before = getrlimit(Resource::Fsize);
            setrlimit(
                Resource::Fsize,
                Rlimit {
                    current: Some(bytes),
                    maximum: before.maximum,
                },
            )
            .unwrap();
            Self(before)
        }
    }

    impl Drop for FileSize {
        fn drop(&mut self) {
            rustix::process::setrlimit(rustix::process::Resource::Fsize, self.0).unwrap();
        }
    }
}
