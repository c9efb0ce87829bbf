//! Writes subpacket areas.
//!
//! As in GnuPG, a subpacket that occurs only once moves to the end when it is set again, so that an area copied from an
//! older signature gets GnuPG's order too.

use crate::error::{Error, Result};
use cert::packet::write_new_length;
use cert::subpacket::{Kind, Subpackets};

/// The subpackets of one area, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Area(Vec<Entry>);

#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    critical: bool,
    body: Vec<u8>,
}

impl Area {
    /// Copies the area of an older signature.
    pub(crate) fn copy(area: &[u8]) -> Result<Self> {
        let entry = |item: std::result::Result<cert::subpacket::Subpacket<'_>, _>| {
            let subpacket = item.map_err(|_| Error::Damaged)?;
            Ok(Entry { kind: subpacket.kind, critical: subpacket.critical, body: subpacket.body.to_vec() })
        };
        Subpackets::new(area).map(entry).collect::<Result<_>>().map(Self)
    }

    /// Appends a subpacket.
    pub(crate) fn push(&mut self, kind: Kind, critical: bool, body: Vec<u8>) {
        self.0.push(Entry { kind, critical, body });
    }

    /// Removes the subpackets of a type.
    pub(crate) fn remove(&mut self, kind: Kind) {
        self.0.retain(|entry| entry.kind != kind);
    }

    /// Returns the encoded area.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for Entry { kind, critical, body } in &self.0 {
            write_new_length(&mut bytes, body.len() as u32 + 1);
            bytes.push(kind.0 | if *critical { 0x80 } else { 0 });
            bytes.extend_from_slice(body);
        }
        bytes
    }
}
