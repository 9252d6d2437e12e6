//! What hostile bytes are thrown at: the strict reader, the policy loader, the readers of receipts and proofs, the
//! taking apart of event streams, and the comparison of what the door judged with what a server reads.
//!
//! The mutation run of this package and the libFuzzer targets outside the workspace share these functions. Each
//! returns quietly or panics; a panic is a find.

pub mod differential;
#[expect(
    dead_code,
    reason = "the door's own module, of which the splitting is tried here"
)]
#[path = "../../../services/door/src/http/events.rs"]
mod events;
mod http;
mod lines;
mod readers;
#[path = "../../../services/serve/src/plain/head.rs"]
mod request;
mod streams;

/// What the door's own module of event streams takes from its surroundings.
mod judge {
    pub mod reply {
        /// Longest answer, in bytes.
        pub const REPLY_BYTES_MAX: usize = 1 << 16;
    }
}

/// A target: its name, the folder of its corpus, and what it does with bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// The folder of its seeds under `fixtures/fuzz`.
    pub corpus: &'static str,
    /// What it does with bytes. Returns whether they were read as what they claim to be.
    pub run: fn(&[u8]) -> bool,
}

/// Runs the target of that name; the entry of the libFuzzer targets.
///
/// # Panics
/// When the bytes break something, or no target has that name.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of that name").run)(bytes);
}

/// All targets.
pub const TARGETS: [Target; 7] = [
    Target {
        name: "strict-reader",
        corpus: "json",
        run: readers::strict_reader,
    },
    Target {
        name: "differential",
        corpus: "json",
        run: differential::judged_is_what_is_read,
    },
    Target {
        name: "policy-loader",
        corpus: "policy",
        run: readers::policy_loader,
    },
    Target {
        name: "receipts-and-proofs",
        corpus: "receipts",
        run: readers::receipts_and_proofs,
    },
    Target {
        name: "event-streams",
        corpus: "events",
        run: streams::pieces_make_no_difference,
    },
    Target {
        name: "http-requests",
        corpus: "requests",
        run: http::plain_requests,
    },
    Target {
        name: "http-answers",
        corpus: "answers",
        run: http::answers,
    },
];
