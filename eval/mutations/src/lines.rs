//! The door's own readers of a server's answers, with what they take from their surroundings.

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "the door's own module, of which the reading is tried here"
    )
)]
#[path = "../../../services/door/src/http/lines/answer.rs"]
pub mod answer;
#[path = "../../../services/door/src/http/lines/chunks.rs"]
pub mod chunks;

/// Why an answer cannot be read.
#[derive(Debug)]
#[expect(dead_code, reason = "what is wrong is for people")]
pub enum LineError {
    /// What came is no head of an answer.
    Head(&'static str),
    /// What came is no body in chunks.
    Chunk,
}
