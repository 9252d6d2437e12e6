//! The lines that a record writes about itself.

use countersign_receipts::Hash;
use serde::Serialize;

/// Version of the lines' form.
const VERSION: u32 = 1;

/// Something that happened to the record.
#[derive(Debug, Serialize)]
pub(crate) struct Own<'a> {
    v: u32,
    at: String,
    event: &'static str,
    /// The peaks of the tree before this line, so that what follows can be checked by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    peaks: Option<&'a [Hash]>,
    /// How many earlier lines are not in the directory any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    /// How many lines could not be written meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
}

impl<'a> Own<'a> {
    fn new(event: &'static str, at: String) -> Self {
        Self {
            v: VERSION,
            at,
            event,
            peaks: None,
            lost: None,
            refused: None,
            from: None,
            to: None,
        }
    }

    /// The first line of a file that goes on where another was set aside.
    pub fn segment_opened(at: String, peaks: &'a [Hash]) -> Self {
        Self {
            peaks: Some(peaks),
            ..Self::new("segment_opened", at)
        }
    }

    /// The first line after everything before it was lost.
    pub fn resumed(at: String, peaks: &'a [Hash], lost: u64) -> Self {
        Self {
            peaks: Some(peaks),
            lost: Some(lost),
            ..Self::new("log_resumed", at)
        }
    }

    /// The first line after some could not be written.
    pub fn recovered(at: String, refused: u64) -> Self {
        Self {
            refused: Some(refused),
            ..Self::new("log_recovered", at)
        }
    }

    /// From here on another key signs. The lines name keys by their verifier lines.
    pub fn key_changed(at: String, from: &'a str, to: &'a str) -> Self {
        Self {
            from: Some(from),
            to: Some(to),
            ..Self::new("key_changed", at)
        }
    }
}
