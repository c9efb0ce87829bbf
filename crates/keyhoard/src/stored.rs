//! Certificates as the database holds them, read to be merged with others.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use store::{CertId, Detail, Fingerprint, PutKind, Selection, Snapshot};

use crate::Result;

/// A certificate as the database holds it.
pub(crate) struct Stored {
    pub(crate) id: CertId,
    pub(crate) generation: i64,
    pub(crate) certificate: Certificate,
}

impl Stored {
    /// Returns what writing it with more packets does; `added` are their digests.
    pub(crate) fn merged_with(&self, added: Vec<[u8; 32]>) -> PutKind {
        PutKind::Merged { id: self.id, generation: self.generation, added }
    }
}

/// Reads what the database holds of these primary keys.
pub(crate) fn read(
    snapshot: &dyn Snapshot,
    fingerprints: &[Fingerprint],
) -> Result<HashMap<Fingerprint, Stored>> {
    let mut ids: Vec<CertId> = snapshot.by_fingerprint(fingerprints)?.into_iter().flatten().collect();
    ids.sort_unstable();
    let mut found = HashMap::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
        if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
            let certificate = Certificate { bytes, facts };
            let stored = Stored { id: record.id, generation: record.generation, certificate };
            found.insert(record.fingerprint, stored);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
