//! Any stream: cleaning its certificates and merging those with the same primary key keeps the laws.

#![no_main]

#[path = "../../crates/cert/tests/clean/laws.rs"]
mod laws;

use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::split::{Piece, Splitter};
use keyhoard_cert::{Certificate, Timestamp};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let certificates: Vec<Certificate> = Splitter::new(input)
        .filter_map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => Some(raw),
            _ => None,
        })
        .filter_map(|raw| clean(&raw, &CleanOptions::default(), Timestamp(2_000_000_000)).ok())
        .map(|cleaned| cleaned.certificate)
        .collect();
    for (index, known) in certificates.iter().enumerate() {
        laws::assert_sound(known);
        let fingerprint = known.facts.primary().fingerprint;
        for new in &certificates[index + 1..] {
            if new.facts.primary().fingerprint == fingerprint {
                laws::assert_idempotent(known, new);
                laws::assert_sound(&laws::merged(known, new));
                let (one, other) = (laws::merged(known, new), laws::merged(new, known));
                // Of two copies that differ in unhashed subpackets the known one stays, so that only the counts are
                // the same.
                assert_eq!(laws::as_set(&one).len(), laws::as_set(&other).len());
            }
        }
    }
});
