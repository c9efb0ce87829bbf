//! What tells whether a certificate's bytes are still those that its own facts were packed with.
//!
//! Many bytes have no say in any fact: copies of what is signed, hints, signatures within signatures. The seal has
//! all of them. It finds damage, not intent.

use crc32fast::hash;

use super::reader::VERSION;
use super::writer::Writer;

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
