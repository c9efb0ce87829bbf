//! A checksum that tells whether a certificate's bytes are still those that its own facts were packed with.
//!
//! Many bytes have no say in any fact: copies of what is signed, hints, signatures within signatures. The checksum has
//! all of them. It finds damage, not intent.

use crc32fast::hash;

use super::reader::VERSION;
use super::writer::Writer;

/// The version that own facts with a checksum begin with.
pub const WITH_CHECKSUM: u8 = 2;

/// Bytes of a checksum.
const LENGTH: usize = 8;

/// Ends a blob of the own facts of a certificate with these bytes.
pub(super) fn append(own: &mut Writer, bytes: &[u8]) {
    own.u32(hash(bytes));
    own.u32(hash(&own.bytes));
}

/// Returns a blob without its checksum, if it has one.
pub(super) fn without_checksum(own: &[u8]) -> &[u8] {
    let has_checksum = own.first() == Some(&WITH_CHECKSUM);
    if has_checksum { &own[..own.len().saturating_sub(LENGTH).max(1)] } else { own }
}

/// Says whether a stored blob is what was packed now; one of before the checksums lacks nothing else.
pub fn is_same(stored: &[u8], now: &[u8]) -> bool {
    stored == now || stored.split_first() == Some((&VERSION, &without_checksum(now)[1..]))
}
