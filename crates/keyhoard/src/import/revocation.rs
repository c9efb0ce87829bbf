//! A key revocation that comes without its certificate.

use std::ops::ControlFlow;

use cert::packet::Packets;
use cert::signature;
use cert::split::{RawCertificate, RawRevocation};
use cert::{Flaw, KeyId};
use store::{CertId, Detail, Selection, Snapshot};
use verify::limits::MAX_ISSUER_CANDIDATES;

use super::batch::Batch;
use super::event::Refusal;
use crate::Result;

/// Puts the revocation behind the primary key that it says to be made by: cleaned and merged like any other copy of
/// that certificate, it counts only if it verifies.
pub(super) fn with_primary_key(
    snapshot: &dyn Snapshot,
    batch: &Batch,
    revocation: &RawRevocation,
) -> Result<std::result::Result<RawCertificate, Refusal>> {
    let key_id = match issuer(revocation) {
        Ok(key_id) => key_id,
        Err(flaw) => {
            return Ok(Err(cert::Error::Malformed { position: revocation.position, flaw }.into()));
        }
    };
    let primary = match batch.certificate_by_key_id(key_id) {
        Some(waiting) => primary_key(waiting.bytes()),
        None => stored_primary_key(snapshot, key_id)?,
    };
    Ok(primary.ok_or(Refusal::UnknownKey(key_id)).map(|mut bytes| {
        bytes.extend_from_slice(&revocation.bytes);
        RawCertificate {
            position: revocation.position,
            bytes,
            secrets: Vec::new(),
            notes: Vec::new(),
            origins: Vec::new(),
            signatures_left_out: 0,
        }
    }))
}

fn issuer(revocation: &RawRevocation) -> std::result::Result<KeyId, Flaw> {
    match Packets::new(&revocation.bytes).next() {
        Some(Ok(packet)) => Ok(signature::parse(packet.body)?.issuer().key_id),
        _ => Err(Flaw::NotAPacket),
    }
}

fn stored_primary_key(snapshot: &dyn Snapshot, key_id: KeyId) -> Result<Option<Vec<u8>>> {
    let mut ids: Vec<CertId> = snapshot.keys_by_id(key_id)?.iter().map(|hit| hit.cert).collect();
    ids.truncate(MAX_ISSUER_CANDIDATES);
    let mut found = None;
    snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
        if record.fingerprint.key_id() != key_id {
            return ControlFlow::Continue(());
        }
        found = record.bytes.and_then(|bytes| primary_key(&bytes));
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Returns the packet that a certificate begins with; `None` if a damaged database holds no packet there.
fn primary_key(certificate: &[u8]) -> Option<Vec<u8>> {
    let packet = Packets::new(certificate).next()?.ok()?;
    Some(packet.span.of(certificate).to_vec())
}
