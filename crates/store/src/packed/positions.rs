//! Positions in a certificate.

use super::Result;
use super::reader::Reader;
use super::writer::Writer;

/// Packs ascending positions in a certificate.
pub fn pack_positions(positions: &[u32]) -> Vec<u8> {
    let mut out = Writer::default();
    let mut last = 0;
    for &position in positions {
        debug_assert!(position >= last, "positions ascend");
        out.number(u64::from(position - last));
        last = position;
    }
    out.bytes
}

/// Unpacks positions in a certificate.
pub fn unpack_positions(blob: &[u8]) -> Result<Vec<u32>> {
    let mut reader = Reader::new(blob);
    let mut positions = Vec::with_capacity(blob.len());
    let mut last = 0_u32;
    while reader.remaining() > 0 {
        let gap = reader.number32()?;
        last = last.checked_add(gap).ok_or(reader.error("a position that is too large"))?;
        positions.push(last);
    }
    Ok(positions)
}
