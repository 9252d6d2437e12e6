//! Readers of one text each.

use countersign_policy::Policy;
use countersign_receipts::{AddCheckpoint, ProofText, Receipt, TrustedKeys, check_canonical};
use countersign_wire::{Caps, Document, Frame};

/// The strict reader: whatever it reads, every value of it can be taken out again and read alone.
pub fn strict_reader(bytes: &[u8]) -> bool {
    let Ok(document) = Document::read(bytes, &Caps::MESSAGE) else {
        assert!(Frame::read(bytes).is_err(), "a frame is a document");
        return false;
    };
    for value in document.nodes() {
        let raw = &bytes[value.span()];
        assert_eq!(
            raw,
            value.raw().as_bytes(),
            "a span is where the value stands"
        );
        if !value.is_member_name() {
            assert!(
                Document::read(raw, &Caps::MESSAGE).is_ok(),
                "a part is a document"
            );
        }
    }
    if let Ok(frame) = Frame::read(bytes) {
        let _ = (
            frame.id(),
            frame.method(),
            frame.params().map(|params| params.raw()),
        );
    }
    true
}

/// The policy loader: what loads, loads again to the same.
pub fn policy_loader(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let Ok(policy) = Policy::load(text) else {
        return false;
    };
    let again = Policy::load(text).expect("what loaded loads again");
    assert_eq!(policy.mark().hash, again.mark().hash);
    true
}

/// The readers of receipts, proofs, keys and checkpoints.
pub fn receipts_and_proofs(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let read = [
        Receipt::read(text).is_ok(),
        ProofText::read(text).is_ok(),
        TrustedKeys::read(text).is_ok(),
        AddCheckpoint::read(text).is_ok(),
        check_canonical(bytes).is_ok(),
    ];
    read.contains(&true)
}
