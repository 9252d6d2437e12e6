//! The reading of plain requests over HTTP.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_mutations::run("http-requests", bytes));
