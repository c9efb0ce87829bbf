//! A certificate in the form it is written in.

use std::fmt;

use cert::certificate::Certificate;
use cert::{Facts, Fingerprint};

use crate::packed::{self, Packed};
use crate::rows::Rows;

/// A certificate with all rows that its facts make: what can be worked out before the write lock is taken, on any
/// thread, and takes a fraction of the facts' memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Prepared {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) bytes: Vec<u8>,
    pub(crate) packed: Packed,
    pub(crate) rows: Rows,
    /// Where the superseded signatures begin in the bytes, packed: they cannot be told from these.
    pub(crate) superseded: Option<Vec<u8>>,
}

impl Prepared {
    /// Packs a certificate.
    pub fn new(certificate: Certificate) -> Self {
        let Certificate { bytes, facts } = certificate;
        let mut packed = packed::pack(&facts, &bytes);
        // Many of them wait to be written.
        packed.own.shrink_to_fit();
        packed.third_party.shrink_to_fit();
        Self {
            fingerprint: facts.primary().fingerprint,
            packed,
            bytes,
            rows: Rows::new(&facts),
            superseded: superseded(&facts),
        }
    }

    /// Unpacks the certificate.
    pub fn certificate(&self) -> Certificate {
        let third_party = Some(self.packed.third_party.as_slice()).filter(|blob| !blob.is_empty());
        let facts = packed::unpack(&self.packed.own, third_party).expect("packed facts can be unpacked");
        Certificate { bytes: self.bytes.clone(), facts }
    }

    /// Returns the primary key's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns how much memory it takes while it waits to be written, in bytes, roughly.
    pub fn size(&self) -> usize {
        /// For the parts' own headers, the allocator's, and what reports it afterwards.
        const OVERHEAD: usize = 1024;
        OVERHEAD + self.bytes.len() + self.packed.own.len() + self.packed.third_party.len() + self.rows.size()
    }

    /// Returns the certificate's exact bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("fingerprint", &self.fingerprint)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

fn superseded(facts: &Facts) -> Option<Vec<u8>> {
    let signatures = facts.components.iter().flat_map(|component| &component.signatures);
    let hidden = signatures.filter(|signature| signature.flags.superseded);
    let positions: Vec<u32> = hidden.map(|signature| signature.span.start).collect();
    (!positions.is_empty()).then(|| packed::pack_positions(&positions))
}
