//! The readers of receipts, proofs, keys and checkpoints.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| countersign_mutations::run("receipts-and-proofs", bytes));
