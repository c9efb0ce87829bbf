//! Certificates of the database, read with their bytes, and bindings.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use store::tofu::{Binding, BindingSelection};
use store::{
    CertId, Detail, Fingerprint, Origin, PutKind, ReadCertificates, Record, Selection, visit_bindings,
};

use crate::Result;

/// A certificate of the database.
pub(crate) struct Stored {
    pub(crate) id: CertId,
    pub(crate) generation: i64,
    pub(crate) certificate: Certificate,
    pub(crate) origin: Origin,
}

impl Stored {
    /// Takes a record that was read with [`Detail::Bytes`].
    fn of(record: Record) -> Option<Self> {
        let Record { id, generation, facts, bytes, origin, .. } = record;
        Some(Self { id, generation, certificate: Certificate { facts: facts?, bytes: bytes? }, origin })
    }

    /// Returns the kind of a write that adds packets; `added` are their digests.
    pub(crate) fn merged_with(&self, added: Vec<[u8; 32]>) -> PutKind {
        PutKind::Merged { id: self.id, generation: self.generation, added }
    }
}

/// Visits the selected certificates until `each` says that it is enough, or fails.
pub(crate) fn try_visit(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    detail: Detail,
    each: &mut dyn FnMut(Record) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut outcome = Ok(());
    snapshot.visit(selection, detail, &mut |record| {
        each(record).unwrap_or_else(|error| {
            outcome = Err(error);
            ControlFlow::Break(())
        })
    })?;
    outcome
}

/// Reads bindings.
pub(crate) fn bindings(
    snapshot: &dyn ReadCertificates,
    selection: BindingSelection<'_>,
) -> Result<Vec<Binding>> {
    let mut bindings = Vec::new();
    visit_bindings(snapshot, selection, &mut |binding| {
        bindings.push(binding);
        ControlFlow::Continue(())
    })?;
    Ok(bindings)
}

/// Reads one certificate.
pub(crate) fn read_one(snapshot: &dyn ReadCertificates, id: CertId) -> Result<Option<Stored>> {
    let mut found = None;
    snapshot.visit(Selection::Ids(&[id]), Detail::Bytes, &mut |record| {
        found = Stored::of(record);
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Reads the certificates with these primary keys.
pub(crate) fn read(
    snapshot: &dyn ReadCertificates,
    fingerprints: &[Fingerprint],
) -> Result<HashMap<Fingerprint, Stored>> {
    let mut ids: Vec<CertId> = snapshot.by_fingerprint(fingerprints)?.into_iter().flatten().collect();
    ids.sort_unstable();
    let mut found = HashMap::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
        let fingerprint = record.fingerprint;
        found.extend(Stored::of(record).map(|stored| (fingerprint, stored)));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
