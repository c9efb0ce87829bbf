//! Doctor: checks that the database agrees with the bytes of the certificates, and repairs it.

use std::path::Path;

use cert::Facts;
use cert::clean::rebuild_proven as read;
use rayon::prelude::*;
use serde::Serialize;
use store::doctor::StoredCertificate;

use crate::Result;
use crate::{database, secret_keys};

pub use crate::secret_keys::Problem;
pub use store::doctor::{Finding, Rebuilt};

/// An event for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoctorEvent {
    /// Something is wrong.
    Finding(Finding),
    /// Something is wrong among the secret keys beside the database.
    SecretKey(Problem),
    /// Progress, in certificates.
    Progress {
        /// Certificates so far.
        done: u64,
    },
}

/// The sums over an examination; as JSON they are described in `docs/json.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Certificates that were examined.
    pub certificates: u64,
    /// What is wrong.
    pub problems: u64,
    /// How many of those [`rebuild`] repairs.
    pub healable: u64,
}

/// Examines a database: SQLite's own structures; that no row is orphaned; that the bytes are those that were stored;
/// that all derived rows are as derived again from the bytes, with self-signatures verified again; and that the secret
/// keys beside the database belong to certificates.
///
/// # Errors
///
/// The database's errors, where it is so damaged that it cannot be examined.
pub fn examine(database: &Path, on_event: &mut dyn FnMut(DoctorEvent)) -> Result<Findings> {
    let store = database::open(database)?;
    let mut findings = Findings::default();
    let mut done = 0;
    let mut found = Vec::new();
    let mut derive_batch = |batch: &[StoredCertificate]| {
        done += batch.len() as u64;
        on_event(DoctorEvent::Progress { done });
        derive(batch)
    };
    store.check(&mut derive_batch, &mut |finding| found.push(finding))?;
    findings.certificates = done;
    for finding in found {
        findings.problems += 1;
        findings.healable += u64::from(finding.is_healed_by_rebuilding());
        on_event(DoctorEvent::Finding(finding));
    }
    let keys = secret_keys::beside(database);
    for trouble in secret_keys::examine(store.snapshot()?.as_ref(), &keys)? {
        findings.problems += u64::from(!matches!(trouble, Problem::Elsewhere { .. }));
        on_event(DoctorEvent::SecretKey(trouble));
    }
    Ok(findings)
}

/// Derives all rows from the bytes of the certificates again, in one transaction, and removes the rest of certificates
/// whose packets are lost, so that an import brings them back.
///
/// # Errors
///
/// [`store::Error::Underivable`] for a certificate whose bytes are damaged; the database's errors; then nothing was
/// changed.
pub fn rebuild(database: &Path, on_event: &mut dyn FnMut(DoctorEvent)) -> Result<Rebuilt> {
    let store = database::open(database)?;
    let mut done = 0;
    let mut derive_batch = |batch: &[StoredCertificate]| {
        done += batch.len() as u64;
        on_event(DoctorEvent::Progress { done });
        derive(batch)
    };
    Ok(store.rebuild(&mut derive_batch)?)
}

/// Derives facts from bytes, on all cores; or says why that cannot be done.
fn derive(batch: &[StoredCertificate]) -> Vec<std::result::Result<Facts, String>> {
    let derive_one = |kept: &StoredCertificate| match read(&kept.bytes, &kept.superseded, &kept.proven) {
        Ok(certificate) => Ok(certificate.facts),
        Err(error) => Err(format!("its packets are damaged: {error}")),
    };
    batch.par_iter().map(derive_one).collect()
}
