//! Ten thousand random changes of a genuine token, none of which is accepted.

use countersign_identity::{sign_request, sign_session, verify_request, verify_session};
use proptest::prelude::*;

use crate::forge::*;

#[derive(Debug, Clone)]
enum Change {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    Swap(usize, usize),
    Truncate(usize),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let letter = prop_oneof![
        4 => proptest::sample::select(
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".to_vec()
        ),
        1 => 0x20u8..0x7f,
    ];
    let at = 0usize..1000;
    prop_oneof![
        6 => (at.clone(), letter.clone()).prop_map(|(at, with)| Change::Replace(at, with)),
        2 => (at.clone(), letter).prop_map(|(at, with)| Change::Insert(at, with)),
        2 => at.clone().prop_map(Change::Remove),
        2 => (at.clone(), at.clone()).prop_map(|(a, b)| Change::Swap(a, b)),
        1 => at.clone().prop_map(Change::Truncate),
        1 => (at.clone(), at).prop_map(|(a, b)| Change::Repeat(a, b)),
    ]
}

fn apply(token: &mut Vec<u8>, change: &Change) {
    let length = token.len().max(1);
    match *change {
        _ if token.is_empty() => {}
        Change::Replace(at, with) => token[at % length] = with,
        Change::Insert(at, with) => token.insert(at % length, with),
        Change::Remove(at) => {
            token.remove(at % length);
        }
        Change::Swap(a, b) => token.swap(a % length, b % length),
        Change::Truncate(at) => token.truncate(at % length),
        Change::Repeat(a, b) => {
            let (from, to) = ((a % length).min(b % length), (a % length).max(b % length));
            token.extend_from_within(from..to);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn no_changed_token_is_accepted(changes in proptest::collection::vec(change(), 1..4)) {
        let session = sign_session(&key(), &session_claims()).unwrap();
        let request = sign_request(&key(), &request_claims()).unwrap();
        for genuine in [session, request] {
            let mut bytes = genuine.clone().into_bytes();
            for change in &changes {
                apply(&mut bytes, change);
            }
            let changed = String::from_utf8(bytes).unwrap();
            prop_assume!(changed != genuine);
            prop_assert!(verify_session(&keys(), &changed, NOW).is_err());
            prop_assert!(verify_request(&keys(), &changed, NOW, "POST", "/mcp", BODY).is_err());
        }
    }

    #[test]
    fn no_text_at_all_panics_a_verifier(text in "\\PC{0,200}") {
        prop_assert!(verify_session(&keys(), &text, NOW).is_err());
        prop_assert!(verify_request(&keys(), &text, NOW, "POST", "/mcp", BODY).is_err());
    }
}
