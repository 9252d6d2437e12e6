//! The policy loader.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_mutations::run("policy-loader", bytes));
