//! The taking apart of event streams.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_mutations::run("event-streams", bytes));
