//! Removal of unusable parts of certificates: of certifications, those stay that verify under keys that are at hand.

pub use cert::compact::CompactOptions;

use cert::Timestamp;
use cert::certificate::Certificate;

use crate::Result;
use crate::certifications::{CertificationStatus, Checker};

/// Returns a certificate without its unusable parts, see [`cert::compact`]. `checker` decides which certifications are
/// good.
///
/// # Errors
///
/// The database's errors.
pub fn compact(
    certificate: &Certificate,
    checker: &mut Checker<'_>,
    options: &CompactOptions,
    now: Timestamp,
) -> Result<Certificate> {
    let statuses = checker.certificate(certificate)?;
    let is_good = |component, signature: usize| {
        matches!(statuses.of(component)[signature], CertificationStatus::Good(_))
    };
    Ok(cert::compact::compact(certificate, &is_good, options, now))
}
