//! Certificates of a file.

use std::path::Path;

use cert::certificate::Certificate;

use super::{Failure, Result, packets};
use crate::keyring_file::KeyringFile;

/// Certificates, each primary key once, in their order.
#[derive(Clone, Debug)]
pub struct Certificates {
    pub(super) certificates: Vec<Certificate>,
}

impl Certificates {
    /// Reads certificates, with armor or without.
    ///
    /// # Errors
    ///
    /// [`BadData`](super::Kind::BadData) for anything else, secret keys too, and if there are none.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut certificates = Vec::new();
        for raw in packets::read(bytes)? {
            if !raw.secrets.is_empty() {
                return Err(Failure::bad_data("a secret key where certificates are expected"));
            }
            packets::join(&mut certificates, packets::certificate(&raw)?);
        }
        if certificates.is_empty() {
            return Err(Failure::bad_data("there is no certificate in it"));
        }
        Ok(Self { certificates })
    }

    /// Puts the certificates of several files together.
    pub fn joined(files: Vec<Self>) -> Self {
        let mut certificates = Vec::new();
        for certificate in files.into_iter().flat_map(|file| file.certificates) {
            packets::join(&mut certificates, certificate);
        }
        Self { certificates }
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
