//! What the door judged is what a server reads: the strict reader and serde_json agree on every message that passes.

use countersign_wire::{Frame, Type, Value};

/// Reads with both and compares everything.
pub fn judged_is_what_is_read(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::read(bytes) else {
        // A server may read more than the door does: the door does not pass it on.
        return false;
    };
    let theirs: serde_json::Value =
        serde_json::from_slice(bytes).expect("a server reads what the door read");
    compare(frame.root(), &theirs);
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
        }
        _ if ours.is_null() => assert!(theirs.is_null()),
        _ => assert_eq!(ours.as_bool(), theirs.as_bool()),
    }
}
