//! Key files: made by hand, refused when anything about them is not right.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign_journal::keys::{self, KeyRing, KeysError};
use countersign_journal::{Journal, OpenError, Options};
use countersign_receipts::permission::KeyStatus;

use crate::place::{ORIGIN, Place, event};

const NOW: &str = "2026-11-30T08:00:00.000Z";

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn made(name: &str) -> Place {
    let place = Place::new(name);
    keys::init(&place.directory, ORIGIN, false, NOW, &[1; 32]).unwrap();
    place
}

fn private(place: &Place) -> std::path::PathBuf {
    let ring = KeyRing::open(&place.directory, true).unwrap();
    place.path(&format!("{}.key", ring.signer.key_id()))
}

#[test]
fn keys_are_made_for_their_owner_alone() {
    let place = made("keys-made");
    let bits = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(bits(&place.directory), 0o700);
    assert_eq!(bits(&private(&place)), 0o600);
    let ring = KeyRing::open(&place.directory, false).unwrap();
    assert_eq!(ring.signer.origin(), ORIGIN);
    let again = keys::init(&place.directory, ORIGIN, false, NOW, &[2; 32]);
    assert!(matches!(again, Err(KeysError::Exists(_))));
    // What is for everybody holds nothing of what is not.
    let public = place.text("keys.json");
    assert!(!public.contains("PRIVATE"), "{public}");
}

#[test]
fn no_key_and_an_exposed_or_mismatched_one_are_refused() {
    let place = Place::new("keys-none");
    let none = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(none, KeysError::None(_)));
    assert!(none.to_string().contains("keys init"));
    assert!(!place.directory.exists(), "nothing is made unasked");

    let place = made("keys-refused");
    let key = private(&place);
    for exposed in [0o640, 0o604, 0o620, 0o644] {
        mode(&key, exposed);
        let refused = KeyRing::open(&place.directory, false).unwrap_err();
        assert!(matches!(refused, KeysError::Exposed(_)), "{exposed:o}");
    }
    mode(&key, 0o600);
    mode(&place.path("keys.json"), 0o664);
    let refused = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(refused, KeysError::Exposed(_)));
    // Reading it is for everybody.
    mode(&place.path("keys.json"), 0o644);
    assert!(KeyRing::open(&place.directory, false).is_ok());
    mode(&place.directory, 0o770);
    let refused = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(refused, KeysError::Exposed(_)));
    mode(&place.directory, 0o700);

    let other = made("keys-other");
    keys::rotate(&other.directory, NOW, &[9; 32]).unwrap();
    std::fs::copy(private(&other), &key).unwrap();
    let refused = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(refused, KeysError::Mismatched(_)), "{refused}");
    std::fs::write(&key, "{}").unwrap();
    let refused = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(refused, KeysError::Malformed { .. }));
    std::fs::remove_file(&key).unwrap();
    assert!(KeyRing::open(&place.directory, false).is_err());
}

#[test]
fn a_demo_key_is_refused_outside_demos_and_stays_one() {
    let place = Place::new("keys-demo");
    keys::init(&place.directory, ORIGIN, true, NOW, &[1; 32]).unwrap();
    let refused = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(refused, KeysError::Demo(_)));
    assert!(
        KeyRing::open(&place.directory, true)
            .unwrap()
            .signer
            .is_demo()
    );
    keys::rotate(&place.directory, NOW, &[2; 32]).unwrap();
    assert!(KeyRing::open(&place.directory, false).is_err());
}

fn options(ring: &KeyRing) -> Options {
    Options {
        earlier_keys: ring.earlier.clone(),
        ..Options::default()
    }
}

#[test]
fn a_rotation_is_in_the_record_with_the_old_keys_word() {
    let place = made("keys-rotated");
    let log = Place::new("keys-rotated-log");
    let open = || {
        let ring = KeyRing::open(&place.directory, false).unwrap();
        let options = options(&ring);
        Journal::open_with(&log.directory, ring.signer, options)
    };
    let (journal, _) = open().unwrap();
    journal.append(&event(0)).unwrap();
    journal.sign_head().unwrap();
    drop(journal);
    let entry = keys::rotate(&place.directory, NOW, &[2; 32]).unwrap();
    let ring = KeyRing::open(&place.directory, false).unwrap();
    assert_eq!(ring.set.keys[0].status, KeyStatus::Rotated);
    let word = entry.endorsed_by.as_deref().unwrap();
    assert!(ring.earlier[0].endorsed(&entry.public_key_b64, word));
    assert!(!ring.earlier[0].endorsed(&ring.set.keys[0].public_key_b64, word));
    let (journal, _) = open().unwrap();
    journal.sign_head().unwrap();
    drop(journal);
    let text = log.text("decisions.jsonl");
    assert!(
        text.lines().last().unwrap().contains("key_changed"),
        "{text}"
    );
}

#[test]
fn a_revoked_key_opens_nothing() {
    let place = made("keys-revoked");
    let log = Place::new("keys-revoked-log");
    let ring = KeyRing::open(&place.directory, false).unwrap();
    let key_id = ring.signer.key_id().to_owned();
    let (journal, _) = Journal::open(&log.directory, ring.signer).unwrap();
    journal.append(&event(0)).unwrap();
    journal.sign_head().unwrap();
    drop(journal);
    keys::revoke(&place.directory, &key_id, NOW).unwrap();
    let refused = KeyRing::open(&place.directory, false).unwrap_err();
    assert!(matches!(refused, KeysError::Revoked(_)));
    let entry = keys::rotate(&place.directory, NOW, &[2; 32]).unwrap();
    assert_eq!(
        entry.endorsed_by, None,
        "a revoked key's word is worth nothing"
    );
    // Nor is what it signed: the record goes on elsewhere.
    let ring = KeyRing::open(&place.directory, false).unwrap();
    let options = options(&ring);
    let refused = Journal::open_with(&log.directory, ring.signer, options).err();
    assert!(matches!(refused, Some(OpenError::Head { .. })));
    let unknown = keys::revoke(&place.directory, "nobody", NOW);
    assert!(matches!(unknown, Err(KeysError::Unknown(_))));
}
