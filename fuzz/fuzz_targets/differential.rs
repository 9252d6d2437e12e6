//! What the door judged and what a server reads.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_mutations::run("differential", bytes));
