//! Certificates of a file.

use std::path::Path;

use cert::certificate::Certificate;
use cert::split::RawCertificate;

use super::{Failure, Result, packets};
use crate::keyring_file::KeyringFile;

/// Certificates, each primary key once, in their order.
#[derive(Clone, Debug)]
pub struct Certificates {
    pub(super) certificates: Vec<Certificate>,
    /// Revocations of primary keys without their certificates.
    revocations: Vec<Vec<u8>>,
}

impl Certificates {
    /// Reads certificates, with armor or without.
    ///
    /// # Errors
    ///
    /// [`BadData`](super::Kind::BadData) for anything else, secret keys too, and if there are none.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        Self::of(packets::read_certificates(bytes)?, Vec::new())
    }

    /// Reads copies of certificates that are to be merged, and revocations without their certificates.
    ///
    /// # Errors
    ///
    /// Those of [`Certificates::read`].
    pub fn read_copies(bytes: &[u8]) -> Result<Self> {
        let packets::Read { certificates, revocations } = packets::read(bytes)?;
        Self::of(certificates, revocations)
    }

    fn of(raw: Vec<RawCertificate>, revocations: Vec<Vec<u8>>) -> Result<Self> {
        let mut certificates = Vec::new();
        for raw in raw {
            if !raw.secrets.is_empty() {
                return Err(Failure::bad_data("a secret key where certificates are expected"));
            }
            packets::join(&mut certificates, packets::certificate(&raw)?);
        }
        if certificates.is_empty() && revocations.is_empty() {
            return Err(Failure::bad_data("there is no certificate in it"));
        }
        Ok(Self { certificates, revocations })
    }

    /// Puts the certificates of several files together.
    pub fn joined(files: Vec<Self>) -> Self {
        let mut certificates = Vec::new();
        for certificate in files.into_iter().flat_map(|file| file.certificates) {
            packets::join(&mut certificates, certificate);
        }
        Self::from(certificates)
    }

    /// Adds what other copies of these certificates have.
    pub fn merge(&mut self, others: &Self) {
        self.certificates.iter_mut().for_each(|known| others.add_to(known));
    }

    /// Adds to a certificate what the copies of it among these have.
    pub(super) fn add_to(&self, known: &mut Certificate) {
        let primary = known.facts.primary().fingerprint;
        for copy in self.certificates.iter().filter(|one| one.facts.primary().fingerprint == primary) {
            packets::absorb(known, copy);
        }
        for revocation in &self.revocations {
            packets::absorb_revocation(known, revocation);
        }
    }

    /// Returns their packets.
    pub fn bytes(&self) -> Vec<u8> {
        self.certificates.iter().flat_map(|certificate| certificate.bytes.iter().copied()).collect()
    }

    /// Returns them as a keyring of this name.
    pub(super) fn keyring(&self, name: &Path) -> KeyringFile {
        KeyringFile::of(name, self.certificates.clone())
    }
}

impl From<Vec<Certificate>> for Certificates {
    fn from(certificates: Vec<Certificate>) -> Self {
        Self { certificates, revocations: Vec::new() }
    }
}
