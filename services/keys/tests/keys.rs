//! Keys that change under whoever uses them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_domain::{ConversationId, CustomerId, Secret};
use countersign_identity::{
    SESSION_LIFETIME_SECONDS_MAX, SessionClaims, TokenId, TurnId, sign_session, verify_session,
};
use countersign_keys::{
    FolderOfKeys, JwksFile, KeysError, Overlap, STALE_SECONDS_MAX, Signer, SigningKeySource,
    Verifier, VerifyingKeySource, init, private_file, public_file, read_set, revoke, rotate,
};

const NOW: u64 = 1_800_000_000;
/// From a rotation to the new key's first signature.
const LEAD: u64 = 10;
const OVERLAP: u64 = SESSION_LIFETIME_SECONDS_MAX + 7;

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Place {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("countersign-keys-{}-{number}", std::process::id()));
        let place = Self(folder);
        init(&place.0, "session", NOW, &[1; 32]).unwrap();
        place
    }

    fn folder(&self) -> &Path {
        &self.0
    }

    fn signer(&self) -> Result<Signer, KeysError> {
        let folder = self.0.clone();
        Signer::open(&SigningKeySource::Folder(FolderOfKeys { folder }), NOW)
    }

    fn verifier(&self) -> Verifier {
        let jwks_file = public_file(&self.0);
        Verifier::open(VerifyingKeySource::File(JwksFile { jwks_file }), NOW).unwrap()
    }

    fn rotate(&self, now: u64, seed: u8) -> String {
        let overlap = Overlap::new(OVERLAP, SESSION_LIFETIME_SECONDS_MAX).unwrap();
        rotate(&self.0, "session", overlap, now, &[seed; 32])
            .unwrap()
            .kid
    }
}

fn token(signer: &Signer, now: u64) -> Option<String> {
    let claims = SessionClaims {
        customer: CustomerId::from_uuid("01980000-0000-7000-8000-000000000001".parse().unwrap()),
        conversation: ConversationId::from_uuid(
            "01980000-0000-7000-8000-000000000002".parse().unwrap(),
        ),
        turn: TurnId::from_random([3; 16]),
        grant_secret: Secret::new("a".repeat(64)),
        issued_at: now,
        expires_at: now + SESSION_LIFETIME_SECONDS_MAX,
        token_id: TokenId::from_random([4; 16]),
    };
    let key = signer.key(now)?;
    Some(sign_session(&key, &claims).unwrap())
}

fn accepts(verifier: &Verifier, token: &str, now: u64) -> bool {
    verifier
        .keys(now)
        .is_some_and(|keys| verify_session(&keys, token, now).is_ok())
}

#[test]
fn a_rotation_refuses_nobody_and_the_old_key_ends_after_the_overlap() {
    let place = Place::new();
    let (signer, verifier) = (place.signer().unwrap(), place.verifier());
    let first = signer.key(NOW).unwrap().key_id().to_owned();
    let second = place.rotate(NOW + 5, 2);
    // Until everybody had time to read it, the new key signs nothing.
    assert_eq!(signer.key(NOW + 6).unwrap().key_id(), first);
    let change = NOW + 5 + LEAD;
    let old = token(&signer, change - 1).unwrap();
    let new = token(&signer, change).unwrap();
    assert_eq!(signer.key(change).unwrap().key_id(), second);
    for second in [
        change,
        change + 1,
        change + SESSION_LIFETIME_SECONDS_MAX - 2,
    ] {
        assert!(accepts(&verifier, &old, second), "{}", second - change);
        assert!(accepts(&verifier, &new, second), "{}", second - change);
    }
    // A token that the old key signs all the same, after its end and in time by its own claims.
    let end = change + OVERLAP;
    let set = read_set(&public_file(place.folder())).unwrap();
    assert_eq!(set.keys[0].exp, Some(end));
    let stale = place.folder().join("stale");
    std::fs::create_dir(&stale).unwrap();
    init(&stale, "session", NOW, &[1; 32]).unwrap();
    let folder = stale.clone();
    let thief = Signer::open(&SigningKeySource::Folder(FolderOfKeys { folder }), NOW).unwrap();
    let late = token(&thief, end - 3).unwrap();
    assert!(accepts(&verifier, &late, end - 1));
    assert!(!accepts(&verifier, &late, end));
    assert!(!accepts(&verifier, &late, end + 1));
}

#[test]
fn a_revoked_key_neither_signs_nor_verifies_from_the_next_second_on() {
    let place = Place::new();
    let (signer, verifier) = (place.signer().unwrap(), place.verifier());
    let token = token(&signer, NOW + 1).unwrap();
    assert!(accepts(&verifier, &token, NOW + 1));
    let kid = signer.key(NOW + 1).unwrap().key_id().to_owned();
    revoke(place.folder(), &kid, NOW + 1).unwrap();
    assert!(!accepts(&verifier, &token, NOW + 2));
    assert!(verifier.keys(NOW + 2).is_none(), "no key is left");
    assert!(signer.key(NOW + 2).is_none());
    assert!(signer.public(NOW + 2).keys.is_empty());
    assert!(!private_file(place.folder(), &kid).exists());
    assert!(matches!(place.signer(), Err(KeysError::NoneSigns(_))));
    // Nothing signs, so the next one does at once.
    let next = place.rotate(NOW + 3, 2);
    assert_eq!(signer.key(NOW + 4).unwrap().key_id(), next);
    assert!(!accepts(&verifier, &token, NOW + 4));
    assert!(matches!(
        revoke(place.folder(), "session-0", NOW),
        Err(KeysError::Unknown(_))
    ));
}

