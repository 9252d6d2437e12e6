//! A stream of events comes apart the same way however it arrives.

use crate::events::Splitter;

/// Sizes of the pieces that a stream arrives in.
const PIECES: [usize; 3] = [1, 3, 4096];

/// Splits the bytes as a whole and in pieces.
pub fn pieces_make_no_difference(bytes: &[u8]) -> bool {
    let whole = split(bytes, bytes.len().max(1));
    for size in PIECES {
        assert_eq!(split(bytes, size), whole, "in pieces of {size}");
    }
    !whole.0.is_empty()
}

/// The messages in the stream, and all bytes of its events. A line's end that arrives in two halves may make an
/// event without a message more.
fn split(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut splitter = Splitter::default();
    let (mut messages, mut passed) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        if splitter.feed(piece).is_err() {
            break;
        }
        while let Some(event) = splitter.next() {
            messages.extend(event.data());
            passed.extend(event.into_raw());
        }
    }
    // The other half of the last line's end belongs to it.
    if passed.ends_with(b"\r\n") {
        passed.pop();
    }
    assert!(bytes.starts_with(&passed), "what passes is what came");
    (messages, passed)
}
