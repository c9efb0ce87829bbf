//! Any stream: splitting it, and reading what comes out, keeps the reader's promises.

#![no_main]

#[path = "../../crates/cert/tests/invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|input: &[u8]| invariants::hold(input));
