//! The reading of a server's answers over HTTP.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_mutations::run("http-answers", bytes));
