//! A new `trustdb.gpg` (GnuPG's doc/DETAILS, "Layout of the TrustDB"): owner trust, found by a hash table over the first byte
//! of fingerprints.

use cert::{Fingerprint, Timestamp};
use store::AssignedTrust;

/// Bytes of a record.
const RECORD: usize = 40;
/// Records of the hash table, and how many numbers each has.
const TABLE: usize = 29;
const PER_TABLE_RECORD: usize = 9;
/// Numbers in a record of a list.
const PER_LIST: usize = 6;

/// The types of records.
const VERSION: u8 = 1;
const HASH_TABLE: u8 = 10;
const LIST: u8 = 11;
const TRUST: u8 = 12;

/// Returns the content of the file, and of how many keys it holds the owner trust: those of version 4.
pub(super) fn content(trusts: &[(Fingerprint, AssignedTrust)], now: Timestamp) -> (Vec<u8>, u64) {
    let mut records = vec![version(now)];
    records.resize(1 + TABLE, record(HASH_TABLE));
    let mut count = 0;
    for first in 0..=u8::MAX {
        let of_byte = trusts.iter().filter_map(|(key, trust)| match key {
            Fingerprint::V4(bytes) if bytes[0] == first => Some((bytes, trust)),
            _ => None,
        });
        let numbers: Vec<usize> = of_byte
            .map(|(bytes, trust)| {
                let mut record = record(TRUST);
                record[2..22].copy_from_slice(bytes);
                record[22] = trust.number();
                push(&mut records, record)
            })
            .collect();
        count += numbers.len() as u64;
        let entry = match numbers.as_slice() {
            [] => continue,
            [one] => *one,
            several => list(&mut records, several),
        };
        let (table, place) = (usize::from(first) / PER_TABLE_RECORD, usize::from(first) % PER_TABLE_RECORD);
        set(&mut records[1 + table], 2 + 4 * place, entry);
    }
    (records.concat(), count)
}

/// Returns the first record: GnuPG's defaults, and that validity has to be computed.
fn version(now: Timestamp) -> [u8; RECORD] {
    const FORMAT: u8 = 3;
    let (marginals, completes, depth, model, level) = (3, 1, 5, 1, 2);
    let mut version = record(VERSION);
    version[1..4].copy_from_slice(b"gpg");
    version[4..10].copy_from_slice(&[FORMAT, marginals, completes, depth, model, level]);
    version[12..16].copy_from_slice(&now.0.to_be_bytes());
    // When the next check is due: at once.
    set(&mut version, 16, 1);
    // Where the hash table begins.
    set(&mut version, 36, 1);
    version
}

/// Writes a list of record numbers, its last part first, and returns its number.
fn list(records: &mut Vec<[u8; RECORD]>, numbers: &[usize]) -> usize {
    let mut next = 0;
    for part in numbers.chunks(PER_LIST) {
        let mut record = record(LIST);
        set(&mut record, 2, next);
        for (place, number) in part.iter().enumerate() {
            set(&mut record, 6 + 4 * place, *number);
        }
        next = push(records, record);
    }
    next
}

fn record(kind: u8) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[0] = kind;
    record
}

fn push(records: &mut Vec<[u8; RECORD]>, record: [u8; RECORD]) -> usize {
    records.push(record);
    records.len() - 1
}

/// Sets a number of four bytes.
fn set(record: &mut [u8; RECORD], at: usize, number: usize) {
    record[at..at + 4].copy_from_slice(&(number as u32).to_be_bytes());
}
