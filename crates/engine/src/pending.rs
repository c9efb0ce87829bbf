//! Certificates that are not fully checked: possible revocations that were too many to verify at once.
//!
//! Verifying under some keys (DSA, RSA of more than 10,000 bits) takes so long that a flood of forged revocations
//! cannot be verified in one import. The certificate is not valid until later commands that write it, or check its
//! signatures, have verified the rest.

use cert::certificate::Certificate;
use cert::{Timestamp, clean};
use store::{CertId, Prepared, Put, ReadCertificates, Store};

use crate::designated_revocation::{is_flooded, without_forged};
use crate::{Result, stored};

/// Verifies unchecked possible revocations of these certificates, as many as one command may, and stores the verdicts.
///
/// Snapshots that were opened before do not show it. Nothing happens where the database cannot be written while it is
/// read.
///
/// # Errors
///
/// The database's errors.
pub(crate) fn continue_verification(
    store: &dyn Store,
    snapshot: &dyn ReadCertificates,
    pending: &[CertId],
    command: &str,
    now: Timestamp,
) -> Result<()> {
    if pending.is_empty() || !store.supports_concurrent_readers()? {
        return Ok(());
    }
    for &id in pending {
        let Some(stored) = stored::read_one(snapshot, id)? else { continue };
        let Some(further) = check_further(&stored.certificate, true, || Ok(None))? else { continue };
        let certificate = Prepared::new(further);
        let kind = stored.merged_with(Vec::new());
        let mut transaction = match store.begin(command, None, now) {
            Err(store::Error::Unwritable { .. } | store::Error::Locked { .. }) => return Ok(()),
            begun => begun?,
        };
        // Where somebody else has changed it meanwhile, the next command continues.
        transaction.put(&[Put { certificate: &certificate, kind, inputs: &[], origin: None }])?;
        transaction.finish_journal_if_changed()?;
        transaction.commit()?;
    }
    Ok(())
}

/// Verifies more of the possible revocations of a certificate; its own ones only if it was `known` before, since
/// cleaning has just verified as many as one command may. `None` if there is nothing to do.
///
/// `revokers` opens the database that designated revokers are looked up in.
pub(crate) fn check_further<'s>(
    certificate: &Certificate,
    known: bool,
    revokers: impl FnOnce() -> Result<Option<Box<dyn ReadCertificates + 's>>>,
) -> Result<Option<Certificate>> {
    let own = match known {
        true => clean::continue_verification(certificate).unwrap_or_default(),
        false => None,
    };
    let after_own = own.as_ref().unwrap_or(certificate);
    if !is_flooded(&after_own.facts) {
        return Ok(own);
    }
    let Some(snapshot) = revokers()? else { return Ok(own) };
    Ok(without_forged(after_own, &[snapshot.as_ref()])?.or(own))
}
