//! Real certificates with a few bytes changed, moved or lost: whatever they have become, reading them is sound.

mod invariants;

use keyhoard_cert::armor_writer::ArmorWriter;
use keyhoard_cert::split::{Piece, Splitter};
use std::fs::File;
use std::io::Write;

/// How many mutated streams are read.
const ROUNDS: u32 = 20_000;

/// A generator of numbers that are always the same (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }
}

fn originals() -> Vec<Vec<u8>> {
    let file = File::open("/usr/share/keyrings/debian-nonupload.gpg").expect("debian-keyring is installed");
    let mut all: Vec<_> = Splitter::new(file)
        .filter_map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => Some(raw.bytes),
            _ => None,
        })
        .collect();
    all.sort_by_key(Vec::len);
    let smallest = all[..6].to_vec();
    let armored = smallest[..2].iter().map(|bytes| {
        let mut writer = ArmorWriter::new(Vec::new());
        writer.write_all(bytes).expect("a vector takes everything");
        writer.finish().expect("a vector takes everything")
    });
    smallest.iter().cloned().chain(armored).chain([smallest[..3].concat()]).collect()
}

/// Changes a stream somewhere, most of the time where a length or a type may be.
fn mutate(stream: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.below(stream.len());
    let length = numbers.below(40).min(stream.len() - at);
    match numbers.below(7) {
        0 => stream[at] = numbers.next() as u8,
        1 => stream[at] ^= 1 << numbers.below(8),
        2 => stream.truncate(at),
        3 => drop(stream.drain(at..at + length)),
        4 => {
            let copy = stream[at..at + length].to_vec();
            let to = numbers.below(stream.len());
            stream.splice(to..to, copy);
        }
        5 => stream[at..at + length].fill([0, 0xff, 0x80, 0xc2][numbers.below(4)]),
        _ => stream.insert(at, numbers.next() as u8),
    }
}

#[test]
fn reading_mutated_certificates_keeps_every_promise() {
    let originals = originals();
    let mut numbers = Numbers(0x6b65_7968_6f61_7264);
    for round in 0..ROUNDS {
        let mut stream = originals[numbers.below(originals.len())].clone();
        for _ in 0..=numbers.below(4) {
            if !stream.is_empty() {
                mutate(&mut stream, &mut numbers);
            }
        }
        let checked = std::panic::catch_unwind(|| invariants::hold(&stream));
        assert!(checked.is_ok(), "in round {round}");
    }
}

#[test]
fn reading_real_certificates_keeps_every_promise() {
    originals().iter().for_each(|stream| invariants::hold(stream));
    invariants::hold(b"");
}
