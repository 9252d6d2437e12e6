//! What the door judged is what a server reads: the strict reader agrees with serde_json, which keeps the last of two
//! equal keys, and with whatever other reader's result it is given, on every message that passes.

use countersign_wire::{Frame, Type, Value};

/// Reads with both and compares everything.
pub fn judged_is_what_is_read(bytes: &[u8]) -> bool {
    let Ok(theirs) = Frame::read(bytes).map(|_| serde_json::from_slice(bytes)) else {
        // A server may read more than the door does: the door does not pass it on.
        return false;
    };
    agrees(bytes, &theirs.expect("a server reads what the door read"))
}

/// Whether the door passes this on; if so, every value of it must be what another reader made of it.
///
/// # Panics
/// When the two read something else.
#[must_use]
pub fn agrees(bytes: &[u8], theirs: &serde_json::Value) -> bool {
    let Ok(frame) = Frame::read(bytes) else {
        return false;
    };
    compare(frame.root(), theirs);
    // What the checks ask for by name is what a server finds under that name.
    assert_eq!(frame.method(), theirs["method"].as_str(), "the method");
    let params = frame.params();
    for name in ["name", "uri", "arguments", "_meta", "cursor"] {
        let ours = params.and_then(|params| params.get(name));
        let theirs = theirs.get("params").and_then(|params| params.get(name));
        assert_eq!(ours.is_some(), theirs.is_some(), "{name} is there");
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            compare(ours, theirs);
        }
    }
    true
}

fn compare(ours: Value<'_>, theirs: &serde_json::Value) {
    match ours.kind() {
        Type::Object => {
            let members = theirs.as_object().expect("an object");
            assert_eq!(
                ours.members().count(),
                members.len(),
                "no key is there twice"
            );
            for (name, value) in ours.members() {
                compare(value, members.get(&*name).expect("the same keys"));
            }
        }
        Type::Array => {
            let elements = theirs.as_array().expect("an array");
            assert_eq!(ours.elements().count(), elements.len());
            for (value, element) in ours.elements().zip(elements) {
                compare(value, element);
            }
        }
        Type::String => assert_eq!(ours.as_str().as_deref(), theirs.as_str()),
        Type::Number => {
            assert!(theirs.is_number());
            if let (Some(exact), Some(read)) = (ours.as_exact_integer(), theirs.as_i64()) {
                assert_eq!(exact, read, "the same integer");
            }
            let text = ours.as_number_text().expect("a number has a text");
            assert_eq!(text.parse().ok(), theirs.as_f64(), "the same number");
        }
        _ if ours.is_null() => assert!(theirs.is_null()),
        _ => assert_eq!(ours.as_bool(), theirs.as_bool()),
    }
}
