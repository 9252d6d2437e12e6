//! Keys by hand.

use countersign_journal::keys::KeyRing;
use countersign_keys::{JwkSet, read_set};

use crate::place::Place;

const KINDS: [&str; 4] = ["session", "request", "receipt", "checkpoint"];

fn set(place: &Place, kind: &str) -> JwkSet {
    read_set(&place.0.join("keys").join(kind).join("jwks.json")).expect("a set")
}

#[test]
fn each_kind_has_a_key_of_its_own_in_one_form_of_files() {
    let place = Place::with_keys();
    let folder = place.path("keys");
    let shown = place.must(&["keys", "show", "--folder", &folder]);
    let mut seen = Vec::new();
    for kind in KINDS {
        let keys = set(&place, kind).keys;
        assert_eq!(keys.len(), 1, "{kind}");
        assert!(
            place
                .0
                .join("keys")
                .join(kind)
                .join(format!("{}.key", keys[0].kid))
                .exists()
        );
        assert!(
            shown.contains(&format!("{}  signs since", keys[0].kid)),
            "{shown}"
        );
        seen.push(keys[0].x.clone());
        let json = place.must(&["keys", "show", "--folder", &folder, "--json", kind]);
        assert!(
            json.contains("\"kty\": \"OKP\"") && !json.contains("PRIVATE"),
            "{json}"
        );
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), KINDS.len(), "no key signs two things");
    place.refuses(
        &[
            "keys",
            "init",
            "--folder",
            &folder,
            "--origin",
            "bank.example",
        ],
        "is there already",
    );
}

#[test]
fn a_key_is_replaced_with_an_overlap_and_revoked_at_once() {
    let place = Place::with_keys();
    let folder = place.path("keys");
    let first = set(&place, "session").keys[0].kid.clone();
    place.refuses(
        &[
            "keys",
            "rotate",
            "--folder",
            &folder,
            "session",
            "--overlap-seconds",
            "60",
        ],
        "shorter than a token's life",
    );
    let said = place.must(&[
        "keys",
        "rotate",
        "--folder",
        &folder,
        "session",
        "--overlap-seconds",
        "600",
    ]);
    assert!(said.contains("it signs from"), "{said}");
    let keys = set(&place, "session").keys;
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0].exp, Some(keys[1].nbf + 600));
    place.must(&["keys", "revoke", "--folder", &folder, "session", &first]);
    let said = place.must(&[
        "keys",
        "revoke",
        "--folder",
        &folder,
        "session",
        &keys[1].kid,
    ]);
    assert!(said.contains("Nothing signs now"), "{said}");
    let shown = place.must(&["keys", "show", "--folder", &folder]);
    assert!(
        shown.contains("NOTHING SIGNS") && shown.contains("revoked"),
        "{shown}"
    );
    place.must(&["keys", "rotate", "--folder", &folder, "session"]);
    assert!(
        !place
            .must(&["keys", "show", "--folder", &folder])
            .contains("NOTHING")
    );
    place.refuses(
        &[
            "keys",
            "revoke",
            "--folder",
            &folder,
            "session",
            "session-0",
        ],
        "no key of this name",
    );
}

#[test]
fn a_log_key_that_is_replaced_vouches_for_the_next_and_stays_good_for_what_it_signed() {
    let place = Place::with_keys();
    let folder = place.path("keys");
    let receipts = place.0.join("keys").join("receipt");
    let first = KeyRing::open(&receipts, false).expect("keys");
    place.must(&["keys", "rotate", "--folder", &folder, "receipt"]);
    let ring = KeyRing::open(&receipts, false).expect("keys");
    assert_ne!(ring.signer.key_id(), first.signer.key_id());
    assert_eq!(
        (ring.earlier.len(), ring.signer.origin()),
        (1, "bank.example/door")
    );
    assert_eq!(set(&place, "receipt").keys.len(), 2);
    place.refuses(
        &[
            "keys",
            "rotate",
            "--folder",
            &folder,
            "receipt",
            "--overlap-seconds",
            "600",
        ],
        "stays good",
    );
    place.must(&[
        "keys",
        "revoke",
        "--folder",
        &folder,
        "receipt",
        ring.signer.key_id(),
    ]);
    assert!(
        KeyRing::open(&receipts, false).is_err(),
        "a revoked key signs nothing"
    );
    assert!(set(&place, "receipt").keys[1].revoked.is_some());
}
