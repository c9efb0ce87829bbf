//! What tells whether a certificate's bytes are still those that its own facts were packed with.
//!
//! Many bytes have no say in any fact: copies of what is signed, hints, signatures within signatures. The seal has
//! all of them. It finds damage, not intent.

use cert::Fingerprint;
use crc32fast::hash;

use super::reader::Writer;
use super::{VERSION, fingerprints};

/// The version that own facts with a seal begin with.
pub const SEALED: u8 = 2;

/// Bytes of a seal.
const LENGTH: usize = 8;

/// Ends a blob of the own facts of a certificate with these bytes.
pub(super) fn seal(own: &mut Writer, bytes: &[u8]) {
    own.u32(hash(bytes));
    own.u32(hash(&own.bytes));
}

/// Returns a blob without its seal, if it has one.
pub(super) fn without_seal(own: &[u8]) -> &[u8] {
    let is_sealed = own.first() == Some(&SEALED);
    if is_sealed { &own[..own.len().saturating_sub(LENGTH).max(1)] } else { own }
}

/// Says whether a stored blob is what was packed now; one of before the seals lacks nothing else.
pub fn is_same(stored: &[u8], now: &[u8]) -> bool {
    stored == now || stored.split_first() == Some((&VERSION, &without_seal(now)[1..]))
}

/// Says whether a blob is whole, of the certificate with this fingerprint, and was packed with other bytes than these:
/// then it is the bytes that have changed.
pub fn is_sealed_over_other_bytes(own: &[u8], fingerprint: Option<Fingerprint>, bytes: &[u8]) -> bool {
    let Some((before, seal)) = own.split_last_chunk::<4>() else { return false };
    let Some((_, sealed)) = before.split_last_chunk::<4>() else { return false };
    let is_whole = own[0] == SEALED && u32::from_le_bytes(*seal) == hash(before);
    is_whole && u32::from_le_bytes(*sealed) != hash(bytes) && primary(own) == fingerprint
}

fn primary(own: &[u8]) -> Option<Fingerprint> {
    let mut first = None;
    fingerprints(own, |_, fingerprint| first = first.or(Some(fingerprint))).ok()?;
    first
}