#[test]
fn a_key_that_ended_signs_nothing() {
    let place = Place::new();
    let signer = place.signer().unwrap();
    let mut set = read_set(&public_file(place.folder())).unwrap();
    set.keys[0].exp = Some(NOW + 10);
    countersign_keys::write_set(&public_file(place.folder()), &set).unwrap();
    assert!(signer.key(NOW + 9).is_some());
    assert!(signer.key(NOW + 10).is_none());
}

#[test]
fn a_file_that_cannot_be_read_counts_for_a_minute_and_then_nothing_does() {
    let place = Place::new();
    let (signer, verifier) = (place.signer().unwrap(), place.verifier());
    let public = public_file(place.folder());
    let good = std::fs::read(&public).unwrap();
    for broken in [
        &b"{\"keys\":["[..],
        b"[[]]",
        b"",
        b"{\"keys\":[{\"kty\":\"oct\"}]}",
    ] {
        std::fs::write(&public, broken).unwrap();
        let since = NOW + 1;
        let token = token(&signer, since).unwrap();
        assert!(accepts(&verifier, &token, since));
        assert!(accepts(&verifier, &token, since + STALE_SECONDS_MAX - 1));
        assert!(!accepts(&verifier, &token, since + STALE_SECONDS_MAX));
        assert!(signer.key(since + STALE_SECONDS_MAX).is_none());
        std::fs::write(&public, &good).unwrap();
        assert!(
            accepts(&verifier, &token, since + STALE_SECONDS_MAX + 1),
            "it came back"
        );
        assert!(signer.key(since + STALE_SECONDS_MAX + 1).is_some());
    }
    std::fs::remove_file(&public).unwrap();
    assert!(verifier.keys(NOW + 300).is_some());
    assert!(verifier.keys(NOW + 300 + STALE_SECONDS_MAX).is_none());
}

#[test]
fn tokens_by_unknown_keys_make_nobody_read_the_file() {
    let place = Place::new();
    let (signer, verifier) = (place.signer().unwrap(), place.verifier());
    let good = token(&signer, NOW).unwrap();
    let body = good.split_once('.').unwrap().1;
    for number in 0..1_000_u64 {
        let header =
            format!(r#"{{"typ":"cs-session+jwt","alg":"EdDSA","kid":"session-{number:08x}"}}"#);
        let header = URL_SAFE_NO_PAD.encode(header);
        let now = NOW + number / 100;
        assert!(!accepts(&verifier, &format!("{header}.{body}"), now));
        assert!(accepts(&verifier, &good, now));
    }
    assert_eq!(verifier.readings(), 1);
    place.rotate(NOW + 11, 2);
    assert!(accepts(&verifier, &good, NOW + 12));
    assert_eq!(verifier.readings(), 2, "and only a change of the file does");
}

#[test]
fn a_public_file_with_a_private_part_two_of_a_name_or_another_algorithm_is_refused() {
    let place = Place::new();
    let public = public_file(place.folder());
    let text = std::fs::read_to_string(&public).unwrap();
    let one: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut private = one.clone();
    private["keys"][0]["d"] = "AAAA".into();
    let mut twice = one.clone();
    twice["keys"]
        .as_array_mut()
        .unwrap()
        .push(one["keys"][0].clone());
    let mut other = one.clone();
    other["keys"][0]["alg"] = "HS256".into();
    let mut weak = one.clone();
    // The neutral point verifies anything under the lax equation.
    weak["keys"][0]["x"] = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".into();
    for bad in [private, twice, other, weak] {
        std::fs::write(&public, bad.to_string()).unwrap();
        let jwks_file = public.clone();
        let opened = Verifier::open(VerifyingKeySource::File(JwksFile { jwks_file }), NOW);
        assert!(opened.is_err(), "{bad}");
    }
}

#[test]
fn a_private_key_that_others_can_read_or_that_is_another_signs_nothing() {
    let place = Place::new();
    let kid = read_set(&public_file(place.folder())).unwrap().keys[0]
        .kid
        .clone();
    let private = private_file(place.folder(), &kid);
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(place.signer(), Err(KeysError::Exposed(_))));
    let other = countersign_identity::generate_key([9; 32], &kid);
    std::fs::write(&private, serde_json::to_string(&other).unwrap()).unwrap();
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(place.signer(), Err(KeysError::Mismatched(_))));
    std::fs::remove_file(&private).unwrap();
    assert!(matches!(place.signer(), Err(KeysError::NoneSigns(_))));
}

#[test]
fn an_overlap_shorter_than_a_tokens_life_is_refused_and_keys_are_not_made_twice() {
    let place = Place::new();
    assert!(matches!(
        Overlap::new(SESSION_LIFETIME_SECONDS_MAX, SESSION_LIFETIME_SECONDS_MAX),
        Err(KeysError::Overlap { .. })
    ));
    assert!(matches!(
        init(place.folder(), "session", NOW, &[2; 32]),
        Err(KeysError::Exists(_))
    ));
}
